"""Which groups two models are compared in: those with enough patients behind the comparison."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from medhelm_spark.board.measured import InstanceStat, RunStat
from medhelm_spark.domain.stats import SHARE
from medhelm_spark.metrics import RUN_METRICS
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.subgroups.pairs import GroupPair, pairs_of

PAIR = BoardPair(
    scenario_name="letters",
    display_name="Letters",
    main_metric="main",
    first="team/new",
    second="team/old",
    difference=PairedDifference(n=40, num_dropped=0),
    lower_is_better=False,
    run_spec_ids=("new", "old"),
)
IDS = [f"i{number}" for number in range(80)]
SITES = {"site": {name: "north" if number < 40 else "south" for number, name in enumerate(IDS)}}
OWN = list(range(80))
"""Every instance is of a patient of its own."""


def by_group(stat: InstanceStat | RunStat) -> Mapping[str, GroupPair]:
    return {row.group_value: row for row in pairs_of(stat, [PAIR], ("new", "old"), SITES, 11)}


def of_whole_runs(name: str, is_positive: Sequence[bool], patients: Sequence[int]) -> RunStat:
    """Two models that answer every letter as urgent, and are right where it is."""
    metric, params = (
        RUN_METRICS["diagnostic_accuracy"],
        {"labels": "urgent|routine", "positive": "urgent"},
    )
    stats = metric.emitted(params)
    index = [stat.name for stat in stats].index(name)
    right = np.where(is_positive, 1.0, 2.0)
    rows = np.stack([np.stack([right, np.where(np.arange(80) % 4, right, 3 - right)], 1)] * 2)
    rows[1, ::3, 1] = 1.0
    units = pa.array([f"p{number}" for number in patients]).dictionary_encode()
    labels = np.array(patients, np.int64)
    return RunStat(metric, params, index, rows, labels, stats[index], units, pa.array(IDS))


def positives(north: int, south: int) -> list[bool]:
    return [number < north or 40 <= number < 40 + south for number in range(80)]


def test_positive_answers_of_few_patients_hide_a_group_whatever_the_main_metric() -> None:
    one_patient = [0 if number < 13 else number for number in range(80)]
    for metric in ("sensitivity", "ppv", "balanced_accuracy"):
        few = of_whole_runs(metric, positives(13, 20), one_patient)
        assert all(row.is_hidden for row in by_group(few).values()), metric
        enough = of_whole_runs(metric, positives(13, 20), OWN)
        assert not any(row.is_hidden for row in by_group(enough).values()), metric


def test_scores_of_a_group_are_shown_where_enough_patients_lack_one() -> None:
    """Of twelve answers that one model lacks: the means over all would give these away."""

    def stat(patients: Sequence[int]) -> InstanceStat:
        values = np.stack([np.tile([1.0, 0.0], 40), np.tile([1.0, 1.0], 40)])
        values[0, :12] = np.nan
        units = pa.array([f"p{number}" for number in patients]).dictionary_encode()
        return InstanceStat(values, np.array(patients), SHARE, units, pa.array(IDS))

    of_one = by_group(stat([0 if number < 12 else number for number in range(80)]))
    assert of_one["north"].first_mean is of_one["north"].second_mean is None
    assert of_one["south"].first_mean == 0.5
    assert by_group(stat(OWN))["north"].first_mean == 0.5
