"""Rows of text as an aligned table or as Markdown."""

from collections.abc import Sequence

GAP = "  "


def interval(low: float | None, high: float | None) -> str:
    """` [0.38, 0.45]`, or nothing where there is none."""
    return "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"


def aligned(columns: Sequence[Sequence[str]], num_header_lines: int) -> list[str]:
    """The lines of columns of text, with a rule below the header lines."""
    widths = [max(map(len, column)) for column in columns]
    lines = [
        GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]
    rule = GAP.join("-" * width for width in widths)
    return [*lines[:num_header_lines], rule, *lines[num_header_lines:]]


def markdown_line(texts: Sequence[str]) -> str:
    """One row of a Markdown table."""
    escaped = (text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*") for text in texts)
    return f"| {' | '.join(escaped)} |"
