"""How the board is arranged: its order, its direction, its detail and its category."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from medhelm_spark.board import BoardRun
from medhelm_spark.statistics.board import BoardColumn, BoardRow, Leaderboard

ALL = "All"
BY_RANK, BY_NAME = "Tier and win rate", "Model"
SortKey = Callable[[BoardRow], tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The board's form by the address; `sort` is a label of `sort_keys`."""

    sort: str = BY_RANK
    is_transposed: bool = False
    is_compact: bool = False


def pick_category(runs: Sequence[BoardRun]) -> str:
    """A category, one of its subcategories, or ALL."""
    return st.selectbox("Category", categories(runs), key="category", bind="query-params")


def pick_arrangement(board: Leaderboard) -> Arrangement:
    """Order, direction and detail; all kept by the address."""
    order, turned, short = st.columns([2, 1.3, 1], vertical_alignment="bottom")
    with order:
        sort = st.selectbox("Sort by", list(sort_keys(board)), key="sort", bind="query-params")
    with turned:
        is_transposed = st.toggle("Benchmarks as rows", key="transpose", bind="query-params")
    with short:
        is_compact = st.toggle("Means only", key="compact", bind="query-params")
    return Arrangement(sort=sort, is_transposed=is_transposed, is_compact=is_compact)


def categories(runs: Sequence[BoardRun]) -> list[str]:
    """ALL, then each category that these runs have, and beneath it its subcategories."""
    pairs = {(run.cell.category, run.cell.subcategory) for run in runs if run.cell}
    labels = [label for pair in sorted(pairs) for label in _labels(*pair)]
    return [ALL, *dict.fromkeys(labels)]


def _labels(category: str, subcategory: str) -> list[str]:
    """The options under which a benchmark is found."""
    name = category or "Other"
    return [name, f"{name} / {subcategory}"] if subcategory else [name]


def scenario_of(run: BoardRun) -> str:
    """The scenario of a run's cell, or of the one that it will have."""
    return run.cell.scenario_name if run.cell else run.run_spec.scenario_name


def of_category(runs: Sequence[BoardRun], category: str) -> tuple[BoardRun, ...]:
    """The runs of a category; those without a cell go where their scenario's others do."""
    if category == ALL:
        return tuple(runs)
    scenarios = {
        scenario_of(run)
        for run in runs
        if run.cell and category in _labels(run.cell.category, run.cell.subcategory)
    }
    return tuple(run for run in runs if scenario_of(run) in scenarios)


def sort_keys(board: Leaderboard) -> dict[str, SortKey]:
    """What the rows can be sorted by: label to key."""
    keys: dict[str, SortKey] = {
        BY_RANK: lambda row: (),  # the board's own order, since sorting is stable
        BY_NAME: lambda row: (row.name.casefold(),),
    }
    return keys | {name: _by_mean(index) for index, name in enumerate(column_names(board))}


def column_names(board: Leaderboard) -> list[str]:
    """A name of its own for each benchmark."""
    names = [column.display_name for column in board.columns]
    return [
        name if names.count(name) == 1 and name not in (BY_RANK, BY_NAME) else _full_name(column)
        for name, column in zip(names, board.columns, strict=True)
    ]


def of_column(board: Leaderboard, index: int) -> Leaderboard:
    """The board with one benchmark alone."""
    rows = tuple(replace(row, cells=row.cells[index : index + 1]) for row in board.rows)
    return replace(board, columns=board.columns[index : index + 1], rows=rows)


def _full_name(column: BoardColumn) -> str:
    """A name of its own for one of several metrics or splits of a scenario."""
    parts = (column.main_metric, column.split, column.scenario_name)
    return f"{column.display_name} ({', '.join(parts)})"


def _by_mean(index: int) -> SortKey:
    """The best first by the metric's direction; then what no rank counts, then what is missing."""

    def key(row: BoardRow) -> tuple[object, ...]:
        cell = row.cells[index]
        if cell is None or cell.mean is None:
            return (2, 0.0)
        return (not cell.is_counted, cell.mean if cell.lower_is_better else -cell.mean)

    return key


def arranged(board: Leaderboard, sort: str) -> Leaderboard:
    """The board with its rows in this order."""
    return replace(board, rows=tuple(sorted(board.rows, key=sort_keys(board)[sort])))
