"""Ranks: on which columns, of which rows, by which win rates."""

import math
from collections.abc import Iterable, Mapping

from medhelm_spark.statistics.arrangement import ColumnKey, RowKey, column_key, distinct
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.winrate import mean_win_rates

Columns = Mapping[ColumnKey, Mapping[RowKey, BoardCell]]

MIN_MODELS = 2
"""Model deployments with a comparable mean that make a column one to rank on."""


def is_listed(columns: Columns) -> bool:
    """Whether a suite file says on what models are ranked."""
    return any(cell.is_listed for cells in columns.values() for cell in cells.values())


def ranking_columns(columns: Columns) -> tuple[ColumnKey, ...]:
    """The columns that a model needs to be ranked; one without a direction is never among them.

    Those that the suite file lists, or without a list those in which two models or more have
    comparable means. A model that failed too often to be ranked does not take its column away.
    """
    directed = [key for key, cells in columns.items() if _direction(cells) is not None]
    if is_listed(columns):
        return tuple(
            key for key in directed if any(cell.is_listed for cell in columns[key].values())
        )
    return tuple(key for key in directed if _num_models(columns[key]) >= MIN_MODELS)


def _direction(cells: Mapping[RowKey, BoardCell]) -> bool | None:
    return list(cells.values())[-1].lower_is_better


def _num_models(cells: Mapping[RowKey, BoardCell]) -> int:
    return len({row[0] for row, cell in cells.items() if cell.is_comparable})


def lacking(
    held: Mapping[ColumnKey, BoardCell],
    ranked: Iterable[ColumnKey],
    titles: Mapping[ColumnKey, str],
) -> tuple[str, ...]:
    """What a row lacks of the columns that models are ranked on, with the reason."""
    return tuple(
        f"{titles[key]}{_reason(held.get(key))}"
        for key in ranked
        if key not in held or not held[key].is_counted
    )


def _reason(cell: BoardCell | None) -> str:
    if cell is None:
        return ""
    if cell.mean is not None and cell.differs:
        return f" ({cell.differs})"
    return f" ({cell.count} of {cell.count + cell.num_failed} answers scored)"


def win_rates(
    columns: Columns, ranked: Iterable[ColumnKey], complete: Iterable[RowKey]
) -> dict[RowKey, float]:
    """The mean win rates of the rows that have every ranking column.

    In each column against all means that count there, so all of them meet the same opponents.
    """
    values = {
        key: {row: cell.mean for row, cell in columns[key].items() if cell.is_counted}
        for key in ranked
    }
    rates = mean_win_rates(values, {key: _direction(columns[key]) for key in values})
    return {row: rates[row] for row in complete if row in rates}


def ranks_of(rates: Mapping[RowKey, float]) -> dict[RowKey, int]:
    """1 for the best; equal win rates share a rank."""
    return {row: 1 + sum(other > rate for other in rates.values()) for row, rate in rates.items()}


def medhelm_win_rates(cells: Iterable[BoardCell]) -> dict[tuple[str, str], float]:
    """MedHELM 0.8's mean win rate by model deployment and model (facts section 15).

    All runs of a model on a scenario are one mean of means, whatever they differ in and however
    many answers failed; a cell that is missing is skipped.
    """
    means: dict[ColumnKey, dict[tuple[str, str], list[float]]] = {}
    directions: dict[ColumnKey, bool | None] = {}
    for cell in distinct(cells):
        key = column_key(cell)
        directions[key] = cell.lower_is_better
        if cell.mean is not None:
            row = (cell.model_deployment, cell.model)
            means.setdefault(key, {}).setdefault(row, []).append(cell.mean)
    merged = {
        key: {row: math.fsum(values) / len(values) for row, values in rows.items()}
        for key, rows in means.items()
    }
    return mean_win_rates(merged, directions)
