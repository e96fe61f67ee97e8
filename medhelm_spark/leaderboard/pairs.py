"""Paired differences of a board's models, from the scores of each instance."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.domain.stages import SCORE
from medhelm_spark.domain.stats import UNBOUNDED
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.leaderboard.queries import stat_column
from medhelm_spark.leaderboard.runs import BoardRun
from medhelm_spark.statistics.board import BoardPair, build_board
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.paired import paired_difference

ROWS_AT_ONCE = 200_000
"""Rows of `per_instance_stats` read together: one column of the board at least."""

_SCORES = """
SELECT run_spec_id, instance_id, split, stats FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units})
"""
_Column = list[tuple[BoardRun, BoardCell, str]]
"""Runs of one scenario, each with its cell and the name of its row."""

_Values = dict[str, float | None]


def paired(
    reader: Reader, runs: Iterable[BoardRun], *, coverage_floor: float
) -> tuple[BoardPair, ...]:
    """In each column, the board's best-ranked row there against each other one.

    The unit is the instance: several trials of one are averaged, and the parts of a scenario are
    compared one by one. Left out are runs that were scored again after their cell was made, runs
    that the board does not rank, and columns of a run-level stat, which no instance has.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs if run.cell}
    cells = (run.cell for run in by_id.values() if run.cell)
    rows = build_board(cells, coverage_floor=coverage_floor).rows
    columns: dict[tuple[str, ...], _Column] = {}
    for row in rows:
        for shown in (cell for cell in row.cells if cell and cell.is_counted):
            for cell in shown.parts or (shown,):
                run = by_id[cell.run_spec_ids[0]]
                if run.is_current:
                    key = (cell.scenario_name, cell.part, cell.main_metric, cell.split)
                    columns.setdefault(key, []).append((run, cell, row.name))
    ranks = {row.name: rank for rank, row in enumerate(rows)}
    return tuple(
        pair
        for batch in _batches([columns[key] for key in sorted(columns)])
        for pair in _batch_pairs(reader, batch, ranks)
    )


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


def _batch_pairs(
    reader: Reader, batch: Sequence[_Column], ranks: Mapping[str, int]
) -> Iterator[BoardPair]:
    units = literals(run.run_spec.run_spec_id for column in batch for run, _, _ in column)
    sql = _SCORES.format(scores=output_of("per_instance_stats", SCORE), units=units)
    scores = reader.query(sql)
    for column in batch:
        yield from _column_pairs(scores, column, ranks)


def _column_pairs(
    scores: pa.Table, column: _Column, ranks: Mapping[str, int]
) -> Iterator[BoardPair]:
    run, cell, _ = column[0]
    values = _values(scores, column)
    if not any(values.values()):
        return
    first, *others = sorted(values, key=lambda model: ranks[model])
    scale = run.info or UNBOUNDED
    for second in others:
        yield BoardPair(
            scenario_name=run.run_spec.scenario_name,
            display_name=f"{cell.display_name}: {cell.part}" if cell.part else cell.display_name,
            main_metric=cell.main_metric,
            first=first,
            second=second,
            difference=paired_difference(values[first], values[second], scale),
        )


def _values(scores: pa.Table, column: _Column) -> dict[str, _Values]:
    """By row the value of each instance, the mean of its trials; None where it has none."""
    models = {run.run_spec.run_spec_id: name for run, _, name in column}
    cell = column[0][1]
    in_column = pc.and_(
        pc.is_in(scores["run_spec_id"], pa.array(sorted(models))),
        pc.equal(scores["split"], cell.split),
    )
    rows = stat_column(scores.filter(in_column), cell.main_metric)
    trials: dict[str, dict[str, list[float]]] = {model: {} for model in models.values()}
    lists = (rows[name].to_pylist() for name in ("run_spec_id", "instance_id", "value"))
    for run_spec_id, instance_id, value in zip(*lists, strict=True):
        values = trials[models[run_spec_id]].setdefault(instance_id, [])
        if value is not None:
            values.append(value)
    return {
        model: {key: _mean(values) for key, values in instances.items()}
        for model, instances in trials.items()
    }


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
