"""The results of a share as one page that a person reads, made of the shared numbers alone."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from medhelm_spark.render.html_page import TABLES_STYLE, html_page
from medhelm_spark.render.report import ROUNDED
from medhelm_spark.render.table import TextTable, html_table, interval_text, mean_text

HIDDEN = "hidden"
"""In place of a number that few patients, or another number, give."""


def report_of(results: pa.Table, release: str, share: str, lines: Sequence[str]) -> str:
    """The page: the main metric of every model and benchmark, then all metrics.

    Args:
        results: the table `results` of the share.
        release: its name.
        share: the id of the share, which no other share's page has.
        lines: on the release's status and approval, above the tables.
    """
    rows = results.to_pylist()
    tables = [board_table([row for row in rows if row["is_main"]]), _metrics(rows)]
    title = f"Results of release {release}"
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(share)}</p>",
        *(f"<p>{html.escape(line)}</p>" for line in lines),
        *(
            html_table(each.labels, each.rows, each.notes, title=each.title, strong=each.strong)
            for each in tables
        ),
    ]
    return html_page(title, TABLES_STYLE, "\n".join(parts))


def board_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row for each model, a column for each benchmark, and each part of one."""
    columns = list(dict.fromkeys(map(_column, rows)))
    cells = {(row["model"], _column(row)): _cell(row) for row in rows}
    models = sorted({row["model"] for row in rows})
    return TextTable(
        header=["Model", *(" ".join(filter(None, column[:2])) for column in columns)],
        subheader=["", *(column[2] for column in columns)],
        rows=[
            [model, *(cells.get((model, column), "-") for column in columns)] for model in models
        ],
        title="Main metrics",
        notes=[f"[low, high]: 95 % intervals; n: answers with a score. {ROUNDED}"],
    )


def _column(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["benchmark"], row["part"], row["metric"]


def _metrics(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    return TextTable(
        header=["Benchmark", "Part", "Metric", "Better", "Model", "Mean"],
        rows=[
            [
                row["benchmark"],
                row["part"],
                row["metric"],
                "lower" if row["lower_is_better"] else "higher",
                row["model"],
                _cell(row),
            ]
            for row in rows
        ],
        title="All metrics",
    )


def _cell(row: Mapping[str, Any]) -> str:
    if row["is_hidden"]:
        return HIDDEN
    interval = interval_text(row["ci_low"], row["ci_high"])
    return f"{mean_text(row['mean'])}{interval} n={row['count']}"
