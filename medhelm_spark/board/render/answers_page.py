"""Answers as one HTML file to hand on: prompt, answer, what was read, references and score."""

import html
from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.render.html_page import html_page

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
article { border-top: 1px solid #8888; padding: 1rem 0; break-inside: avoid-page }
h2 { font-size: 1.05rem; margin: 0 0 .5rem }
dl { display: grid; grid-template-columns: 7rem 1fr; gap: .4rem 1rem; margin: 0 }
dt { opacity: .75 }
dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
footer { border-top: 1px solid #8888; padding-top: 1rem; font-size: .9rem }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .5rem } }
"""


def answers_page(
    title: str,
    entries: Iterable[tuple[str, Sequence[tuple[str, str]]]],
    notes: Iterable[str],
    facts: Mapping[str, str],
) -> str:
    """The page; every text is in it as a whole and escaped.

    Args:
        title: of the page.
        entries: a heading for each answer, with labels and texts.
        notes: lines below the answers.
        facts: lines below the title, as the levels of the texts.
    """
    head = "".join(
        f"<p>{html.escape(name)}: {html.escape(fact)}</p>" for name, fact in facts.items()
    )
    articles = [
        f"<article><h2>{html.escape(heading)}</h2><dl>{''.join(map(_part, parts))}</dl></article>"
        for heading, parts in entries
    ]
    below = "".join(f"<p>{html.escape(line)}</p>" for line in notes)
    body = [f"<h1>{html.escape(title)}</h1>{head}", *articles, f"<footer>{below}</footer>"]
    return html_page(title, _STYLE, "\n".join(body))


def _part(part: tuple[str, str]) -> str:
    label, text = part
    return f'<dt>{html.escape(label)}</dt><dd dir="auto">{html.escape(text)}</dd>'
