"""ROUGE: hand-computed values, equality with the rouge-score package and NLTK's stemmer."""

import csv
import re
import tracemalloc
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS, rouge as rouge_module
from medhelm_spark.metrics.porter import stem
from tests.unit.metrics.states import correct, state

ROUGE = METRICS["rouge"]
TYPES = ("rouge1", "rouge2", "rougeL")


NAMES = ["rouge_1", "rouge_2", "rouge_l"]


def rouge(answer, *references, suffix=""):
    (row,) = ROUGE.fn([state(answer, correct(*references))], {})
    values = {score.name: score.value for score in row}
    assert list(values) == [*NAMES, *(f"{name}@medhelm-0.8" for name in NAMES)]
    return [values[name + suffix] for name in NAMES]


def by_medhelm(answer, *references):
    return rouge(answer, *references, suffix="@medhelm-0.8")


@pytest.fixture(scope="module")
def package():
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(TYPES), use_stemmer=True)

    def score(reference, prediction):
        expected = scorer.score(reference, prediction)
        return [expected[kind].fmeasure for kind in TYPES]

    return score


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        # 2 of 3 tokens on either side, no pair in common, subsequence "the cat".
        ("the black cat", "the white cat", [2 / 3, 0, 2 / 3]),
        # P 2/2, R 2/4; pairs P 0/1; subsequence of length 1 as the order differs.
        ("fever cough rash pain", "rash fever", [2 * 2 / 6, 0, 2 * 1 / 6]),
        ("fever and cough", "fever and cough", [1, 1, 1]),
        # Stemmed, lower-cased, cut at everything but a-z and 0-9.
        ("Patients were running", "PATIENT, were-run", [1, 1, 1]),
        # Repeats count as often as both have them.
        ("no no no", "no", [2 * 1 / 4, 0, 2 * 1 / 4]),
        ("fever", "", [0, 0, 0]),
        ("", "fever", [0, 0, 0]),
        ("...", "!!!", [0, 0, 0]),
        ("发烧", "发烧", [1, 1, 1]),
        # Letters of a script that parts no words: 1 of 2, 0 of 1.
        ("发烧", "发炎", [1 / 2, 0, 1 / 2]),
        ("体温38.5度", "体温38.5度", [1, 1, 1]),
        # 2 of 4 words, one pair of 3, in order.
        ("у пациента высокая температура", "у пациента нет сыпи", [1 / 2, 1 / 3, 1 / 2]),
        ("Ärzte", "A\u0308rzte", [1, 0, 1]),
        ("मरीज़ को बुखार है", "मरीज़ को बुखार है", [1, 1, 1]),
        ("ไข้สูง", "ไข้สูง", [1, 1, 1]),
        ("l'œdème pulmonaire", "un œdème pulmonaires", [2 / 3, 2 / 4, 2 / 3]),
        ("{fever}", "fever}", [1, 0, 1]),
    ],
)
def test_by_hand(reference, answer, expected):
    assert rouge(answer, reference) == pytest.approx(expected, abs=1e-12)


def test_best_over_all_references_each_value_on_its_own():
    values = rouge("a b c", "c b a", "a b")
    assert values == pytest.approx([1, 2 * 1 / 3, 2 * 2 / 5])
    incorrect = Reference(text="fever")
    (row,) = ROUGE.fn([state("fever", [*correct("cough"), incorrect])], {})
    assert row[0].value == 1


def test_no_answer_and_no_reference_have_no_value_but_an_empty_answer_has():
    rows = ROUGE.fn([state(None, correct("x")), state("x"), state("", correct("x"))], {})
    assert [row[2].value for row in rows] == [None, None, 0]
    assert {len(row) for row in rows} == {6}
    assert [row[2].status for row in rows] == [
        ScoreStatus.NO_ANSWER,
        ScoreStatus.NO_REFERENCE,
        ScoreStatus.OK,
    ]


def test_two_texts_that_share_a_number_alone_are_not_the_same():
    """MedHELM's tokens of both are the number."""
    pair = ("давление 120", "температура 120")
    assert rouge(*pair) == [1 / 2, 0, 1 / 2]
    assert by_medhelm(*pair) == [1, 0, 1]


ORDER = Random(1).sample(range(30_000), 30_000)
TEXT = "fever fevers coughing cough no of 12 mg/dl Ärzte relational"
words = st.sampled_from(TEXT.split())


@settings(max_examples=60)
@given(st.lists(words, max_size=30), st.lists(words, max_size=30))
def test_equals_the_package_on_any_words(package, left, right):
    reference, answer = " ".join(left), " ".join(right)
    assert by_medhelm(answer, reference) == pytest.approx(package(reference, answer), abs=1e-9)
    if "Ärzte" not in answer + reference:
        assert rouge(answer, reference) == by_medhelm(answer, reference)


@settings(max_examples=60, deadline=None)
@given(st.lists(words, max_size=40), st.lists(words, max_size=40), st.integers(1, 9))
def test_blocks_of_any_size_give_the_same_length(left, right, size):
    whole = rouge_module._lcs_length(left, right)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rouge_module, "_BLOCK", size)
        assert rouge_module._lcs_length(left, right) == whole


@pytest.mark.attack("inputs", "an answer and a reference of 30,000 different words each, to ROUGE")
def test_memory_grows_with_the_texts_and_not_with_their_product():
    answer, reference = (" ".join(f"w{n}" for n in order) for order in (ORDER, sorted(ORDER)))
    tracemalloc.start()
    try:
        assert rouge(answer, reference)[0] == 1
        assert tracemalloc.get_traced_memory()[1] < 60 << 20  # 180 MB where positions are not cut
    finally:
        tracemalloc.stop()


def clinical_notes(real_data: Path) -> list[tuple[str, str]]:
    """(reference, prediction) of four models on the three aci_bench test sets."""
    pairs = []
    for file in sorted((real_data / "aci_bench" / "predictions").glob("*.csv")):
        with file.open(encoding="utf-8-sig", newline="") as lines:
            pairs += [(row["Reference Summaries"], row["note"]) for row in csv.DictReader(lines)]
    return pairs


def test_equals_the_package_on_real_clinical_notes(package, real_data: Path):
    pairs = clinical_notes(real_data)
    assert len(pairs) == 480
    chosen = pairs[::16]
    rows = ROUGE.fn([state(answer, correct(reference)) for reference, answer in chosen], {})
    for row, (reference, answer) in zip(rows, chosen, strict=True):
        theirs = pytest.approx(package(reference, answer), abs=1e-9)
        assert [score.value for score in row[3:]] == theirs
        if (reference + answer).isascii():
            assert [score.value for score in row[:3]] == theirs


def test_stems_equal_nltk_on_all_words_of_real_clinical_notes(real_data: Path):
    from nltk.stem.porter import PorterStemmer

    theirs = PorterStemmer().stem
    texts = " ".join(text for pair in clinical_notes(real_data) for text in pair)
    words = set(re.findall("[a-z0-9]+", texts.lower()))
    assert len(words) > 5000
    assert [word for word in words if stem(word) != theirs(word)] == []


ENDINGS = """
ational tional enci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness
aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance er able ement ment ent
ion sion ou ism ate iti ous ive ize ed ing eed ied ies sses ss s y e ll at bl iz tt x w o a rel sky
"""
pieces = st.sampled_from(ENDINGS.split())


@settings(max_examples=300)
@given(st.lists(pieces, min_size=1, max_size=5))
def test_stems_equal_nltk_on_made_words(parts):
    from nltk.stem.porter import PorterStemmer

    word = "".join(parts)
    assert stem(word) == PorterStemmer().stem(word)
