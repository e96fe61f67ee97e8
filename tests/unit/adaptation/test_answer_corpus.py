"""The gate on reading answers: what may go wrong over all replies of the generated corpus.

`make answer-report` shows the same numbers, and the failures of the part `tune`.
"""

from collections import Counter, defaultdict
from functools import cache

import pytest

from benchmarks.answer_corpus import check, tune
from benchmarks.answer_corpus.generate import PARTS, fill
from benchmarks.answer_corpus.report import (
    METHODS,
    NONE_READ,
    RIGHT,
    UNREAD,
    WRONG,
    Measured,
    measure,
    outcome,
)
from benchmarks.answer_corpus.template import Question, Template, listed

MOST_WRONG = 0.01
MOST_POINTS_BETWEEN_CLASSES = 1.0
LEAST_JSON_LETTERS = 0.995


@cache
def measured(part: str) -> Measured:
    return measure(part)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("method", METHODS)
def test_hardly_ever_is_another_option_read(part: str, method: str) -> None:
    counts = measured(part).counts(lambda reply: reply.template.method == method)
    assert counts[WRONG] <= MOST_WRONG * counts.total(), counts


@pytest.mark.parametrize("part", PARTS)
def test_no_class_is_read_less_often_than_another_in_the_same_sentences(part: str) -> None:
    losses = measured(part).losses()
    spreads = {
        classes: max(by_class.values()) - min(by_class.values())
        for classes, by_class in losses.items()
    }
    assert max(spreads.values()) <= MOST_POINTS_BETWEEN_CLASSES, losses


@pytest.mark.parametrize("part", PARTS)
def test_no_answer_is_read_in_a_text_that_was_cut_before_it(part: str) -> None:
    assert measured(part).cut_read() == 0


@pytest.mark.parametrize("part", PARTS)
def test_a_letter_in_json_is_read_as_that_letter(part: str) -> None:
    right, letters = measured(part).json_letters()
    assert letters > 1_000
    assert right >= LEAST_JSON_LETTERS * letters, f"{right} of {letters}"


@pytest.mark.parametrize("part", PARTS)
def test_the_corpus_is_large_and_every_place_is_filled(part: str) -> None:
    texts = [reply.text for reply, _ in measured(part).rows]
    assert len(texts) >= 4_000
    assert not [text for text in texts if "‹" in text or "›" in text]


@pytest.mark.parametrize("part", PARTS)
def test_every_class_comes_equally_often(part: str) -> None:
    often: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for reply, _ in measured(part).rows:
        if reply.expected is not None:
            often[(reply.template.method, *reply.classes)][reply.chosen] += 1
    for (_, *classes), counts in often.items():
        assert set(counts) == set(classes)
        assert len(set(counts.values())) == 1, counts


def test_no_template_and_no_question_is_in_both_parts() -> None:
    def words(template: Template) -> str:
        return " ".join(f"{template.text} {template.right} {template.wrong}".split())

    assert not {words(t) for t in tune.TEMPLATES} & {words(t) for t in check.TEMPLATES}
    assert not {q.stem for q in tune.QUESTIONS} & {q.stem for q in check.QUESTIONS}


def test_both_parts_have_the_same_styles() -> None:
    assert {t.style for t in tune.TEMPLATES} == {t.style for t in check.TEMPLATES}


def test_a_template_is_filled_for_an_option() -> None:
    drugs = Question(
        kind="terms", stem="Which?", texts=("Aspirin", "E. coli", "Iron"), facts="Ill."
    )
    options = list(zip("ABC", drugs.texts, strict=True))

    def filled(text: str, at: int) -> str:
        (template,) = listed(
            "", text, right="‹L›: ‹t› fits", wrong="‹L›: ‹t› does not", kinds=frozenset()
        )
        return fill(template, drugs, options, at)

    assert (
        filled("‹facts› Not ‹L1› (‹t1›) but ‹l›, ‹T›.", 0) == "Ill. Not B (E. coli) but a, Aspirin."
    )
    assert filled("‹L› after ‹L1›; ‹others› are wrong", 2) == "C after A; A and B are wrong"
    assert filled("‹each›", 1) == "A: aspirin does not\nB: E. coli fits\nC: iron does not"
    assert filled("‹stem›\n‹options›", 1) == "Which?\nA. Aspirin\nB. E. coli\nC. Iron"


def test_outcomes() -> None:
    assert outcome("B", "B") == outcome(None, None) == RIGHT
    assert (outcome("B", "A"), outcome(None, "A"), outcome("B", None)) == (WRONG, NONE_READ, UNREAD)
