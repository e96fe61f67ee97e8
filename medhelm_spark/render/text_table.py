"""Rows of text as an aligned table or as Markdown."""

from collections.abc import Sequence

GAP = "  "


def interval(low: float | None, high: float | None) -> str:
    """` [0.38, 0.45]`, or nothing where there is none."""
    return "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"


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


def markdown_line(texts: Sequence[str]) -> str:
    """One row of a Markdown table."""
    escaped = (text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*") for text in texts)
    return f"| {' | '.join(escaped)} |"
