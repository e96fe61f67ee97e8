"""One table of texts, as aligned lines, Markdown or HTML."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GAP = "  "
WIDTH = 120
"""Characters of a line of text; a table with `num_fixed` is cut into blocks of this width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """Header and rows with a title above and notes below; every cell is plain text.

    `subheader` is a second header line. With `num_fixed`, columns beyond WIDTH go into a
    further block of lines, each block led by that many first columns. `strong` are the words that
    HTML and Markdown print bold.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    subheader: Sequence[str] = ()
    title: str = ""
    notes: Sequence[str] = ()
    num_fixed: int | None = None
    strong: Sequence[str] = ()

    @property
    def labels(self) -> list[str]:
        """The header in one line: `PubMedQA (exact_match)`."""
        pairs = zip(self.header, self.subheader or [""] * len(self.header), strict=True)
        return [f"{name} ({detail})" if detail else name for name, detail in pairs]


def interval_text(low: float | None, high: float | None) -> str:
    """` [0.38, 0.45]`, or nothing where there is none."""
    return "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"


def mean_text(value: float | None) -> str:
    """A mean as every board shows it: three decimals, or that no answer has a score.

    >>> mean_text(1 / 3), mean_text(None)
    ('0.333', 'unscored')
    """
    return "unscored" if value is None else f"{value:.3f}"


def number_text(value: float | None) -> str:
    """Three decimals; `-` where there is no value."""
    return "-" if value is None else f"{value:.3f}"


def aligned(
    columns: Sequence[Sequence[str]], num_header_lines: int, *, num_left: int | None = None
) -> list[str]:
    """The lines of columns of text, with a rule below the header lines where there are any.

    Columns after the first `num_left` are aligned to the right; None aligns all to the left.

    >>> aligned([["Model", "a/b"], ["Cost", "1.20"]], 1, num_left=1)
    ['Model  Cost', '-----  ----', 'a/b    1.20']
    """
    widths = [max(map(len, column)) for column in columns]
    split = len(columns) if num_left is None else num_left
    pads = [str.ljust] * split + [str.rjust] * (len(columns) - split)
    padded = [
        GAP.join(pad(text, width) for pad, text, width in zip(pads, line, widths, strict=True))
        for line in zip(*columns, strict=True)
    ]
    lines = [line.rstrip() for line in padded]
    rule = [GAP.join("-" * width for width in widths)] if num_header_lines else []
    return [*lines[:num_header_lines], *rule, *lines[num_header_lines:]]


def text_table(table: TextTable) -> str:
    """Title, aligned lines and notes, with an empty line between these parts."""
    headers = [table.header, table.subheader] if table.subheader else [table.header]
    columns = list(zip(*headers, *table.rows, strict=True))
    blocks = [columns] if table.num_fixed is None else _blocks(columns, table.num_fixed)
    lines = ["\n".join(aligned(block, len(headers))) for block in blocks]
    parts = [table.title, *lines, "\n".join(table.notes)]
    return "\n\n".join(part for part in parts if part)


def _blocks(columns: Sequence[Sequence[str]], num_fixed: int) -> list[list[Sequence[str]]]:
    """Cut columns into blocks of at most WIDTH characters, each led by the fixed columns."""
    fixed, blocks = list(columns[:num_fixed]), [list(columns[:num_fixed])]
    for column in columns[num_fixed:]:
        block = [*blocks[-1], column]
        width = sum(max(map(len, texts)) + len(GAP) for texts in block) - len(GAP)
        if width > WIDTH and len(blocks[-1]) > num_fixed:
            blocks.append([*fixed, column])
        else:
            blocks[-1] = block
    return blocks


def markdown_table(table: TextTable) -> str:
    """Title, table and one paragraph per note; every text is shown as it is."""

    def marked_text(text: str) -> str:
        return marked(markdown_text(text), table.strong, "**{}**")

    rows = [[*map(marked_text, row)] for row in table.rows]
    header = [[*map(markdown_text, table.labels)], ["---"] * len(table.header)]
    lines = [f"| {' | '.join(row)} |" for row in (*header, *rows)]
    parts = [markdown_text(table.title), "\n".join(lines), *map(marked_text, table.notes)]
    return "\n\n".join(part for part in parts if part)


def marked(text: str, words: Iterable[str], mark: str) -> str:
    """The text with `mark` around these words.

    >>> marked("a model of no use here", ["of no use"], "<b>{}</b>")
    'a model <b>of no use</b> here'
    """
    for each in words:
        text = text.replace(each, mark.format(each))
    return text


def strong_html(text: str, words: Iterable[str]) -> str:
    """The escaped text with these words in bold."""
    escaped = [html.escape(each) for each in words]
    return marked(html.escape(text), escaped, "<strong>{}</strong>")


def markdown_text(text: str) -> str:
    r"""A text that Markdown shows as it is: no link, no image, no HTML, no cell or line of its own.

    A name may come from a file or a server, and the browser must not fetch an address in it.

    >>> print(markdown_text("a|b ![x](https://h/p.png) <img src=x> [0.38, 0.45] <0.001"))
    a\|b ![x\](https\://h/p.png) \<img src=x> [0.38, 0.45] <0.001
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.splitlines()))


_MARKUP = re.compile(
    r"[\\|*`~]"
    r"|\](?=[(\[:])"  # of a link; an interval keeps its brackets
    r"|<(?=[A-Za-z/!?])|&(?=\w|#)"
    r"|(?<!\w)_|_(?!\w)|(?<=\w)@(?=\w)"
    r"|:(?=//)|(?<=\bwww)\."  # what becomes a link by itself
    r"|^(?:#|>|[-+](?=\s))",
    re.IGNORECASE,
)


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str] = (),
    *,
    title: str = "",
    strong: Sequence[str] = (),
) -> str:
    """A plain `<table>` for a notebook's `_repr_html_`: all text escaped, no style, no script.

    >>> print(html_table(["Model"], [["a & b"]]))
    <table>
    <thead><tr><th>Model</th></tr></thead>
    <tbody>
    <tr><td>a &amp; b</td></tr>
    </tbody>
    </table>
    """
    caption = [f"<caption>{html.escape(title)}</caption>"] if title else []
    return "\n".join(
        [
            "<table>",
            *caption,
            f"<thead>{_html_row('th', header)}</thead>",
            "<tbody>",
            *(_html_row("td", row, strong) for row in rows),
            "</tbody>",
            "</table>",
            *(f"<p>{strong_html(note, strong)}</p>" for note in notes),
        ]
    )


def _html_row(tag: str, texts: Iterable[str], strong: Sequence[str] = ()) -> str:
    cells = "".join(f"<{tag}>{strong_html(text, strong)}</{tag}>" for text in texts)
    return f"<tr>{cells}</tr>"
