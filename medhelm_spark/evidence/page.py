"""Evidence as one page that prints: the scheme's items in order, each with what fills it."""

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from medhelm_spark.evidence.fills import FLOW
from medhelm_spark.evidence.flow_diagram import flow_svg
from medhelm_spark.evidence.scheme import UNCHECKED, EvidenceItem, StoredScheme
from medhelm_spark.render.html_page import html_page
from medhelm_spark.render.report import ROUNDED, Report
from medhelm_spark.render.table import TextTable, html_table
from medhelm_spark.version import VERSION

WHAT_IT_IS = "Filled from stored results; no claim of compliance, no endorsement."
FOR_WHOM = (
    "For the site's own committee: numbers of few cases are shown as its boards show them. "
    "What may leave the site is made by: medhelm-spark release share."
)
BLANK = "To be written by the site"

FILLED, NOT_AVAILABLE, TO_WRITE = "filled", "not available", "to be written by the site"
"""The states of an item."""

_STYLE = """
:root { color-scheme: light; }
body { background: #fff; color: #16222e; font: 15px/1.5 system-ui, sans-serif;
  margin: 2rem auto; max-width: 82rem; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .2rem; border-top: 2px solid #17507f;
  padding-top: .7rem; }
p { margin: .3rem 0; } a { color: #17507f; }
.status { border-left: 4px solid #b26a00; background: #fdf6ea; color: #573600;
  padding: .5rem .9rem; margin: .6rem 0; }
.what { border-left: 4px solid #17507f; background: #f0f5fa; padding: .5rem .9rem;
  margin: .6rem 0; }
.source { color: #51616f; font-size: .86rem; }
.blank { border: 1px dashed #b26a00; padding: .6rem .9rem 2.6rem; margin: .6rem 0; }
.blank b { color: #8a5200; }
.none { color: #51616f; font-style: italic; }
.wide { overflow-x: auto; margin: .5rem 0 .9rem; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
th, td { border-bottom: 1px solid #d8dfe5; padding: .25rem .9rem .25rem 0; text-align: left;
  vertical-align: top; overflow-wrap: break-word; max-width: 26rem; }
th { color: #51616f; font-weight: 600; }
.wide p { color: #51616f; font-size: .82rem; }
svg { display: block; max-width: 100%; height: auto; font-size: 13px; }
svg .box { fill: #f0f5fa; stroke: #17507f; } svg .arrow { fill: none; stroke: #51616f; }
svg .head { fill: #51616f; font-weight: 600; } svg .count { font-weight: 600; }
svg .lost { fill: #8a5200; font-size: 11px; } svg .name { fill: #16222e; font-size: 12px; }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  html { font-size: 11px; } body { margin: 0; max-width: none; padding: 0; font-size: 1rem; }
  h2 { break-after: avoid; } .source { break-after: avoid; }
  tr, .blank, svg { break-inside: avoid; } thead { display: table-header-group; }
  .wide { overflow: visible; } table { font-size: .78rem; }
  th, td { padding: .15rem .5rem .15rem 0; overflow-wrap: anywhere; }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledScheme:
    """A scheme beside the Reports that fill it; what a page and a data file are made of."""

    title: str
    stored: StoredScheme
    release: Mapping[str, object]
    """Facts of the release by name: release, status, manifest hash and so on."""
    standing: str
    """Whether anybody approved the release, or that it is withdrawn."""
    banner: str
    """That the release is withdrawn; empty otherwise."""
    reports: Mapping[str, Report]
    """By the name of the fill; all that items name, and perhaps more."""
    links: Mapping[str, str]
    """Further files of the folder by their labels."""

    def state(self, item: EvidenceItem) -> str:
        """Whether an item is filled, has nothing stored, or waits for a person."""
        if any(not self.reports[name].if_empty for name in item.fill):
            return FILLED
        return TO_WRITE if item.human else NOT_AVAILABLE

    @property
    def as_data(self) -> dict[str, Any]:
        """All of it, every number exact."""
        scheme = self.stored.scheme
        used = list(dict.fromkeys(name for item in scheme.items for name in item.fill))
        banner = {"banner": self.banner} if self.banner else {}
        return {
            "what_it_is": WHAT_IT_IS,
            **banner,
            "title": self.title,
            "standing": self.standing,
            "release": dict(self.release),
            "scheme": {
                "name": self.stored.name,
                "title": scheme.title,
                "document": scheme.document,
                "sha256": self.stored.sha256,
            },
            "items": [self._item_as_data(item) for item in scheme.items],
            "fills": {name: _as_data(self.reports[name]) for name in used},
        }

    def _item_as_data(self, item: EvidenceItem) -> dict[str, Any]:
        return {
            "id": item.id,
            "title": item.title,
            "source": {
                "document": item.source.document or self.stored.scheme.document,
                "item": item.source.item,
                "checked": item.source.checked,
            },
            "state": self.state(item),
            "filled_by": list(item.fill),
            "to_be_written": item.write or None,
            "written": None,
        }


def _as_data(report: Report) -> dict[str, Any]:
    empty = {"nothing": report.if_empty} if report.if_empty else {}
    return {**empty, **report.content}


def page(filled: FilledScheme) -> str:
    """The page: what it is, what is filled, then every item; no script, nothing to fetch."""
    parts = [
        f"<h1>{_text(filled.title)}</h1>",
        f'<p class="what">{_text(WHAT_IT_IS)}</p>',
        f'<p class="status">{_text(filled.standing)}</p>',
        f"<p>{_text(FOR_WHOM)}</p>",
        _facts({**filled.release, "Scheme": _scheme_text(filled), "Made by": _MADE_BY}),
        *_links(filled.links),
        _overview(filled),
        *_items(filled),
        f"<p>{_text(ROUNDED)}</p>",
    ]
    return html_page(filled.title, _STYLE, "\n".join(parts))


_MADE_BY = f"medhelm-spark {VERSION}"


def _scheme_text(filled: FilledScheme) -> str:
    return f"{filled.stored.scheme.title} ({filled.stored.name}, SHA-256 {filled.stored.sha256})"


def _text(value: object) -> str:
    return html.escape(str(value))


def _facts(lines: Mapping[str, object]) -> str:
    return _table(TextTable(header=("", ""), rows=[(n, str(v)) for n, v in lines.items() if v]))


def _links(links: Mapping[str, str]) -> Iterator[str]:
    if links:
        anchors = " · ".join(
            f'<a href="{_text(to)}">{_text(name)}</a>' for name, to in links.items()
        )
        yield f"<p>Files: {anchors}</p>"


def _overview(filled: FilledScheme) -> str:
    items = filled.stored.scheme.items
    states = [filled.state(item) for item in items]
    human = sum(item.human for item in items)
    counts = [f"{states.count(FILLED)} of {len(items)} items are filled from stored results"]
    counts.append(f"{human} have something to be written by the site")
    if missing := states.count(NOT_AVAILABLE):
        counts.append(f"{missing} have nothing stored")
    rows = "".join(
        f'<tr><td><a href="#{item.id}">{_text(item.title)}</a></td>'
        f"<td>{_text(item.source.item)}</td><td>{_text(state)}{_text(_also(item, state))}</td></tr>"
        for item, state in zip(items, states, strict=True)
    )
    head = "<tr><th>Item</th><th>Asked in</th><th>State</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f'<p>{_text("; ".join(counts))}.</p><div class="wide">{table}</div>'


def _also(item: EvidenceItem, state: str) -> str:
    return f"; {TO_WRITE} too" if item.human and state == FILLED else ""


def _items(filled: FilledScheme) -> Iterator[str]:
    """Each item; a Report that fills several items is printed in the first, and linked after."""
    printed_at: dict[str, EvidenceItem] = {}
    for item in filled.stored.scheme.items:
        yield f'<section id="{item.id}"><h2>{_text(item.title)}</h2>'
        yield f'<p class="source">{_text(_source(filled, item))}</p>'
        if item.human:
            yield f'<div class="blank"><b>{BLANK}:</b> {_text(item.write)}</div>'
        for name in item.fill:
            if name in printed_at:
                first = printed_at[name]
                yield f'<p>{_text(name)}: see <a href="#{first.id}">{_text(first.title)}</a>.</p>'
            else:
                printed_at[name] = item
                yield from _report(name, filled.reports[name])
        yield "</section>"


def _source(filled: FilledScheme, item: EvidenceItem) -> str:
    document = item.source.document or filled.stored.scheme.document
    mark = "" if item.source.checked else f" ({UNCHECKED})"
    by = f" Filled by: {', '.join(item.fill)}." if item.fill else ""
    return f"Source: {document}, {item.source.item}{mark}.{by}"


def _report(name: str, report: Report) -> Iterator[str]:
    if report.if_empty:
        yield f'<p class="none">{_text(name)}: {_text(report.if_empty)}</p>'
        return
    if name == FLOW:
        rows = cast("Mapping[str, list[Mapping[str, object]]]", report.content)
        yield f'<div class="wide">{flow_svg(rows["data"], rows["runs"])}</div>'
    yield from map(_table, report.tables)


def _table(table: TextTable) -> str:
    has_header = any(table.labels)
    made = html_table(table.labels, table.rows, table.notes, title=table.title, strong=table.strong)
    if not has_header:
        made = _without_head(made.splitlines())
    return f'<div class="wide">{made}</div>'


def _without_head(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if not line.startswith("<thead>"))
