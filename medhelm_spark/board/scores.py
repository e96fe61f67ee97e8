"""Scores of several runs on the same instances, put side by side as arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.domain.stages import SCORE
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of

TRIALS = ("train_trial_index", "trial_index")
ORDER = ("instance_id", *TRIALS)


TEXTS = frozenset({"run_spec_id", "instance_id", "split", "cluster_id"})
"""The columns that `scores_of` makes dictionaries of."""

_FEW = frozenset({"run_spec_id", "split"})
"""Those with so few texts that two bytes number them: a query names each run."""

ROWS_AT_ONCE = 200_000
"""Rows of `per_instance_stats` read together: one column of the board at least."""

_SCORES = """
SELECT run_spec_id, instance_id, train_trial_index, trial_index, split, cluster_id, stats
FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units})
"""
_Column = TypeVar("_Column")


def scores_of(
    reader: Reader,
    run_spec_ids: Sequence[str],
    names: Iterable[str],
    split: str | None = None,
) -> pa.Table:
    """The scores of these runs on instances as they are, a row for each answer.

    An answer has a dozen stats; only those of `names` are columns, as `with_values` makes them: a
    million answers take some 50 MB. Texts are dictionaries.

    Args:
        reader: it has the scores.
        run_spec_ids: the runs.
        names: the stats that are needed.
        split: the only split; None for all.
    """
    source = output_of("per_instance_stats", SCORE)
    sql = _SCORES.format(scores=source, units=literals(run_spec_ids))
    narrowed = partial(_narrowed, names=sorted(set(names)), split=split)
    scores = reader.query(sql, each=narrowed)
    scores = scores.unify_dictionaries()  # each step lets go of the memory of the one before
    scores = scores.combine_chunks()
    pa.default_memory_pool().release_unused()
    return scores


def _narrowed(scores: pa.Table, *, names: Sequence[str], split: str | None) -> pa.Table:
    if split is not None:
        scores = scores.filter(pc.equal(scores["split"], split))
    scores = with_values(scores, names)
    for index, name in enumerate(scores.column_names):
        if name in TEXTS:
            kind = pa.dictionary(pa.int16() if name in _FEW else pa.int32(), pa.string())
            encoded = pc.dictionary_encode(scores[name]).cast(kind)
            scores = scores.set_column(index, name, encoded)
        elif name in TRIALS:
            scores = scores.set_column(index, name, scores[name].cast(pa.int32()))
    return scores


def with_values(scores: pa.Table, names: Iterable[str]) -> pa.Table:
    """A column of float64 for each of these stats in place of `stats`; NaN where one has no value.

    `value_of` reads such a column.
    """
    stats = scores["stats"].combine_chunks()
    flat, rows = stats.flatten(), pc.list_parent_indices(stats)
    scores = scores.drop_columns(["stats"])
    for name in names:
        is_named = pc.equal(flat.field("name"), name)
        values = np.full(len(scores), np.nan)
        named = flat.field("value").filter(is_named)
        values[rows.filter(is_named).to_numpy()] = named.to_numpy(zero_copy_only=False)
        scores = scores.append_column(column_of(name), pa.array(values))
    return scores


def value_of(scores: pa.Table, name: str) -> NDArray[np.float64]:
    """The values of a stat, NaN where it has none; shape (rows,)."""
    column = column_of(name)
    if column not in scores.column_names:  # a metric that no run of the lake has
        return np.full(len(scores), np.nan)
    values: NDArray[np.float64] = scores[column].to_numpy()
    return values


def column_of(name: str) -> str:
    """The column of a stat's values: a stat may be called as a column is."""
    return f"stat {name}"


def in_order(scores: pa.Table) -> pa.Table:
    """The rows by instance and trial: sums of floats depend on an order, and a lake keeps none."""
    trials = (scores[name].to_numpy() for name in reversed(TRIALS))
    return scores.take(pa.array(np.lexsort((*trials, _rank(scores["instance_id"])))))


def own_scores(scores: pa.Table, run_spec_ids: Sequence[str], split: str) -> pa.Table:
    """The rows of these runs and this split, of scores as `scores_of` reads them."""
    is_own = _is_one_of(scores["run_spec_id"], run_spec_ids) & _is_one_of(scores["split"], [split])
    return scores if is_own.all() else scores.filter(pa.array(is_own))


def _is_one_of(texts: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each text is one of these, by the few texts of the dictionary."""
    encoded = _encoded(texts)
    is_named = pc.is_in(encoded.dictionary, pa.array(names, pa.string()))
    found: NDArray[np.bool_] = is_named.to_numpy(zero_copy_only=False)[_codes(encoded)]
    return found


def _encoded(texts: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _codes(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    """The index of each text in the dictionary, -1 of none."""
    codes: NDArray[np.int32] = pc.fill_null(encoded.indices, -1).to_numpy()
    return codes


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

    They are in the order of the instances' ids, whatever the order of the rows is. `is_clustered`:
    some instance has a cluster.
    """

    values: NDArray[np.float64]
    ids: pa.Array
    """The id of each instance; with trials `ID/TRAIN_TRIAL/TRIAL`."""
    plain_ids: pa.Array
    """The id of each instance, without trials."""
    drawn: pa.DictionaryArray
    """What is drawn together with each instance: its cluster, or the instance itself where it has
    no cluster."""
    is_clustered: bool

    @property
    def instances(self) -> list[str]:
        """`ids` as texts."""
        texts: list[str] = self.ids.to_pylist()
        return texts

    @property
    def labels(self) -> NDArray[np.int64]:
        """The number of each instance's unit in the order of their names, shape (instances,)."""
        return np.unique(_rank(self.drawn), return_inverse=True)[1].astype(np.int64)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """The same, None where nothing is clustered."""
        return self.labels if self.is_clustered else None


def side_by_side(
    scores: pa.Table, run_spec_ids: Sequence[str], names: Sequence[str], *, by_trial: bool = False
) -> SideBySide:
    """The values of these stats by run and instance, of several trials their mean.

    Args:
        scores: rows of one split, as `scores_of` reads them.
        run_spec_ids: the runs, in the order of the first axis.
        names: the stats, in the order of the last axis.
        by_trial: take each trial of an instance for itself.
    """
    # Sums of floats depend on their order, and a lake keeps none.
    instance, run = _rank(scores["instance_id"]), _rank(scores["run_spec_id"])
    trial_columns = [scores[name].to_numpy() for name in TRIALS]
    order = np.lexsort((run, *reversed(trial_columns), instance))
    is_new = np.diff(instance[order], prepend=-1) != 0
    for part in trial_columns if by_trial else ():
        is_new |= np.diff(part[order], prepend=-1) != 0
    instance_index = (np.cumsum(is_new) - 1).astype(np.int32)
    firsts = order[is_new]
    ids = _encoded(scores["instance_id"])
    plain = instances = _texts(ids, _codes(ids)[firsts])
    if by_trial:
        trials = (pa.array(part[firsts]).cast(pa.string()) for part in trial_columns)
        instances = pc.binary_join_element_wise(instances, *trials, "/")
    runs = _encoded(scores["run_spec_id"])
    among = pc.index_in(runs.dictionary, pa.array(run_spec_ids, pa.string()))
    run_index = pc.fill_null(among, -1).to_numpy()[_codes(runs)[order]]
    shape = (len(run_spec_ids), len(firsts))
    values = np.stack(
        [
            _column(value_of(scores, name)[order], run_index, instance_index, shape)
            for name in names
        ],
        axis=2,
    )
    clusters = _encoded(scores["cluster_id"])
    return SideBySide(
        values=values,
        ids=instances,
        plain_ids=plain,
        drawn=_units(plain, clusters, order, instance_index),
        is_clustered=clusters.null_count < len(clusters),
    )


def _texts(encoded: pa.DictionaryArray, codes: NDArray[np.int32]) -> pa.Array:
    return encoded.dictionary.take(pa.array(codes))


def _rank(texts: pa.ChunkedArray | pa.Array) -> NDArray[np.int32]:
    """The rank of each text among all in order: integers sort in a fraction of a text's time."""
    encoded = _encoded(texts)
    codes = _codes(encoded)
    if len(codes) < len(encoded.dictionary):  # a benchmark's texts, of a dictionary of several
        used, among = np.unique(codes, return_inverse=True)
        encoded, codes = _texts(encoded, used).dictionary_encode(), among.astype(np.int32)
    ranks = np.empty(len(encoded.dictionary), np.int32)
    ranks[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
    return ranks[codes]


def _column(
    values: NDArray[np.float64],
    run_index: NDArray[np.int32],
    instance_index: NDArray[np.int32],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """The mean by run and instance, NaN without a value; `run_index` is -1 of other runs."""
    is_known = ~np.isnan(values) & (run_index >= 0)
    cell = run_index[is_known].astype(np.int64) * shape[1] + instance_index[is_known]
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, weights=values[is_known], minlength=len(counts)).astype(np.float64)
    sums[counts == 0] = np.nan
    np.divide(sums, np.maximum(counts, 1, out=counts), out=sums)  # millions: without a copy
    means: NDArray[np.float64] = sums.reshape(shape)
    return means


def _units(
    instances: pa.Array,
    clusters: pa.DictionaryArray,
    order: NDArray[np.int64],
    instance_index: NDArray[np.int32],
) -> pa.DictionaryArray:
    """The unit of each instance.

    An older run of the same data may lack the clusters: those of one run count for all.
    """
    codes = _codes(clusters)[order]
    is_known = codes >= 0
    if not is_known.any():
        return instances.dictionary_encode()
    of_instance = np.full(len(instances), -1)
    of_instance[instance_index[is_known]] = codes[is_known]
    named = clusters.dictionary.take(pa.array(of_instance, mask=of_instance < 0))
    return pc.coalesce(named, instances).dictionary_encode()
