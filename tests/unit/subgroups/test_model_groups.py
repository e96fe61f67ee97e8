"""Numbers of groups as they are read from `stats_by_group`."""

from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.evaluation import Evaluation
from medhelm_spark.subgroups.tables import GroupStat
from tests.unit.board.planted import append
from tests.unit.candidate_gate.planted import OLD, SUITES, Answered, alternating, plant, unit

MEANS = {"over 65": 0.83, "18 to 65": 0.865, "under 18": 0.893}
"""Sensitivities, in another order than that of a table."""


def _row(name: str, value: str, mean: float) -> GroupStat:
    return GroupStat(
        run_spec_id=unit(OLD),
        name=name,
        split="test",
        group_column="age",
        group_value=value,
        access_level=AccessLevel.PUBLIC,
        minimum=1,
        is_hidden=False,
        count=60,
        num_patients=60,
        denominator=60,
        mean=mean,
        ci_low=mean - 0.12,
        ci_high=mean + 0.07,
        ci_method=IntervalMethod.WILSON,
    )


def test_a_gap_of_the_sensitivity_is_one_number_beside_another_metric_and_by_itself(
    tmp_path: Path,
) -> None:
    labels = alternating(60)
    lake = plant(tmp_path / "lake", Answered(right=labels, old=labels, new=labels))
    rows = [
        _row(name, value, mean)
        for name in ("exact_match", "sensitivity")
        for value, mean in MEANS.items()
    ]
    append(lake, "stats_by_group", rows, f"w-{unit(OLD)}")
    scores = Evaluation(str(lake)).subgroups.scores
    alone = next(iter(scores(SUITES[OLD], metric="sensitivity").rows()))
    beside = next(iter(scores(SUITES[OLD]).rows()))
    ends = beside["opportunity_low"], beside["opportunity_high"]
    assert ends == (alone["gap_low"], alone["gap_high"])
    assert beside["opportunity_gap"] == alone["gap"] == pytest.approx(0.063)
