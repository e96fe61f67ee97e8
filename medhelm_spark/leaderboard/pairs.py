"""Paired differences of a board's models, from the scores of each instance."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.domain.stats import UNBOUNDED
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.leaderboard.scores import stat_column
from medhelm_spark.leaderboard.sql import among
from medhelm_spark.statistics.board import BoardCell, BoardPair, build_board
from medhelm_spark.statistics.paired import paired_difference

if TYPE_CHECKING:
    from medhelm_spark.leaderboard.runs import BoardRun

ROWS_AT_ONCE = 200_000
"""Rows of `per_instance_stats` read together: one column of the board at least."""

_SCORES = """
SELECT run_spec_id, instance_id, split, stats FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units})
"""
_Column = list[tuple["BoardRun", BoardCell]]
_Values = dict[str, float | None]


def paired(reader: Reader, runs: Iterable["BoardRun"]) -> tuple[BoardPair, ...]:
    """In each column, the board's best-ranked model there against each other one.

    The unit is the instance: several trials of one are averaged. A run whose stored scores are no
    longer those of its cell is left out, and a column whose stat no instance has by itself.
    """
    held = [(run, run.cell) for run in runs if run.cell]
    columns: dict[tuple[str, str, str], _Column] = {}
    for run, cell in held:
        if run.is_current:
            key = (cell.scenario_name, cell.main_metric, cell.split)
            columns.setdefault(key, []).append((run, cell))
    ranks = _ranks(cell for _, cell in held)
    return tuple(
        pair
        for batch in _batches([columns[key] for key in sorted(columns)])
        for pair in _batch_pairs(reader, batch, ranks)
    )


def _ranks(cells: Iterable[BoardCell]) -> dict[str, int]:
    rows = build_board(cells).rows
    return {row.model_deployment: rank for rank, row in enumerate(rows)}


def _batches(columns: Iterable[_Column]) -> Iterator[list[_Column]]:
    """The columns that compare models, as many at a time as ROWS_AT_ONCE allows."""
    batch: list[_Column] = []
    rows = 0
    for column in columns:
        if len({cell.model_deployment for _, cell in column}) < 2:
            continue
        size = sum(cell.count + cell.num_unscored for _, cell in column)
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
    units = among(run.run_spec.run_spec_id for column in batch for run, _ in column)
    sql = _SCORES.format(scores=output_of("per_instance_stats", "score"), units=units)
    scores = reader.query(sql)
    for column in batch:
        yield from _column_pairs(scores, column, ranks)


def _column_pairs(
    scores: pa.Table, column: _Column, ranks: Mapping[str, int]
) -> Iterator[BoardPair]:
    run, cell = column[0]
    values = _values(scores, column)
    if not any(values.values()):
        return
    first, *others = sorted(values, key=lambda model: ranks[model])
    scale = run.info or UNBOUNDED
    for second in others:
        yield BoardPair(
            scenario_name=cell.scenario_name,
            display_name=cell.display_name,
            main_metric=cell.main_metric,
            first=first,
            second=second,
            difference=paired_difference(values[first], values[second], scale),
        )


def _values(scores: pa.Table, column: _Column) -> dict[str, _Values]:
    """The value of each instance by model deployment; None where it has none."""
    models = {run.run_spec.run_spec_id: cell.model_deployment for run, cell in column}
    cell = column[0][1]
    mine = pc.and_(
        pc.is_in(scores["run_spec_id"], pa.array(sorted(models))),
        pc.equal(scores["split"], cell.split),
    )
    rows = stat_column(scores.filter(mine), cell.main_metric)
    found: dict[str, dict[str, list[float]]] = {model: {} for model in models.values()}
    lists = (rows[name].to_pylist() for name in ("run_spec_id", "instance_id", "value"))
    for run_spec_id, instance_id, value in zip(*lists, strict=True):
        held = found[models[run_spec_id]].setdefault(instance_id, [])
        if value is not None:
            held.append(value)
    return {
        model: {key: math.fsum(held) / len(held) if held else None for key, held in values.items()}
        for model, values in found.items()
    }
