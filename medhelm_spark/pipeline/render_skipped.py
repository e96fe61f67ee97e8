"""The runs that were left out because their data was not available: one line per scenario."""

from collections.abc import Sequence

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.render.table import TextTable, html_table, text_table

HEADER = ("Scenario", "Runs", "Why")


def render_skipped(rows: Sequence[LeftOut]) -> str:
    """The rows as aligned text; empty without rows."""
    return text_table(_table(rows)) if rows else ""


def skipped_html(rows: Sequence[LeftOut]) -> str:
    """The same as HTML."""
    table = _table(rows)
    return html_table(table.header, table.rows, title=table.title) if rows else ""


def _table(rows: Sequence[LeftOut]) -> TextTable:
    runs: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row.scenario_name, row.reason)
        runs[key] = runs.get(key, 0) + 1
    scenarios = counted(len({name for name, _ in runs}), "scenario")
    return TextTable(
        header=HEADER,
        rows=[(name, str(count), reason) for (name, reason), count in runs.items()],
        title=f"LEFT OUT, because the data could not be had: {scenarios}",
    )
