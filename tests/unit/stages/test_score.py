"""Scores as they are stored: what a metric gives that is no value on its scale is none."""

import dataclasses
import math

import pytest

from medhelm_spark.domain.helm_results import STORED, STORED_STAT
from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.stages.score.stage import accepted, score_batch
from tests.unit.stages.test_read_answers import SPEC, state

SHARE = MetricInfo(name="s", display_name="S")
OPEN = MetricInfo(name="s", display_name="S", minimum=None, maximum=0.0)
POINTS = MetricInfo(name="s", display_name="S", clips_mean=True)
NONE = (None, ScoreStatus.INVALID)


@pytest.mark.parametrize(
    ("scale", "value", "stored"),
    [
        (SHARE, 1.0, (1.0, ScoreStatus.OK)),
        (SHARE, 1 + 1e-12, (1.0, ScoreStatus.OK)),
        (SHARE, -1e-12, (0.0, ScoreStatus.OK)),
        (SHARE, 5.0, NONE),
        (SHARE, 1 + 1e-6, NONE),
        (SHARE, math.nan, NONE),
        (OPEN, -1e300, (-1e300, ScoreStatus.OK)),
        (OPEN, 0.5, NONE),
        (OPEN, -math.inf, NONE),
        (POINTS, -0.4, (-0.4, ScoreStatus.OK)),
        (POINTS, math.inf, NONE),
    ],
)
def test_a_value_off_its_scale_is_unscored(
    scale: MetricInfo, value: float, stored: tuple[float | None, ScoreStatus]
) -> None:
    score = accepted(Score(name="s", value=value), {"s": scale})
    assert (score.value, score.status) == stored


def test_an_absent_score_keeps_its_cause() -> None:
    score = Score(name="s", value=None, status=ScoreStatus.NO_VERDICT)
    assert accepted(score, {"s": SHARE}) is score


def imported(value: float, **more: str) -> tuple[float | None, ScoreStatus]:
    """What is stored of a value that came with an answer, on a scale of 1 to 5."""
    args = {STORED_STAT: "helpful", "minimum": "1", "maximum": "5", **more}
    spec = dataclasses.replace(SPEC, metrics=(MetricSpec(name=STORED, args=args),))
    one: RequestState = dataclasses.replace(
        state("A"), stored=(Score(name="helpful", value=value),)
    )
    (row,) = score_batch(spec, [one])
    score = next(stat for stat in row.stats if stat.name.startswith("helpful"))
    return score.value, score.status


def test_imported_values_are_checked_too() -> None:
    assert imported(5.0) == (5.0, ScoreStatus.OK)
    assert imported(50.0) == NONE


def test_a_jury_of_medhelms_that_gave_no_verdict_counts_as_medhelm_counts_it() -> None:
    assert imported(0.0, jury="f00ba100") == (0.0, ScoreStatus.OK)
