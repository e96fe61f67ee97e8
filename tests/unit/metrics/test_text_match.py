"""The exact-match family and word F1, case by case."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.text import normalise
from tests.unit.metrics.states import completion, correct, state

FAMILY = METRICS["exact_match"]
NAMES = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
)
OPTIONS = {"A": "yes", "B": "no", "C": "maybe"}
PUBMED = (*correct("yes"), Reference(text="no"), Reference(text="maybe"))


def family(answer, references, params=None, **changes):
    (row,) = FAMILY.fn([state(answer, references, **changes)], params or {})
    assert tuple(score.name for score in row) == NAMES
    return tuple(score.value for score in row)


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("yes", "yes", (1, 1, 1, 1)),
        ("yes", "  yes\n", (1, 1, 1, 1)),
        (" yes ", "yes", (1, 1, 1, 1)),
        ("yes", "Yes", (0, 1, 0, 1)),
        ("yes", "Yes.", (0, 1, 0, 1)),
        ("the answer", "An Answer!", (0, 1, 0, 1)),
        ("5 mg", "5  mg", (0, 1, 0, 1)),
        # The prediction must begin with the gold answer, not the other way round.
        ("yes", "yes, because", (0, 0, 1, 1)),
        ("yes, because", "yes", (0, 0, 0, 0)),
        ("yes", "Yes, because", (0, 0, 0, 1)),
        ("yes", "yesterday", (0, 0, 1, 1)),
        ("yes", "answer: yes", (0, 0, 0, 0)),
        # An empty prediction is wrong, even where the gold answer is empty.
        ("yes", "", (0, 0, 0, 0)),
        ("yes", "  \n", (0, 0, 0, 0)),
        ("", "", (0, 0, 0, 0)),
        # An empty gold answer is the beginning of everything.
        ("", "yes", (0, 0, 1, 1)),
        ("the", "a", (0, 1, 0, 1)),
        ("...", "yes", (0, 0, 0, 1)),
        ("5.0", "50", (0, 1, 0, 1)),
        ("naïve", "NAÏVE", (0, 1, 0, 1)),
        ("don’t", "don't", (0, 0, 0, 0)),
    ],
)
def test_definitions_on_free_text(gold, answer, expected):
    assert family(answer, correct(gold)) == expected


def test_best_over_correct_references_only():
    references = (*correct("hypertension", "high blood pressure"), Reference(text="fever"))
    assert family("High blood pressure", references) == (0, 1, 0, 1)
    assert family("hypertension", references) == (1, 1, 1, 1)
    assert family("fever", references) == (0, 0, 0, 0)
    # No single reference gives both, the maximum is taken for each stat on its own.
    assert family("a b", correct("A B", "a")) == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A", (1, 1, 1, 1)),
        (" A\n", (1, 1, 1, 1)),
        ("B", (0, 0, 0, 0)),
        ("a", (0, 0, 0, 0)),
        ("A.", (0, 0, 0, 0)),
        ("(A)", (0, 0, 0, 0)),
        ("yes", (0, 0, 0, 0)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_multiple_choice_looks_the_letter_up_as_it_stands(answer, expected):
    assert family(answer, PUBMED, output_mapping=OPTIONS) == expected


def test_empty_option_text_is_wrong_even_where_it_is_the_right_option():
    assert family("A", correct(""), output_mapping={"A": ""}) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("pattern", "answer", "value"),
    [
        (r"answer is ([A-C])\b", "So the answer is A.", 1),
        (r"(?<=answer is )[A-C]\b", "So the answer is A.", 1),
        (r"answer is (?:\((.)\)|(.))", "the answer is (A)", 1),
        (r"answer is (?:\((.)\)|(.))", "the answer is A", 1),
        (r"answer is ([A-C])\b", "So the answer is B.", 0),
        (r"answer is ([A-C])\b", "A", 0),
    ],
)
def test_output_mapping_pattern_cuts_the_letter_out(pattern, answer, value):
    params = {"output_mapping_pattern": pattern}
    assert family(answer, PUBMED, params, output_mapping=OPTIONS) == (value,) * 4


def test_output_mapping_pattern_is_not_for_free_text():
    assert family("x yes", correct("x yes"), {"output_mapping_pattern": "yes"}) == (1, 1, 1, 1)


def test_broken_pattern_is_refused_before_any_call():
    with pytest.raises(ConfigError, match=r"'\(\[A-C\]', which is no regular expression"):
        FAMILY.preflight({"output_mapping_pattern": "([A-C]"})


def test_likeliest_completion_is_read_and_the_first_where_no_probability_is_known():
    base = state("no", correct("yes"))
    likeliest = replace(base, completions=(completion("no", -2.0), completion("yes", -0.5)))
    unknown = replace(base, completions=(completion("no"), completion("yes")))
    rows = FAMILY.fn([likeliest, unknown], {})
    assert [row[0].value for row in rows] == [1, 0]


def test_no_answer_and_no_reference_have_no_value():
    rows = FAMILY.fn([state(None, correct("yes")), state("yes", [Reference(text="yes")])], {})
    assert {(s.value, s.status) for s in rows[0]} == {(None, ScoreStatus.NO_ANSWER)}
    assert {(s.value, s.status) for s in rows[1]} == {(None, ScoreStatus.NO_REFERENCE)}
    assert [s.name for s in rows[0]] == list(NAMES)


def test_order_of_a_batch_is_kept():
    answers = ["yes", "no", "", "Yes", None]
    rows = FAMILY.fn([state(answer, correct("yes")) for answer in answers], {})
    assert [row[0].value for row in rows] == [1, 0, 0, 0, None]
    assert [row[1].value for row in rows] == [1, 0, 0, 1, None]


def test_values_are_those_medhelm_wrote_on_real_answers(real_data: Path):
    runs = sorted((real_data / "helm_output_sample" / "runs").rglob("scenario_state.json"))
    states, expected = [], []
    for file in runs:
        stats = {
            row["instance_id"]: {s["name"]["name"]: s.get("mean") for s in row["stats"]}
            for row in json.loads(file.with_name("per_instance_stats.json").read_text("utf-8"))
            if any(s["name"]["name"] == "exact_match" for s in row["stats"])
        }
        for item in json.loads(file.read_text("utf-8"))["request_states"]:
            references = [
                Reference(text=reference["output"]["text"], tags=tuple(reference["tags"]))
                for reference in item["instance"]["references"]
            ]
            states.append(state(item["result"]["completions"][0]["text"], references))
            expected.append([stats[item["instance"]["id"]][name] for name in NAMES])
    assert len(states) == 120
    assert [[score.value for score in row] for row in FAMILY.fn(states, {})] == expected


def test_articles_kept():
    metric = METRICS["quasi_leave_articles_exact_match"]
    rows = metric.fn([state("The answer.", correct(g)) for g in ("the Answer", "answer")], {})
    assert [row[0].value for row in rows] == [1, 0]


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("fever and cough", "fever and cough", 1.0),
        ("fever cough", "fever", 2 / 3),  # precision 1, recall 1/2
        ("fever fever cough", "Cough, cough!", 2 / 3),  # sets: repeats do not count
        ("fever", "cough", 0.0),
        ("the", "a", 0.0),  # nothing left on either side
        ("fever", "the", 0.0),
        ("", "fever", 0.0),
        ("fever", "", 0.0),
        ("a b c d", "b c x", 4 / 6),  # the article goes: {b c d} against {b c x}
    ],
)
def test_f1_of_word_sets(gold, answer, expected):
    (row,) = METRICS["f1_score"].fn([state(answer, correct(gold))], {})
    assert row[0].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A the An", ""),
        ("a\tb\nc", "b c"),
        ("theory of a-fib", "theory of afib"),
        ("vitamin A", "vitamin"),
        ("a’b", "’b"),  # not ASCII: stays, and ends a word
        ("x\x00a\x00y", "x\x00 \x00y"),
        ("a\u00a0b", "b"),
        ("$5 {x} \\1", "5 x 1"),
        ("ÉCOLE", "école"),
        ("snake_case", "snakecase"),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


def plain(text):
    """The definition in four plain steps, with which the quick one is compared."""
    import re
    import string

    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@given(st.text(alphabet=st.sampled_from("aA ntheTHE.,-_'’é\n\t\x00\x1c\ud800$ß9"), max_size=25))
def test_normalise_equals_its_definition(text):
    assert normalise(text) == plain(text)
