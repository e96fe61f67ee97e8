"""Coverage, density, compression and copied share: by hand, and against the paper's own scan."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.extractive import fragments
from medhelm_spark.metrics.text import words
from tests.unit.metrics.states import state

NOTE = "The patient has a cough. She denies fever, chills and chest pain."  # 15 words and marks


def scores(metric, source, answer):
    (row,) = METRICS[metric].fn([replace(state(answer), input=source)], {})
    return {score.name: score.value for score in row}


def paper_scan(source, answer):
    """The procedure of Grusky et al., figure 2, step by step."""
    lengths, i = [], 0
    while i < len(answer):
        best, j = 0, 0
        while j < len(source):
            if answer[i] != source[j]:
                j += 1
                continue
            i_end, j_end = i, j
            while i_end < len(answer) and j_end < len(source) and answer[i_end] == source[j_end]:
                i_end, j_end = i_end + 1, j_end + 1
            best, j = max(best, i_end - i), j_end
        if best:
            lengths.append(best)
        i += max(best, 1)
    return lengths


def test_by_hand():
    # fragments: "the patient has a cough" 5, "fever" 1, "." 1; "or" is new: 7 of 8 words.
    result = scores("summarization", NOTE, "The patient has a cough or fever.")
    assert result["summarization_coverage"] == pytest.approx(7 / 8)
    assert result["summarization_density"] == pytest.approx((25 + 1 + 1) / 8)
    assert result["summarization_compression"] == pytest.approx(15 / 8)


def test_case_and_one_outer_brace_do_not_matter():
    plain = scores("summarization", NOTE, "she denies FEVER")
    assert plain["summarization_coverage"] == 1.0
    assert plain["summarization_density"] == 3.0
    assert scores("summarization", "{" + NOTE + "}", "{she denies FEVER}") == plain


def test_nothing_shared_and_nothing_said():
    assert scores("summarization", NOTE, "unremarkable")["summarization_coverage"] == 0.0
    assert scores("summarization", NOTE, "") == {
        "summarization_coverage": 0.0,
        "summarization_density": 0.0,
        "summarization_compression": None,
    }


def test_copied_share_by_hand():
    # runs of four: "she denies fever ," and "denies fever , chills" are copied, 3 others are not.
    result = scores("copied_share", NOTE, "She denies fever, chills or night sweats")
    assert result == {"copied_share": pytest.approx(2 / 5)}
    assert scores("copied_share", NOTE, NOTE) == {"copied_share": 1.0}


def test_fewer_than_four_words_copy_nothing_that_can_be_told():
    (row,) = METRICS["copied_share"].fn([replace(state("chest pain"), input=NOTE)], {})
    assert [score.status for score in row] == [ScoreStatus.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BP 120/80, temp 37.5.", ["BP", "120/80", ",", "temp", "37.5", "."]),
        ("10mg b.i.d.", ["10", "mg", "b", ".", "i", ".", "d", "."]),
        ("patient's follow-up", ["patient", "'s", "follow", "-", "up"]),
        ("  \n\n ", []),
        ("na\u00efve \u5fc3\u810f", ["na\u00efve", "\u5fc3\u810f"]),
        # Signs that belong to a letter: Hindi's vowels, Arabic's, an accent by itself, a joiner.
        ("\u0909\u091a\u094d\u091a BP, 5mg", ["\u0909\u091a\u094d\u091a", "BP", ",", "5", "mg"]),
        ("\u0645\u064f\u0639\u064e", ["\u0645\u064f\u0639\u064e"]),
        ("cafe\u0301's", ["cafe\u0301", "'s"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u06cc\u200c\u062e\u0648"]),
        ("na\u00efve\x1cx \u2019s", ["na\u00efve", "x", "\u2019", "s"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


SOME = st.lists(st.sampled_from("abc"), max_size=16)


@given(SOME, SOME)
def test_fragments_are_those_of_the_paper(source, answer):
    assert list(fragments(source, answer)) == paper_scan(source, answer)


def test_a_run_within_a_tried_run_is_passed_over_as_in_the_paper():
    # At "x x y" the scan tries "x x" first and goes on behind it, so it never sees "x x y".
    assert list(fragments(["x", "x", "x", "y"], ["x", "x", "y"])) == [2, 1]
