"""Mean win rate, as MedHELM's leaderboard computes it."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping
from typing import TypeVar

MEAN_WIN_RATE = "mean_win_rate"
MEDHELM_MEAN_WIN_RATE = "mean_win_rate@medhelm-0.8"
"""MedHELM's own: over all columns and models, whatever failed or is not comparable."""

_Row = TypeVar("_Row", bound=Hashable)
_Column = TypeVar("_Column", bound=Hashable)


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
