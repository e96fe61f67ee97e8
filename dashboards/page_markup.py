"""Pieces of HTML that the pages share. Every text from the lake is escaped by `text`."""

import html
from collections.abc import Iterable
from pathlib import Path

from medhelm_spark.board import Viewer
from medhelm_spark.board.render.risk import VERDICTS
from medhelm_spark.board.render.verdicts import COST_WORDS
from medhelm_spark.render.table import strong_html

LOCAL_VIEW = (
    "Local single-user view: whoever can open this page at this machine can read every text of "
    "this lake, gated and private rows included; from elsewhere only public text is shown."
)


def view_note(viewer: Viewer) -> str:
    """Which text the page shows, and to whom."""
    if not viewer.name:
        return LOCAL_VIEW
    sees = f"text up to {viewer.text}" if viewer.text else "numbers of benchmarks, and no text"
    return f"You see {sees}. That you open or download gated or private results is on record."


def text(value: object) -> str:
    """The escaped text, so that nothing in it is markup."""
    return html.escape(str(value), quote=True)


def styles(folder: Path) -> str:
    """The style sheet of the dashboard."""
    return f"<style>{(folder / 'page.css').read_text(encoding='utf-8')}</style>"


def heading(source: str) -> str:
    """The title of the page and the suite or release that it shows."""
    return (
        '<header class="ms-head"><h1>Medical leaderboard</h1>'
        f'<p class="ms-source">{text(source)}</p></header>'
    )


def about(sentences: str) -> str:
    """What a page is for, folded: results come first."""
    summary = "<summary>What am I looking at?</summary>"
    return f'<details class="ms-about">{summary}<p>{text(sentences)}</p></details>'


def note(sentence: str, kind: str = "note") -> str:
    """A highlighted line; `kind` is note, warning or error."""
    return f'<p class="ms-note ms-note-{text(kind)}" role="note">{text(sentence)}</p>'


def links(title: str, named: Iterable[tuple[str, str]]) -> str:
    """A list of links; each has its words and the query of its address."""
    items = "".join(
        f'<li><a href="?{text(query)}">{text(words)}</a></li>' for words, query in named
    )
    return f'<nav class="ms-links"><p>{text(title)}:</p><ul>{items}</ul></nav>'


def chip(label: str, kind: str = "") -> str:
    """A small label; `kind` picks its colour."""
    return f'<span class="ms-chip ms-{text(kind or label)}">{text(label)}</span>'


def paragraphs(lines: Iterable[str]) -> str:
    """Sentences on the numbers, a paragraph each, with verdicts in bold."""
    words = (*VERDICTS, *COST_WORDS)
    return "".join(f'<p class="ms-said">{strong_html(line, words)}</p>' for line in lines)


def section(title: str, *parts: str, aside: str = "") -> str:
    """A titled block; `aside` is text next to the title."""
    aside_html = f'<span class="ms-aside">{text(aside)}</span>' if aside else ""
    return f'<section class="ms-block"><h3>{text(title)}{aside_html}</h3>{"".join(parts)}</section>'


def passage(value: str, kind: str = "") -> str:
    """Clinical text, unchanged: with line breaks, and in the direction of its script."""
    if not value:
        return '<p class="ms-empty">empty text</p>'
    return f'<pre class="ms-text ms-{text(kind)}" dir="auto">{text(value)}</pre>'


def table(header: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """A plain table; its cells are HTML already."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<table class="ms-table {kind}">{content}</table>'
