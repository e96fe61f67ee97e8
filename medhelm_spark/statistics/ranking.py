"""Win rates and ranks: which columns count, and which rows are ranked.

The mean win rate is that of HELM's leaderboards: the chance to beat another model drawn at random.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np

from medhelm_spark.statistics.arrangement import ColumnKey, RowKey, column_key, distinct
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.common import Common, on_common
from medhelm_spark.statistics.tiers import DecidingColumn, TierRank, standings

MEAN_WIN_RATE = "mean_win_rate"
MEDHELM_MEAN_WIN_RATE = "mean_win_rate@medhelm-0.8"
"""MedHELM's own: over all columns and models, whatever failed or is not comparable."""

Columns = Mapping[ColumnKey, Mapping[RowKey, BoardCell]]
_Row = TypeVar("_Row", bound=Hashable)
_Column = TypeVar("_Column", bound=Hashable)

MIN_MODELS = 2
"""Model deployments with a comparable mean that make a column one to rank on."""


def is_listed(columns: Columns) -> bool:
    """Whether a suite file lists the benchmarks that models are ranked on."""
    return any(cell.is_listed for cells in columns.values() for cell in cells.values())


def ranking_columns(columns: Columns) -> tuple[ColumnKey, ...]:
    """The columns in which a model needs a counted mean to be ranked; each has a direction.

    They are those that the suite file lists, or without a list those in which MIN_MODELS or more
    have comparable means. A mean below the coverage floor is comparable, so that a model which
    failed too often loses its own rank and not the column.
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
    cells: Mapping[ColumnKey, BoardCell],
    ranked: Iterable[ColumnKey],
    titles: Mapping[ColumnKey, str],
) -> tuple[str, ...]:
    """The columns to be ranked on in which a row has no counted mean, with the reason."""
    return tuple(
        f"{titles[key]}{_reason(cells.get(key))}"
        for key in ranked
        if key not in cells or not cells[key].is_counted
    )


def _reason(cell: BoardCell | None) -> str:
    if cell is None:
        return " (not run)"
    if cell.mean is not None and cell.differs:
        return f" ({cell.differs})"
    return f" ({cell.count} of {cell.count + cell.num_failed} answers scored)"


def win_rates(
    columns: Columns, ranked: Iterable[ColumnKey], complete: Iterable[RowKey], common: Common
) -> dict[RowKey, float]:
    """The mean win rates of the rows that have every ranking column.

    In each column a row is compared with all means that count there, complete rows or not: all rows
    have the same opponents. Two rows are compared on the instances that both have.
    """
    collected: dict[RowKey, list[float]] = {}
    for key in ranked:
        for row, rate in _column_rates(columns[key], common).items():
            collected.setdefault(row, []).append(rate)
    return {row: _average(collected[row]) for row in complete if row in collected}


def _column_rates(cells: Mapping[RowKey, BoardCell], common: Common) -> dict[RowKey, float]:
    """By row its share of wins over the others of the column, a tie half of one."""
    lower_is_better = _direction(cells)
    scores: dict[RowKey, list[float]] = {}
    counted = {row: cell for row, cell in cells.items() if cell.is_counted}
    for (first, ours), (second, theirs) in combinations(counted.items(), 2):
        means = on_common(ours, theirs, common).means
        if means is not None and lower_is_better is not None:
            won = _won(*means, lower_is_better=lower_is_better)
            scores.setdefault(first, []).append(won)
            scores.setdefault(second, []).append(1 - won)
    return {row: _average(won) for row, won in scores.items()}


def _won(first: float, second: float, *, lower_is_better: bool) -> float:
    """1 where the first is better, 0 where the second is, 0.5 for a tie."""
    if first == second:
        return 0.5
    return float((first < second) == lower_is_better)


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def deciding_columns(columns: Columns, ranked: Sequence[ColumnKey]) -> Sequence[ColumnKey]:
    """The columns that tiers are made of: primary endpoints, all ranked where none is declared."""
    primary = [key for key in ranked if any(cell.is_primary for cell in columns[key].values())]
    return primary or ranked


def tier_ranks_of(
    columns: Columns, deciding: Sequence[ColumnKey], rows: Sequence[RowKey], common: Common
) -> dict[RowKey, TierRank]:
    """The tier of each row, and which ranks are possible, over the columns that decide.

    Nothing for fewer than two rows, and where one of their means has no resamples or rests on fewer
    than MIN_UNITS answers or clusters.
    """
    if len(rows) < MIN_MODELS:
        return {}
    built = [_deciding([columns[key][row] for row in rows], common) for key in deciding]
    known = [column for column in built if column]
    if len(known) < len(built):
        return {}
    return dict(zip(rows, standings(len(rows), known), strict=True))


def _deciding(cells: Sequence[BoardCell], common: Common) -> DecidingColumn | None:
    """The column by pairs of its cells; None where a pair has no resamples.

    Nor where a mean rests on too few answers or clusters: a run is resampled by all its answers,
    also where a share, as sensitivity, counts few of them.
    """
    low, high = cells[0].minimum, cells[0].maximum
    pairs = [on_common(*pair, common) for pair in combinations(cells, 2)]
    means = [pair.means for pair in pairs]
    if None in means or any(cell.is_few or not cell.draws for cell in cells):
        return None
    own = np.array([cell.draws for cell in cells], np.float64)
    first, second = np.triu_indices(len(cells), 1)
    draws = own[first] - own[second]
    for index, pair in enumerate(pairs):
        if not pair.are_own:
            differences = pair.differences
            if differences is None:
                return None
            draws[index] = differences
    return DecidingColumn(
        differences=np.array([ours - theirs for ours, theirs in filter(None, means)]),
        draws=draws,
        lower_is_better=bool(cells[0].lower_is_better),
        units=min(cell.num_independent for cell in cells) * min(pair.share for pair in pairs),
        width=None if low is None or high is None else high - low,
    )


def ranks_of(rates: Mapping[RowKey, float]) -> dict[RowKey, int]:
    """1 for the best; equal win rates share a rank."""
    return {row: 1 + sum(other > rate for other in rates.values()) for row, rate in rates.items()}


def _win_rates(values: Mapping[_Row, float], *, lower_is_better: bool) -> dict[_Row, float]:
    """Per row (number of rows strictly worse + half of the other ties) / (rows - 1)."""
    ordered = sorted(values.values())
    rates = {}
    for row, value in values.items():
        first, last = bisect_left(ordered, value), bisect_right(ordered, value)
        num_worse = len(ordered) - last if lower_is_better else first
        rates[row] = (num_worse + (last - first - 1) / 2) / (len(ordered) - 1)
    return rates


def mean_win_rates(
    columns: Mapping[_Column, Mapping[_Row, float | None]],
    lower_is_better: Mapping[_Column, bool | None],
) -> dict[_Row, float]:
    """The mean over columns of the chance to beat another row drawn at random.

    `columns[column][row]` is a value or None. A column counts where it has a direction and at least
    two values; a row is compared only where it has a value, and a row that no column compares is
    absent from the result.
    """
    collected: dict[_Row, list[float]] = {}
    for column, cells in columns.items():
        values = {row: value for row, value in cells.items() if value is not None}
        direction = lower_is_better.get(column)
        if direction is None or len(values) < 2:
            continue
        for row, rate in _win_rates(values, lower_is_better=direction).items():
            collected.setdefault(row, []).append(rate)
    return {row: math.fsum(rates) / len(rates) for row, rates in collected.items()}


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
