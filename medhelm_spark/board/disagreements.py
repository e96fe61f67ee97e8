"""The instances on which two runs have other values: where one model lost what the other had."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medhelm_spark.board.answer_list import run_metric_of
from medhelm_spark.board.measured import needed_stats
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import scores_of, side_by_side
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.lake.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An instance with the main metric's value of either run, of several trials their mean."""

    instance_id: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second


def disagreements(reader: Reader, first: BoardRun, second: BoardRun) -> list[Disagreement]:
    """The instances on which two runs of a scenario differ, where the first is worst before.

    Where the main metric is of the whole run the values are 1 for a right answer, else 0; there is
    no row where a metric of the whole run does not compare answers.
    """
    units = [run.run_spec.run_spec_id for run in (first, second)]
    needed = needed_stats(first, first.run_spec.main_metric)
    scores = scores_of(reader, units, needed, first.run_spec.main_split)
    ids, values = _values(first.run_spec, scores, units)
    ours, theirs = values
    differ = np.flatnonzero(~np.isnan(ours) & ~np.isnan(theirs) & (ours != theirs))
    rows = [
        Disagreement(instance_id=ids[index], first=float(ours[index]), second=float(theirs[index]))
        for index in differ
    ]
    is_lowest_best = first.info and first.info.lower_is_better and not run_metric_of(first.run_spec)
    sign = -1 if is_lowest_best else 1
    return sorted(rows, key=lambda row: (sign * row.difference, row.instance_id))


def _values(
    spec: RunSpec, scores: pa.Table, units: Sequence[str]
) -> tuple[list[str], NDArray[np.float64]]:
    """The ids of instances, and their values of shape (runs, instances)."""
    of_run = run_metric_of(spec)
    if of_run is None:
        aligned = side_by_side(scores, units, [spec.main_metric])
        return aligned.instances, aligned.values[:, :, 0]
    metric, params = of_run
    aligned = side_by_side(scores, units, metric.reads(params), by_trial=True)
    right = np.full(aligned.values.shape[:2], np.nan)
    if metric.is_right:
        for run, rows in enumerate(aligned.values):
            is_known = ~np.isnan(rows).any(axis=1)
            right[run, is_known] = metric.is_right(rows[is_known])
    return _by_instance(aligned.instances, right)


def _by_instance(
    trials: Sequence[str], values: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64]]:
    """The mean over the trials of each instance; `trials` are named as `side_by_side` does."""
    ids, inverse = np.unique([name.rsplit("/", 2)[0] for name in trials], return_inverse=True)
    counts = np.stack([np.bincount(inverse, ~np.isnan(row), len(ids)) for row in values])
    sums = np.stack([np.bincount(inverse, np.nan_to_num(row), len(ids)) for row in values])
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return [str(name) for name in ids], means
