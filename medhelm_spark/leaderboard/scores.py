"""Scores of several runs on the same instances, put side by side as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.leaderboard.queries import stat_column

ASKED_AS = ("train_trial_index", "trial_index")
ORDER = ("instance_id", *ASKED_AS)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Values of runs by instance, of shape (runs, instances, stats); NaN where there is none.

    `clusters` are labels of shape (instances,), None where nothing is clustered; `instances` are
    the ids, each with its trials where these are taken for themselves. Instances are in the order
    of their ids, whatever the order of the rows is.
    """

    values: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    instances: list[str]

    @property
    def first_trials(self) -> NDArray[np.int64]:
        """Labels that trials of one instance share, where they are taken for themselves."""
        ids = [name.rsplit("/", len(ASKED_AS))[0] for name in self.instances]
        return np.unique(np.array(ids), return_inverse=True)[1].astype(np.int64)


def side_by_side(
    scores: pa.Table, run_spec_ids: Sequence[str], names: Sequence[str], *, by_trial: bool = False
) -> SideBySide:
    """The values of these stats by run and instance, of several trials their mean.

    Args:
        scores: rows of `per_instance_stats` of one split, without perturbed copies.
        run_spec_ids: the runs, in the order of the first axis.
        names: the stats, in the order of the last axis.
        by_trial: take each trial of an instance for itself.
    """
    # Sums of floats depend on their order, and a lake keeps none.
    scores = scores.sort_by([(name, "ascending") for name in (*ORDER, "run_spec_id")])
    keys = scores["instance_id"].combine_chunks()
    if by_trial:
        parts = (scores[name].combine_chunks().cast(pa.string()) for name in ASKED_AS)
        keys = pc.binary_join_element_wise(keys, *parts, "/")
    known = pc.unique(keys)
    scores = scores.append_column("place", pc.index_in(keys, known))
    runs = pa.array(run_spec_ids)
    shape = (len(run_spec_ids), len(known))
    values = np.stack([_column(scores, runs, name, shape) for name in names], axis=2)
    return SideBySide(values, _clusters(scores, len(known)), known.to_pylist())


def _column(
    scores: pa.Table, runs: pa.Array, name: str, shape: tuple[int, int]
) -> NDArray[np.float64]:
    rows = stat_column(scores, name)
    rows = rows.filter(pc.is_valid(rows["value"]))
    run = pc.index_in(rows["run_spec_id"].combine_chunks(), runs).to_numpy(zero_copy_only=False)
    place = run.astype(np.int64) * shape[1] + rows["place"].to_numpy()
    size = shape[0] * shape[1]
    counts = np.bincount(place, minlength=size)
    sums = np.bincount(place, weights=rows["value"].to_numpy(), minlength=size)
    means: NDArray[np.float64] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means.reshape(shape)


def _clusters(scores: pa.Table, instances: int) -> NDArray[np.int64] | None:
    clustered = scores.filter(pc.is_valid(scores["cluster_id"]))
    if not len(clustered):
        return None
    # An older run of the same data may not know the clusters: what one run knows holds for all.
    labels = clustered["cluster_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    clusters = -1 - np.arange(instances)  # an instance that nobody names a cluster of is alone
    clusters[clustered["place"].to_numpy()] = labels
    return clusters
