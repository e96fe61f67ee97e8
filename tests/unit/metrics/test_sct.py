"""SCT score: ratings read by both rules, and the experts' weights by hand."""

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import state

SCT = METRICS["sct"]
# Of ten experts one says -2, two say -1, four say 0, three say +1 and none says +2.
PANEL = {"expert_distribution": "[0.1, 0.2, 0.4, 0.3, 0]"}
NAMES = [
    "sct_score",
    "sct_expert_set_membership",
    "sct_score@medhelm-0.8",
    "sct_expert_set_membership@medhelm-0.8",
]


def scores(answer, extra=PANEL):
    (row,) = SCT.fn([state(answer, extra_data=extra)], {})
    assert [score.name for score in row] == NAMES
    return tuple(score.value for score in row)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Rating: 0", (1, 1, 1, 1)),
        ("Rating: +1", (0.75, 1, 0.75, 1)),
        ("Rating: -1", (0.5, 1, 0.5, 1)),
        ("Rating: -2 because the lactate is high.", (0.25, 1, 0.25, 1)),
        ("Rating: +2", (0, 0, 0, 0)),
        ("Rating: +1, 0", (0.75, 1, 0, 0)),
        # MedHELM reads neither an unsigned 1 or 2 nor anything but `Rating: ` before the number.
        ("Rating: 1", (0.75, 1, 0, 0)),
        ("**Rating:** +1", (0.75, 1, 0, 0)),
        ("rating: -1", (0.5, 1, 0, 0)),
        ("Rating:-1", (0.5, 1, 0, 0)),
        ("My rating is −1.", (0.5, 1, 0, 0)),
        ("Rating: (+1)", (0.75, 1, 0.75, 1)),
        ("+1", (0.75, 1, 0, 0)),
        (" -1. ", (0.5, 1, 0, 0)),
        ("**0**", (1, 1, 0, 0)),
        # MedHELM finds the 0 of 10 and of 2.0, and one number in two.
        ("Rating: 10", (0, 0, 1, 1)),
        ("Rating: 1.5", (0, 0, 0, 0)),
        ("Rating: 3", (0, 0, 0, 0)),
        ("Rating: 0-1", (1, 1, 0, 0)),
        ("Rating: 0 0", (1, 1, 1, 1)),
        # The scale that the question states is no rating.
        ("Rating (-2 to +2): +1", (0.75, 1, 0, 0)),
        ("**Rating [\u22122, +2]:** 0", (1, 1, 0, 0)),
        ("Rating (-2 ... 2) is -1", (0.5, 1, 0, 0)),
        ("Rating: -2 to +2", (0, 0, 0.25, 1)),
        ("Rating: -2, for +2 would be wrong", (0.25, 1, 0.25, 1)),
        ("Rating (-2)", (0.25, 1, 0, 0)),
        ("I cannot say.", (0, 0, 0, 0)),
        ("0 or 1", (0, 0, 0, 0)),
        ("", (0, 0, 0, 0)),
        ("operating 1", (0, 0, 0, 0)),
    ],
)
def test_both_rules(answer, expected):
    assert scores(answer) == pytest.approx(expected)


def test_weights_need_no_norm():
    votes = {"expert_distribution": "[0, 1, 5, 4, 0.0]"}
    assert scores("Rating: +1", votes)[:2] == (0.8, 1)
    assert scores("Rating: -2", votes)[:2] == (0, 0)


@pytest.mark.parametrize(
    "listed", ["[1, 2, 3]", "[a, b, c, d, e]", "[0, 0, NaN, 1, 0]", "[-1,0,0,0,1]", "5", ""]
)
def test_no_value_without_five_usable_weights(listed):
    (row,) = SCT.fn([state("Rating: 0", extra_data={"expert_distribution": listed})], {})
    assert {(score.value, score.status) for score in row} == {(None, ScoreStatus.NO_REFERENCE)}


def test_a_panel_without_votes_is_no_reference_and_0_to_medhelm():
    assert scores("Rating: 0", {"expert_distribution": "[0,0,0,0,0]"}) == (None, None, 0, 0)


def test_a_long_answer_is_judged_in_no_time():
    assert scores("rating " * 20_000 + "rating" + " " * 20_000 + ":" * 20_000)[0] == 0
