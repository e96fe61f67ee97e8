"""Pairs of models by benchmark, each with the scores of its runs on the same instances."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from medhelm_spark.board.measured import Measured, measured, needed_stats
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import in_batches, own_scores, scores_of
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.pairs import BoardPair


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPairs:
    """The pairs of one benchmark by one metric."""

    run: BoardRun
    """One of the runs: they share data, split and metric."""
    units: tuple[str, ...]
    """The runs, in the order of their indices in `stat`."""
    pairs: tuple[BoardPair, ...]
    stat: Measured

    def indices(self, pair: BoardPair) -> tuple[int, int]:
        """The indices of a pair's two runs."""
        first, second = map(self.units.index, pair.run_spec_ids)
        return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """The runs behind pairs of one benchmark, by id."""

    metric: str
    split: str
    runs: dict[str, BoardRun]
    pairs: list[BoardPair]

    @property
    def any_run(self) -> BoardRun:
        return next(iter(self.runs.values()))

    @property
    def num_answers(self) -> int:
        return sum(run.cell.total for run in self.runs.values() if run.cell)


def measured_pairs(
    reader: Reader, runs: Iterable[BoardRun], pairs: Iterable[BoardPair]
) -> Iterator[MeasuredPairs]:
    """The pairs in the order of their benchmarks; scores of small benchmarks are read together.

    Args:
        reader: the lake; of a release what it froze.
        runs: the runs behind the pairs, and maybe others.
        pairs: two models on a benchmark each.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    columns: dict[tuple[str, str, str], _Column] = {}
    for pair in pairs:
        first, second = (by_id[unit] for unit in pair.run_spec_ids)
        split = first.cell.split if first.cell else first.run_spec.main_split
        key = (first.run_spec.data_version, pair.main_metric, split)
        column = columns.setdefault(
            key, _Column(metric=pair.main_metric, split=split, runs={}, pairs=[])
        )
        column.pairs.append(pair)
        column.runs.update(zip(pair.run_spec_ids, (first, second), strict=True))
    for batch in in_batches(columns.values(), lambda column: column.num_answers):
        yield from _measured_batch(reader, batch)


def _measured_batch(reader: Reader, batch: Sequence[_Column]) -> Iterator[MeasuredPairs]:
    scores = scores_of(
        reader,
        [unit for column in batch for unit in column.runs],
        {name for column in batch for name in needed_stats(column.any_run, column.metric)},
    )
    for column in batch:
        units = tuple(column.runs)
        own = own_scores(scores, units, column.split)
        yield MeasuredPairs(
            run=column.any_run,
            units=units,
            pairs=tuple(column.pairs),
            stat=measured(column.any_run, column.metric, own, units),
        )
