"""Paired differences of a board's models, from the scores of each instance."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.domain.jury_evidence import weakest
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.leaderboard.runs import BoardRun
from medhelm_spark.leaderboard.scores import side_by_side
from medhelm_spark.metrics import Params, RunMetric, run_metrics_for
from medhelm_spark.statistics.board import BoardRow
from medhelm_spark.statistics.cell import BoardCell, all_known
from medhelm_spark.statistics.jackknife import pseudo_values
from medhelm_spark.statistics.paired import Labels, PairedDifference, Values, paired_difference
from medhelm_spark.statistics.pairs import BoardPair, adjusted
from medhelm_spark.statistics.shares import shares_by_row

ROWS_AT_ONCE = 200_000
"""Rows of `per_instance_stats` read together: one column of the board at least."""

_SCORES = """
SELECT run_spec_id, instance_id, train_trial_index, trial_index, split, cluster_id, stats
FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units})
"""
_Column = list[tuple[BoardRun, BoardCell, str]]
"""Runs of one scenario, each with its cell and the name of its row."""

_Pairs = Callable[[Sequence[int]], Iterable[tuple[int, int]]]
"""Which places of a column are compared, the better-ranked one first."""


def with_best(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The best-ranked row against each other one."""
    return ((places[0], other) for other in places[1:])


def with_all(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every row against every other one."""
    return combinations(places, 2)


def paired(
    reader: Reader,
    runs: Iterable[BoardRun],
    rows: Iterable[BoardRow],
    *,
    pairs: _Pairs = with_best,
) -> tuple[BoardPair, ...]:
    """In each column, the board's rows on the same instances, with adjusted p-values.

    The unit is the instance: several trials of one are averaged, and the parts of a scenario are
    compared one by one. A stat of whole runs is compared by pseudo-values. Left out are runs that
    were scored again after their cell was made, and runs that the board does not rank.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs if run.cell}
    columns: dict[tuple[str, ...], _Column] = {}
    for row in rows:  # in the order of their ranks, and so is each column
        for shown in (cell for cell in row.cells if cell and cell.is_counted):
            for cell in shown.parts or (shown,):
                run = by_id[cell.run_spec_ids[0]]
                if run.is_current:
                    key = (cell.scenario_name, cell.part, cell.main_metric, cell.split)
                    columns.setdefault(key, []).append((run, cell, row.name))
    in_order = sorted(columns, key=lambda key: tuple(map(in_natural_order, key)))
    differences = [
        pair
        for batch in _batches([columns[key] for key in in_order])
        for pair in _batch_pairs(reader, batch, pairs)
    ]
    sizes = {True: 0, False: 0}
    for column in columns.values():
        sizes[_is_primary(column)] += math.comb(len(column), 2)
    return adjusted(differences, num_declared=sizes[True], num_others=sizes[False])


def _is_primary(column: _Column) -> bool:
    return any(cell.is_primary for _, cell, _ in column)


def _batches(columns: Iterable[_Column]) -> Iterator[list[_Column]]:
    """The columns that compare models, as many at a time as ROWS_AT_ONCE allows."""
    batch: list[_Column] = []
    rows = 0
    for column in columns:
        if len({name for _, _, name in column}) < 2:
            continue
        size = sum(cell.total for _, cell, _ in column)
        if batch and rows + size > ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
        batch.append(column)
        rows += size
    if batch:
        yield batch


def _batch_pairs(reader: Reader, batch: Sequence[_Column], pairs: _Pairs) -> Iterator[BoardPair]:
    scores = scores_of(
        reader, [run.run_spec.run_spec_id for column in batch for run, _, _ in column]
    )
    for column in batch:
        yield from _column_pairs(scores, column, pairs)


def scores_of(reader: Reader, run_spec_ids: Sequence[str], split: str | None = None) -> pa.Table:
    """The scores of these runs on instances as they are, of one split or of all."""
    scores = reader.query(
        _SCORES.format(scores=output_of("per_instance_stats", SCORE), units=literals(run_spec_ids))
    )
    return scores if split is None else scores.filter(pc.equal(scores["split"], split))


def _column_pairs(scores: pa.Table, column: _Column, pairs: _Pairs) -> Iterator[BoardPair]:
    run, cell, _ = column[0]
    units = [held.run_spec.run_spec_id for held, _, _ in column]
    in_column = pc.and_(
        pc.is_in(scores["run_spec_id"], pa.array(units)), pc.equal(scores["split"], cell.split)
    )
    own = scores.filter(in_column)
    if not len(own):
        return
    differ = _of_run(run, cell, own, units) or _of_instances(run, cell, own, units)
    template = BoardPair(
        scenario_name=run.run_spec.scenario_name,
        display_name=f"{cell.display_name}: {cell.part}" if cell.part else cell.display_name,
        main_metric=cell.main_metric,
        first="",
        second="",
        difference=PairedDifference(n=0, num_dropped=0),
        category=cell.category,
        lower_is_better=cell.lower_is_better,
        is_primary=_is_primary(column),
        margin=cell.margin,
        cluster_column=cell.cluster_column,
        jury_evidence=weakest(held.jury_evidence for _, held, _ in column),
    )
    for first, second in pairs(range(len(column))):
        yield replace(
            template,
            first=column[first][2],
            second=column[second][2],
            difference=differ(first, second),
            run_spec_ids=(units[first], units[second]),
            imported=all_known(column[place][1].imported for place in (first, second)),
        )


_Differ = Callable[[int, int], PairedDifference]


def _of_instances(
    run: BoardRun, cell: BoardCell, scores: pa.Table, units: Sequence[str]
) -> _Differ:
    """Differences of a stat that each instance has."""
    held = side_by_side(scores, units, [cell.main_metric])
    values, scale = held.values[:, :, 0], run.info or UNBOUNDED

    def differ(first: int, second: int) -> PairedDifference:
        return paired_difference(values[first], values[second], scale, held.clusters)

    return differ


def _of_run(
    run: BoardRun, cell: BoardCell, scores: pa.Table, units: Sequence[str]
) -> _Differ | None:
    """Differences of a stat of the whole run; None where instances have the stat."""
    for metric, params in run_metrics_for(run.run_spec.metrics):
        names = [stat.name for stat in metric.emitted(params)]
        if cell.main_metric in names:
            held = side_by_side(scores, units, metric.reads(params), by_trial=True)
            labels = held.clusters
            if labels is None and run.run_spec.adapter_spec.times_asked > 1:
                labels = held.first_trials
            place, scale = names.index(cell.main_metric), run.info or UNBOUNDED
            measured = _Measured(metric, params, place, held.values, labels, scale)
            return measured.difference
    return None


@dataclass(frozen=True, slots=True)
class _Measured:
    """One stat of whole runs, over the instances that two of them share.

    `rows` of shape (runs, instances, stats) are what the metric reads.
    """

    metric: RunMetric
    params: Params
    place: int
    rows: NDArray[np.float64]
    clusters: Labels | None
    scale: MetricInfo
    known: dict[tuple[int, bytes], "_OfRun"] = field(default_factory=dict)
    """What was measured of a run on which instances: a run is in many pairs."""

    def difference(self, first: int, second: int) -> PairedDifference:
        """First minus second; without test where the stat has no value without an instance.

        A share of the same instances in both runs is compared on these instances: right or wrong.
        """
        pair = self.rows[[first, second]]
        first_whole, second_whole = (~np.isnan(rows).any(axis=1) for rows in pair)
        both = first_whole & second_whole
        n, dropped = int(both.sum()), int((first_whole ^ second_whole).sum())
        if n == 0:
            return PairedDifference(n=0, num_dropped=dropped)
        labels = None if self.clusters is None else self.clusters[both]
        ours, theirs = (self._measured(run, both) for run in (first, second))
        if (
            ours.hits is not None
            and theirs.hits is not None
            and np.array_equal(np.isnan(ours.hits), np.isnan(theirs.hits))
        ):
            held = paired_difference(ours.hits, theirs.hits, self.scale, labels)
            return replace(held, num_dropped=dropped)
        if ours.value is None or theirs.value is None:
            return PairedDifference(n=n, num_dropped=dropped)
        if np.isnan(ours.pseudo).any() or np.isnan(theirs.pseudo).any():
            mean = ours.value - theirs.value
            return PairedDifference(n=n, num_dropped=dropped, mean_difference=mean)
        held = paired_difference(ours.pseudo, theirs.pseudo, self.scale, labels, is_of_runs=True)
        return replace(held, num_dropped=dropped)

    def _measured(self, run: int, both: NDArray[np.bool_]) -> "_OfRun":
        """The stat of one run on the instances that it shares with another."""
        key = run, both.tobytes()
        if key not in self.known:
            self.known[key] = self._of_run(self.rows[run][both])
        return self.known[key]

    def _of_run(self, rows: NDArray[np.float64]) -> "_OfRun":
        distinct, place, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        place = place.reshape(-1)

        def measure(weights: NDArray[np.int64]) -> Sequence[float | None]:
            return [self.metric.fn(distinct, weights, self.params)[self.place]]

        return _OfRun(
            value=measure(counts)[0],
            pseudo=pseudo_values(measure, counts)[0][place],
            hits=self._hits(distinct, place),
        )

    def _hits(self, distinct: NDArray[np.float64], place: NDArray[np.int64]) -> Values | None:
        """1 and 0 on the instances that count in a share, NaN on others; None of no single share.

        A stat that is an average of shares is none.
        """
        fn = self.metric.shares
        if fn is None:
            return None
        shares = shares_by_row(lambda rows, weights: fn(rows, weights, self.params), distinct)
        if len(shares[self.place]) != 1:
            return None
        (share,) = shares[self.place]
        hits: Values = np.where(share.counts > 0, share.hits, math.nan)[place]
        return hits


@dataclass(frozen=True, slots=True)
class _OfRun:
    """A stat of one run: its value, its pseudo-value by instance, and its hits where it is a share.

    The arrays have the shape (instances,).
    """

    value: float | None
    pseudo: Values
    hits: Values | None
