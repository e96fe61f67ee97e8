"""Every stat of every run as a report: one line each, with interval and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from medhelm_spark.board.stat_rows import StatRow
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, number_text

_FIRST = (
    *("run_name", "model_deployment", "model", "scenario_name", "display_name", "part", "metric"),
    *("lower_is_better", "is_main", "split", "perturbation", "computed_on"),
    *("mean", "ci_low", "ci_high", "ci_method", "count", "num_unscored", "denominator"),
)
"""Files have these in this order; the others of a mean come next, then the row's own."""
FIELDS = tuple(dict.fromkeys((*_FIRST, *(field.name for field in fields(StatRow)))))
HEADER = ("Benchmark", "Metric", "Split", "Change", "Model", "Mean", "n", "Interval")
EMPTY = "There are no stats: no run has a summary."
NOTES = (
    "One line for each stat of each run; no model is compared or ranked. (main): the metric of the "
    "board.",
    "[low, high] is the 95 % interval; n is the number of answers, a of b where the stat is a "
    "share of a part of them, /b where b were asked for and not all have a value.",
)


def render_stats(rows: Sequence[StatRow], output_format: str, *, banner: str = "") -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end; `banner` is above."""
    return formatted(stats_report(rows, banner), output_format)


def stats_report(rows: Sequence[StatRow], banner: str = "") -> Report:
    """The rows as a table for people, and as data with every field."""
    records = [record(row) for row in rows]
    return Report(
        tables=[TextTable(header=HEADER, rows=[_cells(row) for row in rows], notes=NOTES)],
        content={"stats": records, "notes": list(NOTES)},
        fields=FIELDS,
        records=records,
        if_empty="" if rows else EMPTY,
        banner=banner,
        rounding=ROUNDED if rows else "",
    )


def record(row: StatRow) -> Mapping[str, object]:
    """A row as data; a time as text."""
    made_at = row.made_at.isoformat() if row.made_at else None
    return {**{name: getattr(row, name) for name in FIELDS}, "made_at": made_at}


def _cells(row: StatRow) -> tuple[str, ...]:
    change = f"{row.perturbation} {row.computed_on}".strip()
    return (
        f"{row.display_name}: {row.part}" if row.part else row.display_name,
        f"{row.metric} (main)" if row.is_main else row.metric,
        row.split,
        change or "-",
        row.model_deployment,
        number_text(row.mean) + interval_text(row.ci_low, row.ci_high),
        size_text(row),
        "-" if row.ci_low is None else row.ci_method.replace("_", " "),
    )


def size_text(row: StatRow) -> str:
    """`990/1000`, `90 of 300`, `1047 (55 clusters)`: what a stat rests on."""
    part = "" if row.num_counted == row.count else f"{row.num_counted} of "
    total = f"/{row.count + row.num_unscored}" if row.num_unscored else ""
    clusters = f" ({row.num_clusters} clusters)" if row.num_clusters else ""
    return f"{part}{row.count}{total}{clusters}"
