"""Records as a Report: the helper that fills share."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from medhelm_spark.render.report import Report
from medhelm_spark.render.table import TextTable

Labels = Mapping[str, str]
"""Fields of records, each with the heading that a table gives it."""


def listed(
    records: Iterable[Mapping[str, Any]],
    labels: Labels,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    if_empty: str = "",
) -> Report:
    """Records as one table, and as they are.

    Args:
        records: each with the fields of `labels`, and further ones that no table shows.
        labels: the columns of the table.
        title: above the table.
        notes: below it.
        if_empty: the text in place of the table where there is no record.
    """
    rows = [dict(record) for record in records]
    texts = [[text_of(row.get(name)) for name in labels] for row in rows]
    table = TextTable(title=title, header=list(labels.values()), rows=texts, notes=notes)
    return Report(
        tables=[table] if rows else [],
        content={"records": rows, "notes": list(notes)},
        fields=list(dict.fromkeys([*labels, *(name for row in rows for name in row)])),
        records=rows,
        if_empty="" if rows else if_empty or "Nothing is on record.",
    )


def facts(lines: Mapping[str, Any], *, notes: Sequence[str] = ()) -> Report:
    """Names and values as one table; a value that is empty is left out of the table."""
    rows = [(name, text_of(value)) for name, value in lines.items() if value not in ("", None)]
    return Report(
        tables=[TextTable(header=("", ""), rows=rows, notes=notes)],
        content={"facts": dict(lines), "notes": list(notes)},
        fields=list(lines),
        records=[dict(lines)],
    )


def unavailable(why: str) -> Report:
    """A Report without numbers, with the reason."""
    record = {"not_available": why}
    return Report(
        tables=[],
        content=record,
        fields=["not_available"],
        records=[record],
        if_empty=f"Not available: {why}",
    )


def without_feature(name: str) -> Report:
    """That the installation is without a feature."""
    return unavailable(f"this installation is without the feature {name!r}.")


def text_of(value: object) -> str:
    """A value as a table shows it."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(text_of, value)) or "-"
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return str(value)
