"""A leaderboard as a report: the means, the paired differences, and every number as data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import Table, interval_text, number_text
from medhelm_spark.statistics.board import BoardColumn, BoardPair, BoardRow, Leaderboard
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.ranking import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE

EMPTY = "The board is empty: no run has a summary."
PAIRS_HEADER = ("Benchmark", "First", "Second", "First - second", "n", "Dropped", "p (McNemar)")
PAIRS_TITLE = "Paired differences on the same instances"
BELOW_FLOOR = "under the floor"
SMALLEST_P = 0.001

# Of a cell's fields these are used to arrange the board, or written by `_cell_record` as text.
_NOT_AS_IS = ("comparability", "configuration", "parts", "part", "made_at", "run_spec_ids")
_CELL_FIELDS = tuple(field.name for field in fields(BoardCell) if field.name not in _NOT_AS_IS)
_COMPUTED = (
    MEDHELM_MEAN_WIN_RATE,
    "rank",
    "coverage",
    "bound_low",
    "bound_high",
    "mean_with_model_failures",
    "comparability",
    "parts",
)


def render(board: Leaderboard, output_format: str) -> str:
    """The board in one of `report.FORMATS`, with a newline at its end."""
    return formatted(board_report(board), output_format)


def board_report(board: Leaderboard) -> Report:
    """The board and its paired differences; in CSV the field `record` tells the two apart."""
    cells, pairs = _cell_records(board), [_pair_record(pair) for pair in board.pairs]
    pair_fields = [field.name for kind in (BoardPair, PairedDifference) for field in fields(kind)]
    names = dict.fromkeys(["record", MEAN_WIN_RATE, *_CELL_FIELDS, *_COMPUTED, *pair_fields])
    names.pop("difference")
    return Report(
        tables=[_grid(board), *([_pairs_table(board)] if board.pairs else [])],
        content={
            "models": [_model_record(row) for row in board.rows],
            "cells": cells,
            "pairs": pairs,
            "notes": list(board.notes),
        },
        fields=list(names),
        records=[
            *({"record": "cell", **record} for record in cells),
            *({"record": "pair", **record} for record in pairs),
        ],
        if_empty="" if board.rows else _if_empty(board.notes),
    )


def _if_empty(notes: Sequence[str]) -> str:
    """Why there is nothing to show: what is known of it, else that nothing was summarised."""
    return " ".join(["The board is empty.", *notes]) if notes else EMPTY


def _grid(board: Leaderboard) -> Table:
    return Table(
        header=["Model", "Win rate", *(column.display_name for column in board.columns)],
        subheader=["", "", *(_metric_text(column) for column in board.columns)],
        rows=[
            [row.name, number_text(row.mean_win_rate), *map(_cell_text, row.cells)]
            for row in board.rows
        ],
        notes=board.notes,
        num_fixed=2,
    )


def _metric_text(column: BoardColumn) -> str:
    """`exact_match (primary endpoint, margin 0.02)`."""
    remarks = {
        "primary endpoint": column.is_primary,
        f"margin {column.margin}": column.margin is not None,
        "lower is better": column.lower_is_better,
    }
    applying = ", ".join(remark for remark, applies in remarks.items() if applies)
    return f"{column.main_metric} ({applying})" if applying else column.main_metric


def _cell_text(cell: BoardCell | None) -> str:
    """`0.412* [0.38, 0.45] n=990/1000 cov 0.83 unread 0.05` and remarks; `-` where nothing ran."""
    if cell is None:
        return "-"
    demo_mark = "*" if cell.demo_judge else ""
    mean = "unscored" if cell.mean is None else f"{cell.mean:.3f}{demo_mark}"
    return " ".join(
        [mean + interval_text(cell.ci_low, cell.ci_high), *counts(cell), *remarks(cell)]
    )


def counts(cell: BoardCell) -> Iterator[str]:
    """`n=990/1000`, then `cov 0.83` and `unread 0.05` where the share is not 1 or 0."""
    total = f"/{cell.total}" if cell.num_unscored else ""
    yield f"n={cell.count}{total}"
    if cell.jury_coverage is not None and cell.jury_coverage < 1:
        yield f"cov {cell.jury_coverage:.2f}"
    if cell.unreadable:
        yield f"unread {cell.unreadable:.2f}"


def remarks(cell: BoardCell) -> Iterator[str]:
    """Bounds where too few answers are scored, prompts too long, and why it is not compared."""
    if cell.is_below_floor:
        bounds = cell.bounds
        yield f"{BELOW_FLOOR}: {bounds[0]:.2f} to {bounds[1]:.2f}" if bounds else BELOW_FLOOR
    if cell.num_model_failures:
        mean = cell.mean_with_failures
        wrong = "" if mean is None else f", {mean:.3f} if wrong"
        yield f"{cell.num_model_failures} too long{wrong}"
    if cell.differs:
        yield f"({cell.differs})"


def _pairs_table(board: Leaderboard) -> Table:
    methods = dict.fromkeys(pair.difference.ci_method for pair in board.pairs)
    return Table(
        header=PAIRS_HEADER,
        rows=[_pair_cells(pair) for pair in board.pairs],
        title=PAIRS_TITLE,
        notes=[f"Intervals of differences: {'; '.join(method.label for method in methods)}."],
    )


def _pair_cells(pair: BoardPair) -> tuple[str, ...]:
    result = pair.difference
    mean = "-" if result.mean_difference is None else f"{result.mean_difference:+.3f}"
    is_tiny = result.p_value is not None and result.p_value < SMALLEST_P
    return (
        f"{pair.display_name}: {pair.main_metric}",
        pair.first,
        pair.second,
        mean + interval_text(result.ci_low, result.ci_high),
        str(result.n),
        str(result.num_dropped),
        f"<{SMALLEST_P}" if is_tiny else number_text(result.p_value),
    )


def _cell_records(board: Leaderboard) -> list[dict[str, object]]:
    return [
        {**_ranking(row), **_cell_record(cell)} for row in board.rows for cell in row.cells if cell
    ]


def _ranking(row: BoardRow) -> dict[str, object]:
    return {
        MEAN_WIN_RATE: row.mean_win_rate,
        MEDHELM_MEAN_WIN_RATE: row.medhelm_mean_win_rate,
        "rank": row.rank,
    }


def _cell_record(cell: BoardCell) -> dict[str, object]:
    """Every number of a cell, with those that are computed from it."""
    low, high = cell.bounds or (None, None)
    return {
        **{name: getattr(cell, name) for name in _CELL_FIELDS},
        "coverage": cell.coverage,
        "bound_low": low,
        "bound_high": high,
        "mean_with_model_failures": cell.mean_with_failures,
        "comparability": None if cell.comparability is None else dict(cell.comparability),
        "parts": [part.part for part in cell.parts],
    }


def _model_record(row: BoardRow) -> dict[str, object]:
    return {
        "model_deployment": row.model_deployment,
        "model": row.model,
        "variant": row.variant,
        **_ranking(row),
        "lacks": list(row.lacks),
    }


def _pair_record(pair: BoardPair) -> dict[str, object]:
    record = asdict(pair)
    difference = record.pop("difference")
    return {**record, **difference}
