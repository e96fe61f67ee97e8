"""Paired differences of a board's models, from the scores of each instance."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.leaderboard.scores import stat_column
from medhelm_spark.leaderboard.sql import among, literal
from medhelm_spark.statistics.board import BoardCell, BoardPair, build_board
from medhelm_spark.statistics.paired import paired_difference

if TYPE_CHECKING:
    from medhelm_spark.leaderboard.runs import BoardRun

SEED = 0
_SCORES = """
SELECT run_spec_id, instance_id, stats FROM ({scores}) s
WHERE perturbation = '' AND split = {split} AND run_spec_id IN ({units})
"""
_ColumnKey = tuple[str, str, str]
_Values = dict[str, float | None]


def paired(reader: Reader, runs: Iterable["BoardRun"]) -> tuple[BoardPair, ...]:
    """In each column, the board's best-ranked model there against each other one.

    The unit is the instance: several trials of one are averaged. A run whose stored scores are no
    longer those of its cell is left out.
    """
    columns: dict[_ColumnKey, list[BoardRun]] = {}
    held = [run for run in runs if run.cell]
    for run in held:
        if run.is_current:
            columns.setdefault(_key(run.cell), []).append(run)
    ranks = _ranks(run.cell for run in held if run.cell)
    return tuple(
        pair
        for key in sorted(columns)
        if len({_model(run) for run in columns[key]}) > 1
        for pair in _column_pairs(reader, columns[key], ranks)
    )


def _key(cell: BoardCell | None) -> _ColumnKey:
    assert cell is not None
    return (cell.scenario_name, cell.main_metric, cell.split)


def _model(run: "BoardRun") -> str:
    return run.run_spec.model_deployment


def _ranks(cells: Iterable[BoardCell]) -> dict[str, int]:
    rows = build_board(cells).rows
    return {row.model_deployment: rank for rank, row in enumerate(rows)}


def _column_pairs(
    reader: Reader, runs: Sequence["BoardRun"], ranks: Mapping[str, int]
) -> Iterator[BoardPair]:
    cell, stat = runs[0].cell, runs[0].info
    assert cell is not None
    values = _values(reader, runs)
    first, *others = sorted(values, key=lambda model: ranks[model])
    may_be_binary = stat is not None and (stat.minimum, stat.maximum) == (0.0, 1.0)
    for second in others:
        yield BoardPair(
            scenario_name=cell.scenario_name,
            display_name=cell.display_name,
            main_metric=cell.main_metric,
            first=first,
            second=second,
            difference=paired_difference(
                values[first], values[second], SEED, may_be_binary=may_be_binary
            ),
        )


def _values(reader: Reader, runs: Sequence["BoardRun"]) -> dict[str, _Values]:
    """The value of each instance by model deployment; None where it has none."""
    models = {run.run_spec.run_spec_id: _model(run) for run in runs}
    spec = runs[0].run_spec
    sql = _SCORES.format(
        scores=output_of("per_instance_stats", "score"),
        split=literal(spec.main_split),
        units=among(models),
    )
    rows = stat_column(reader.query(sql), spec.main_metric)
    found: dict[str, dict[str, list[float]]] = {model: {} for model in models.values()}
    columns = (rows[name].to_pylist() for name in ("run_spec_id", "instance_id", "value"))
    for run_spec_id, instance_id, value in zip(*columns, strict=True):
        held = found[models[run_spec_id]].setdefault(instance_id, [])
        if value is not None:
            held.append(value)
    return {
        model: {key: math.fsum(held) / len(held) if held else None for key, held in values.items()}
        for model, values in found.items()
    }
