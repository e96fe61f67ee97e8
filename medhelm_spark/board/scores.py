"""Scores of several runs on the same instances, put side by side as arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.queries import stat_column
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of

ASKED_AS = ("train_trial_index", "trial_index")
ORDER = ("instance_id", *ASKED_AS)


ROWS_AT_ONCE = 200_000
"""Rows of `per_instance_stats` read together: one column of the board at least."""

_SCORES = """
SELECT run_spec_id, instance_id, train_trial_index, trial_index, split, cluster_id, stats
FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units})
"""
_Column = TypeVar("_Column")


def scores_of(reader: Reader, run_spec_ids: Sequence[str], split: str | None = None) -> pa.Table:
    """The scores of these runs on instances as they are, of one split or of all.

    The column `run_spec_id` is a dictionary: the rows of a few runs are found by its integers.
    """
    scores = reader.query(
        _SCORES.format(scores=output_of("per_instance_stats", SCORE), units=literals(run_spec_ids))
    )
    runs = scores["run_spec_id"].combine_chunks().dictionary_encode()
    scores = scores.set_column(0, "run_spec_id", runs)
    return scores if split is None else scores.filter(pc.equal(scores["split"], split))


def own_scores(scores: pa.Table, run_spec_ids: Sequence[str], split: str) -> pa.Table:
    """The rows of these runs and this split, of scores as `scores_of` reads them."""
    runs = scores["run_spec_id"].combine_chunks()
    is_named = pc.is_in(runs.dictionary, pa.array(run_spec_ids)).to_numpy(zero_copy_only=False)
    rows = scores.filter(pa.array(is_named[runs.indices.to_numpy()]))
    return rows.filter(pc.equal(rows["split"], split))


def in_batches(
    columns: Iterable[_Column], size_of: Callable[[_Column], int]
) -> Iterator[list[_Column]]:
    """The columns, as many at a time as ROWS_AT_ONCE allows, `size_of` each in rows."""
    batch: list[_Column] = []
    rows = 0
    for column in columns:
        size = size_of(column)
        if batch and rows + size > ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
        batch.append(column)
        rows += size
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Values of runs by instance, of shape (runs, instances, stats); NaN where there is none.

    `instances` are the ids, each with its trials where these are taken for themselves; they are in
    the order of the ids, whatever the order of the rows is. `units` name by instance what is drawn
    together: its cluster, or the instance itself where nobody names a cluster of it.
    `is_clustered`: some instance has a cluster.
    """

    values: NDArray[np.float64]
    instances: list[str]
    units: list[str]
    is_clustered: bool

    @property
    def labels(self) -> NDArray[np.int64]:
        """The number of each instance's unit, shape (instances,)."""
        return np.unique(np.array(self.units), return_inverse=True)[1].astype(np.int64)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """The same, None where nothing is clustered."""
        return self.labels if self.is_clustered else None


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
    instance, run = _rank(scores["instance_id"]), _rank(scores["run_spec_id"])
    asked = [scores[name].to_numpy() for name in ASKED_AS]
    order = np.lexsort((run, *reversed(asked), instance))
    scores = scores.take(pa.array(order))
    parts = [instance, *asked] if by_trial else [instance]
    is_new = np.any([np.diff(part[order], prepend=-1) != 0 for part in parts], axis=0)
    scores = scores.append_column("place", pa.array(np.cumsum(is_new) - 1))
    firsts = scores.filter(pa.array(is_new))
    instances = firsts["instance_id"].combine_chunks()
    if by_trial:
        trials = (firsts[name].combine_chunks().cast(pa.string()) for name in ASKED_AS)
        instances = pc.binary_join_element_wise(instances, *trials, "/")
    runs = pa.array(run_spec_ids)
    shape = (len(run_spec_ids), len(instances))
    values = np.stack([_column(scores, runs, name, shape) for name in names], axis=2)
    units = _units(scores, len(instances))
    is_clustered = scores["cluster_id"].null_count < len(scores)
    return SideBySide(values, instances.to_pylist(), units, is_clustered)


def _rank(texts: pa.ChunkedArray) -> NDArray[np.int64]:
    """The place of each text among all in order: integers sort in a fraction of a text's time."""
    encoded = texts.combine_chunks().dictionary_encode()
    places = np.empty(len(encoded.dictionary), np.int64)
    places[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(places))
    ranks: NDArray[np.int64] = places[encoded.indices.to_numpy()]
    return ranks


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


def _units(scores: pa.Table, instances: int) -> list[str]:
    """The unit of each instance."""
    units = np.empty(instances, object)
    units[scores["place"].to_numpy()] = scores["instance_id"].to_numpy()
    # An older run of the same data may not know the clusters: what one run knows holds for all.
    clustered = scores.filter(pc.is_valid(scores["cluster_id"]))
    units[clustered["place"].to_numpy()] = clustered["cluster_id"].to_numpy()
    return units.tolist()
