"""The flow of rows and answers as a small inline SVG: boxes from the source to the score."""

import html
from collections.abc import Iterator, Mapping, Sequence

from medhelm_spark.evidence.fills.listed import text_of

Row = Mapping[str, object]

BOX, GAP, HEIGHT, LINE = 150, 50, 46, 66
_HEADS = ("Read", "Instances", "Asked", "Answered", "Scored")


def flow_svg(data: Sequence[Row], runs: Sequence[Row]) -> str:
    """A line of boxes for each run; what leaves the flow is written in the box that it leaves.

    Args:
        data: the records of data versions of the fill `flow`.
        runs: its records of runs.
    """
    if not runs:
        return ""
    versions = {row["data_version"]: row for row in data}
    width = 200 + len(_HEADS) * (BOX + GAP)
    parts = list(_heads())
    for number, run in enumerate(runs):
        parts += _line(30 + number * LINE, versions.get(run["data_version"], {}), run)
    height = 34 + len(runs) * LINE
    return (
        f'<svg role="img" aria-label="Flow of rows and answers" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{"".join(parts)}</svg>'
    )


def _heads() -> Iterator[str]:
    for column, head in enumerate(_HEADS):
        yield _text(_left(column) + BOX / 2, 18, head, "head")


def _left(column: int) -> int:
    return 200 + column * (BOX + GAP)


def _line(top: int, data: Row, run: Row) -> Iterator[str]:
    yield _text(0, top + 18, str(run["scenario_name"]), "name", is_left=True)
    yield _text(0, top + 36, str(run["model_deployment"]), "name", is_left=True)
    numbers = (
        data.get("read"),
        data.get("instances"),
        run["asked"],
        run["answered"],
        run["scored"],
    )
    lost: tuple[Mapping[str, object], ...] = (
        {
            "left out": data.get("left_out"),
            "not drawn": data.get("not_drawn"),
            "quarantined": data.get("quarantined"),
            "merged": data.get("identical_merged"),
        },
        {},
        {"failed": run["failed"], "no result": run["without_result"]},
        {"unread": run["unread"]},
    )
    for column, number in enumerate(numbers):
        left = _left(column)
        leaves = lost[column] if column < len(lost) else {}
        losses = "; ".join(f"{text_of(n)} {name}" for name, n in leaves.items() if n)
        yield f'<rect x="{left}" y="{top}" width="{BOX}" height="{HEIGHT}" rx="4" class="box"/>'
        yield _text(left + BOX / 2, top + (18 if losses else 28), text_of(number), "count")
        if losses:
            yield _text(left + BOX / 2, top + 36, losses, "lost")
        if column < len(lost):
            yield _arrow(left + BOX, top + HEIGHT / 2)


def _arrow(left: float, middle: float) -> str:
    end = left + GAP - 4
    return (
        f'<path d="M{left} {middle:g}H{end:g}M{end - 6:g} {middle - 4:g}L{end:g} {middle:g}'
        f'L{end - 6:g} {middle + 4:g}" class="arrow"/>'
    )


def _text(x: float, y: float, text: str, kind: str, *, is_left: bool = False) -> str:
    anchor = "start" if is_left else "middle"
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">'
        f"{html.escape(_short(text))}</text>"
    )


def _short(text: str) -> str:
    """A text that fits; the table below has it whole."""
    return text if len(text) <= 28 else f"{text[:27]}…"
