"""Pieces of HTML that both views share. Every text from the lake goes through `text`."""

import html
from collections.abc import Iterable
from pathlib import Path

NOT_APPROVED = (
    "Working results, not approved. Nobody has reviewed or signed off these numbers; do not choose "
    "a model for patient care by them."
)
LOCAL_VIEW = (
    "Local single-user view: whoever can open this page can read every text of this lake, gated "
    "and private rows included."
)


def text(value: object) -> str:
    """Any text as it is: escaped, so that nothing in it is markup."""
    return html.escape(str(value), quote=True)


def styles(folder: Path) -> str:
    """The style sheet of the dashboard."""
    return f"<style>{(folder / 'page.css').read_text(encoding='utf-8')}</style>"


def heading(source: str) -> str:
    """What page this is."""
    return (
        '<header class="ms-head"><h1>Medical leaderboard</h1>'
        f'<p class="ms-source">{text(source)}</p></header>'
    )


def note(sentence: str, kind: str = "note") -> str:
    """A line that a reader must not miss."""
    return f'<p class="ms-note ms-note-{text(kind)}" role="note">{text(sentence)}</p>'


def chip(label: str, kind: str = "") -> str:
    """A small label; `kind` picks its colour."""
    return f'<span class="ms-chip ms-{text(kind or label)}">{text(label)}</span>'


def section(title: str, *parts: str, aside: str = "") -> str:
    """A titled block, with a few words beside the title."""
    beside = f'<span class="ms-aside">{text(aside)}</span>' if aside else ""
    return f'<section class="ms-block"><h3>{text(title)}{beside}</h3>{"".join(parts)}</section>'


def passage(value: str, kind: str = "") -> str:
    """Clinical text, unchanged: line breaks kept, direction by its own letters."""
    if not value:
        return '<p class="ms-empty">empty text</p>'
    return f'<pre class="ms-text ms-{kind}" dir="auto">{text(value)}</pre>'


def table(header: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """A plain table; its cells are HTML already."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    rows_of = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<table class="ms-table {kind}">{rows_of}</table>'
