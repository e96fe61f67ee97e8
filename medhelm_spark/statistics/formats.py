"""A leaderboard as text: an aligned table, Markdown, or every number as JSON or CSV."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields

from medhelm_spark.errors import UnknownNameError
from medhelm_spark.statistics.board import (
    BoardCell,
    BoardColumn,
    BoardPair,
    BoardRow,
    Leaderboard,
)
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.text_table import GAP, aligned, interval, markdown_line

WIDTH = 120
"""Characters of a line of the text table; further columns go into a further block."""

_PAIR_HEADER = ("Benchmark", "First", "Second", "First - second", "n", "Dropped", "p (McNemar)")
_SMALLEST_P = 0.001


def _cell_text(cell: BoardCell | None) -> str:
    """`0.412* [0.38, 0.45] n=990/1000 cov 0.83 unread 0.05`; `-` where nothing was run."""
    if cell is None:
        return "-"
    total = f"/{cell.count + cell.num_unscored}" if cell.num_unscored else ""
    mark = "*" if cell.demo_judge else ""
    value = "unscored" if cell.mean is None else f"{cell.mean:.3f}{mark}"
    is_partial = cell.jury_coverage is not None and cell.jury_coverage < 1
    coverage = f" cov {cell.jury_coverage:.2f}" if is_partial else ""
    unread = f" unread {cell.unreadable:.2f}" if cell.unreadable else ""
    return f"{value}{interval(cell.ci_low, cell.ci_high)} n={cell.count}{total}{coverage}{unread}"


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
        ["Model", "", *(row.model_deployment for row in board.rows)],
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
        {**asdict(cell), "mean_win_rate": row.mean_win_rate}
        for row in board.rows
        for cell in row.cells
        if cell
    ]


def _pair_records(board: Leaderboard) -> list[dict[str, object]]:
    records = []
    for pair in board.pairs:
        record = asdict(pair)
        difference = record.pop("difference")
        records.append({**record, **difference})
    return records


def _json(board: Leaderboard) -> str:
    content = {
        "cells": _cell_records(board),
        "pairs": _pair_records(board),
        "notes": list(board.notes),
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(board: Leaderboard) -> str:
    """Cells and pairs in one file, told apart by the column `record`."""
    names = [f.name for kind in (BoardCell, BoardPair, PairedDifference) for f in fields(kind)]
    header = dict.fromkeys(["record", "mean_win_rate", *names])
    header.pop("difference")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows({"record": "cell", **record} for record in _cell_records(board))
    writer.writerows({"record": "pair", **record} for record in _pair_records(board))
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
