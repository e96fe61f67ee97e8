"""A leaderboard as text: an aligned table, Markdown, or every number as JSON or CSV."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields

from medhelm_spark.errors import UnknownNameError
from medhelm_spark.render.text_table import GAP, aligned, interval, markdown_line
from medhelm_spark.statistics.board import BoardColumn, BoardPair, BoardRow, Leaderboard
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.winrate import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE

WIDTH = 120
"""Characters of a line of the text table; further columns go into a further block."""

_PAIR_HEADER = ("Benchmark", "First", "Second", "First - second", "n", "Dropped", "p (McNemar)")
_SMALLEST_P = 0.001
FLOOR = "under the floor"

_INSIDE = ("comparability", "configuration", "parts", "part", "made_at", "run_spec_ids")
_CELL_NAMES = tuple(field.name for field in fields(BoardCell) if field.name not in _INSIDE)
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


def _cell_text(cell: BoardCell | None) -> str:
    """`0.412* [0.38, 0.45] n=990/1000 cov 0.83 unread 0.05`; `-` where nothing was run.

    What sets a cell apart follows: its bounds where too few answers have a score, what the model's
    own window could not hold, and in brackets why it is not compared.
    """
    if cell is None:
        return "-"
    total = f"/{cell.count + cell.num_unscored}" if cell.num_unscored else ""
    mark = "*" if cell.demo_judge else ""
    value = "unscored" if cell.mean is None else f"{cell.mean:.3f}{mark}"
    is_partial = cell.jury_coverage is not None and cell.jury_coverage < 1
    coverage = f" cov {cell.jury_coverage:.2f}" if is_partial else ""
    unread = f" unread {cell.unreadable:.2f}" if cell.unreadable else ""
    counts = f"n={cell.count}{total}{coverage}{unread}"
    return f"{value}{interval(cell.ci_low, cell.ci_high)} {counts}" + "".join(
        f" {words}" for words in remarks(cell)
    )


def remarks(cell: BoardCell) -> tuple[str, ...]:
    """What sets a cell apart from those that count without more ado."""
    said = []
    if cell.is_below_floor:
        bounds = cell.bounds
        said.append(f"under the floor: {bounds[0]:.2f} to {bounds[1]:.2f}" if bounds else FLOOR)
    if cell.num_model_failures:
        mean = cell.mean_with_failures
        wrong = "" if mean is None else f", {mean:.3f} if wrong"
        said.append(f"{cell.num_model_failures} too long{wrong}")
    if cell.differs:
        said.append(f"({cell.differs})")
    return tuple(said)


def _win_rate_text(row: BoardRow) -> str:
    return "-" if row.mean_win_rate is None else f"{row.mean_win_rate:.3f}"


def _metric_text(column: BoardColumn) -> str:
    said = {
        "primary endpoint": column.is_primary,
        f"margin {column.margin}": column.margin is not None,
        "lower is better": column.lower_is_better,
    }
    beside = ", ".join(words for words, applies in said.items() if applies)
    return f"{column.main_metric} ({beside})" if beside else column.main_metric


def _pair_texts(pair: BoardPair) -> tuple[str, ...]:
    found = pair.difference
    mean = "-" if found.mean_difference is None else f"{found.mean_difference:+.3f}"
    p = "-" if found.p_value is None else f"{found.p_value:.3f}"
    if found.p_value is not None and found.p_value < _SMALLEST_P:
        p = f"<{_SMALLEST_P}"
    benchmark = f"{pair.display_name}: {pair.main_metric}"
    difference = mean + interval(found.ci_low, found.ci_high)
    return (benchmark, pair.first, pair.second, difference, str(found.n), str(found.num_dropped), p)


def _pair_note(board: Leaderboard) -> str:
    """How the intervals of the differences were made."""
    methods = dict.fromkeys(pair.difference.ci_method for pair in board.pairs)
    return f"Intervals of differences: {'; '.join(one.label for one in methods)}."


def _grid(board: Leaderboard) -> list[list[str]]:
    """All texts by column: each column its two header lines, then one text per row."""
    return [
        ["Model", "", *(row.name for row in board.rows)],
        ["Win rate", "", *(_win_rate_text(row) for row in board.rows)],
        *(
            [column.display_name, _metric_text(column)]
            + [_cell_text(row.cells[index]) for row in board.rows]
            for index, column in enumerate(board.columns)
        ),
    ]


def _blocks(grid: Sequence[Sequence[str]], num_fixed: int) -> list[list[Sequence[str]]]:
    """Cut columns into blocks of at most WIDTH characters, each led by the fixed columns."""
    fixed, blocks = list(grid[:num_fixed]), [list(grid[:num_fixed])]
    for column in grid[num_fixed:]:
        block = [*blocks[-1], column]
        width = sum(max(map(len, texts)) + len(GAP) for texts in block) - len(GAP)
        if width > WIDTH and len(blocks[-1]) > num_fixed:
            blocks.append([*fixed, column])
        else:
            blocks[-1] = block
    return blocks


def _table(board: Leaderboard) -> str:
    if not board.rows:
        return "The board is empty: no run has a summary.\n"
    parts = ["\n".join(aligned(block, 2)) for block in _blocks(_grid(board), num_fixed=2)]
    if board.notes:
        parts.append("\n".join(board.notes))
    if board.pairs:
        texts = zip(_PAIR_HEADER, *map(_pair_texts, board.pairs), strict=True)
        lines = aligned([list(column) for column in texts], 1)
        title = "Paired differences on the same instances"
        parts.append("\n".join([title, "", *lines, "", _pair_note(board)]))
    return "\n\n".join(parts) + "\n"


def _markdown(board: Leaderboard) -> str:
    names, metrics, *rows = zip(*_grid(board), strict=True)
    header = [
        f"{name} ({metric})" if metric else name
        for name, metric in zip(names, metrics, strict=True)
    ]
    lines = [
        markdown_line(header),
        markdown_line(["---"] * len(header)),
        *map(markdown_line, rows),
    ]
    for note in board.notes:
        lines += ["", note.replace("*", "\\*")]
    if board.pairs:
        lines += ["", "Paired differences on the same instances", "", markdown_line(_PAIR_HEADER)]
        lines += [markdown_line(["---"] * len(_PAIR_HEADER))]
        lines += [markdown_line(_pair_texts(pair)) for pair in board.pairs]
        lines += ["", _pair_note(board)]
    return "\n".join(lines) + "\n"


def _cell_records(board: Leaderboard) -> list[dict[str, object]]:
    return [
        {**_row_record(row), **_cell_record(cell)}
        for row in board.rows
        for cell in row.cells
        if cell
    ]


def _row_record(row: BoardRow) -> dict[str, object]:
    return {
        MEAN_WIN_RATE: row.mean_win_rate,
        MEDHELM_MEAN_WIN_RATE: row.medhelm_mean_win_rate,
        "rank": row.rank,
    }


def _cell_record(cell: BoardCell) -> dict[str, object]:
    """Every number of a cell, those that are computed from it too."""
    low, high = cell.bounds or (None, None)
    return {
        **{name: getattr(cell, name) for name in _CELL_NAMES},
        "coverage": cell.coverage,
        "bound_low": low,
        "bound_high": high,
        "mean_with_model_failures": cell.mean_with_failures,
        "comparability": None if cell.comparability is None else dict(cell.comparability),
        "parts": [part.part for part in cell.parts],
    }


def _model_records(board: Leaderboard) -> list[dict[str, object]]:
    return [
        {
            "model_deployment": row.model_deployment,
            "model": row.model,
            "variant": row.variant,
            **_row_record(row),
            "lacks": list(row.lacks),
        }
        for row in board.rows
    ]


def _pair_records(board: Leaderboard) -> list[dict[str, object]]:
    records = []
    for pair in board.pairs:
        record = asdict(pair)
        difference = record.pop("difference")
        records.append({**record, **difference})
    return records


def _as_text(record: Mapping[str, object]) -> dict[str, object]:
    """A record for CSV: what has an inside is JSON text there."""
    return {
        name: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
        for name, value in record.items()
    }


def _json(board: Leaderboard) -> str:
    content = {
        "models": _model_records(board),
        "cells": _cell_records(board),
        "pairs": _pair_records(board),
        "notes": list(board.notes),
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(board: Leaderboard) -> str:
    """Cells and pairs in one file, told apart by the column `record`."""
    cells = [_as_text(record) for record in _cell_records(board)]
    pairs = _pair_records(board)
    names = [f.name for kind in (BoardPair, PairedDifference) for f in fields(kind)]
    header = dict.fromkeys(["record", MEAN_WIN_RATE, *_CELL_NAMES, *_COMPUTED, *names])
    header.pop("difference")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows({"record": "cell", **record} for record in cells)
    writer.writerows({"record": "pair", **record} for record in pairs)
    return text.getvalue()


FORMATS: Mapping[str, Callable[[Leaderboard], str]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "md": _markdown,
}


def render(board: Leaderboard, output_format: str) -> str:
    """The board as text in one of `FORMATS`, with a newline at its end."""
    if output_format not in FORMATS:
        raise UnknownNameError("board format", output_format, FORMATS)
    return FORMATS[output_format](board)
