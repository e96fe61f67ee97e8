"""A report in any of the formats: one definition of each format for all that is shown."""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.errors import UnknownNameError
from medhelm_spark.render.table import (
    TextTable,
    html_table,
    markdown_table,
    markdown_text,
    text_table,
)

Record = Mapping[str, object]
"""Field name to value, of the types of JSON."""


ROUNDED = "Numbers are rounded for reading; as CSV or JSON they are exact."


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Tables for people, and the same as data with every number at full precision.

    `content` is the JSON document; `records`, with their `fields` in order, are the lines of CSV.
    `if_empty` is shown instead of the tables, in text and HTML, where there is nothing to show.
    `banner` is a warning: it comes first in every format, in CSV as a first field. `filters`,
    where some are in use, say what was left out, and come after it. `rounding` says, in a file of
    text, where the exact numbers are. `lead` are sentences above the tables, their summary.
    """

    tables: Sequence[TextTable]
    content: Record
    fields: Sequence[str]
    records: Sequence[Record]
    if_empty: str = ""
    banner: str = ""
    filters: str = ""
    rounding: str = ""
    lead: Sequence[str] = ()

    @property
    def notices(self) -> dict[str, str]:
        """Banner and filters as data, where there are any."""
        both = {"banner": self.banner, "filters": self.filters}
        return {name: value for name, value in both.items() if value}

    @property
    def notice_lines(self) -> list[str]:
        """Banner and filters as lines above the tables, where there are any."""
        filters = f"Filters in use: {self.filters}." if self.filters else ""
        return [line for line in (self.banner, filters) if line]


def _as_text(report: Report) -> str:
    parts = [report.if_empty] if report.if_empty else map(text_table, report.tables)
    lead = "\n".join(report.lead)
    return "\n\n".join(part for part in (*report.notice_lines, lead, *parts) if part)


def _as_markdown(report: Report) -> str:
    tables = map(markdown_table, report.tables)
    notices = map(markdown_text, (*report.notice_lines, *report.lead))
    parts = (*notices, *tables, markdown_text(report.rounding))
    return "\n\n".join(part for part in parts if part)


def _as_html(report: Report) -> str:
    lines = [f"<p><strong>{html.escape(line)}</strong></p>" for line in report.notice_lines]
    lines += [f"<p>{html.escape(line)}</p>" for line in report.lead]
    if report.if_empty:
        return "\n".join([*lines, f"<p>{html.escape(report.if_empty)}</p>"])
    tables = (
        html_table(table.labels, table.rows, table.notes, title=table.title, strong=table.strong)
        for table in report.tables
    )
    return "\n".join([*lines, *tables])


def _as_json(report: Report) -> str:
    content = {**report.notices, **report.content}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _as_csv(report: Report) -> str:
    lines = io.StringIO()
    header = [*report.notices, *report.fields]
    writer = csv.DictWriter(lines, header, lineterminator="\n")
    writer.writerow({name: unformulated(name) for name in header})
    for record in report.records:
        cells = _flat({**report.notices, **record}).items()
        writer.writerow({name: unformulated(value) for name, value in cells})
    return lines.getvalue().removesuffix("\n")


def _flat(record: Record) -> dict[str, object]:
    """A record for CSV and Parquet: lists and mappings are JSON text there."""
    return {
        name: json.dumps(value, sort_keys=True) if isinstance(value, dict | list | tuple) else value
        for name, value in record.items()
    }


def unformulated(value: object) -> object:
    """A cell that a spreadsheet shows and does not compute.

    A text that begins as formulas do gets an apostrophe; numbers stay as they are.

    >>> unformulated("=HYPERLINK(A1)"), unformulated("-0.5"), unformulated(-0.5)
    ("'=HYPERLINK(A1)", '-0.5', -0.5)
    """
    if not isinstance(value, str):
        return value
    value = value.replace("\r\n", "\n").replace("\r", "\n")  # which the writer does not quote
    if not value.startswith(_FORMULAS):
        return value
    return value if _NUMBER.fullmatch(value) else f"'{value}"


_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How formulas begin; in full width too, which spreadsheets take for the same."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.IGNORECASE)


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "table": _as_text,
    "json": _as_json,
    "csv": _as_csv,
    "md": _as_markdown,
    "html": _as_html,
}


def formatted(report: Report, output_format: str) -> str:
    """The report in one of `FORMATS`, with a newline at its end.

    Raises:
        UnknownNameError: There is no such format.
    """
    if output_format not in FORMATS:
        raise UnknownNameError("board format", output_format, FORMATS)
    return FORMATS[output_format](report) + "\n"


def parquet(report: Report, kinds: Mapping[str, type]) -> bytes:
    """The records as one Parquet file; banner and filters are the file's metadata.

    `kinds` names the Python type of each field, so that a column has the same type in every file,
    whether or not it has values.
    """
    import pyarrow as pa  # not at the top: no other format needs it
    from pyarrow import parquet as files

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema(
        [pa.field(name, types.get(kinds[name], pa.string())) for name in report.fields],
        metadata=report.notices,
    )
    file = io.BytesIO()
    files.write_table(pa.Table.from_pylist(list(map(_flat, report.records)), schema), file)
    return file.getvalue()
