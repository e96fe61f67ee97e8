"""Charts of a board as Vega-Lite specifications: pages draw them, reports contain them as SVG.

One blue and position say everything, so that neither colour vision nor a colour printer is needed.
A specification contains its own data and names no address.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.names import printable
from medhelm_spark.errors import SetupError
from medhelm_spark.statistics.board import BoardColumn, Leaderboard
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.reliability import Bin

Spec = dict[str, Any]
"""A Vega-Lite specification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of a chart: `scale` goes from the worst to the best."""

    background: str
    ink: str
    line: str
    grid: str
    mark: str
    scale: tuple[str, str]


LIGHT = Palette(
    background="#ffffff",
    ink="#16222e",
    line="#8a98a4",
    grid="#eef1f4",
    mark="#17507f",
    scale=("#f7fafc", "#5897c2"),
)
DARK = Palette(
    background="#10171e",
    ink="#e6edf3",
    line="#5d6d7b",
    grid="#1e2933",
    mark="#7db8e8",
    scale=("#141d26", "#1f5d94"),
)
ROW_HEIGHT = 17
PLOT_WIDTH = 250
PLOTS_IN_A_ROW = 3
CURVE_SIZE = 210
CELL_WIDTH = 46
CURVE_NOTE = (
    "Share of right answers by confidence. A point is about a tenth of the answers with its 95 % "
    "interval. On the dashed line the model is as often right as it is sure; below it, it is too "
    "sure."
)
PADDING = {"left": 12, "top": 5, "right": 40, "bottom": 5}
"""Room for names in a reader's font that is wider than the one with which they were measured."""
PNG_SCALE = 2
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # a name; nothing is fetched


def _config(palette: Palette) -> dict[str, object]:
    return {
        "font": "sans-serif",
        "padding": PADDING,
        "background": palette.background,
        "view": {"stroke": palette.grid},
        "axis": {
            "labelLimit": 220,
            "grid": True,
            "gridColor": palette.grid,
            "domainColor": palette.line,
            "tickColor": palette.line,
            "labelColor": palette.ink,
            "titleColor": palette.ink,
        },
        "legend": {"labelColor": palette.ink, "titleColor": palette.ink},
        "header": {
            "labelFontWeight": 600,
            "labelLimit": 300,
            "labelFontSize": 12,
            "labelColor": palette.ink,
        },
    }


def dot_plots(
    board: Leaderboard, palette: Palette = LIGHT, *, at_most: int | None = None
) -> Iterator[tuple[str, Spec]]:
    """By heading: of each benchmark the models' means with their intervals.

    Benchmarks below a heading are drawn on the same axis where their metrics have one scale with
    two ends, else each on its own. A chart has `at_most` so many benchmarks; those beyond are in
    further charts below the same heading.
    """
    columns = list(enumerate(board.columns))
    models = [row.name for row in board.rows]
    for heading, group in groupby(columns, key=lambda numbered: numbered[1].heading):
        plots = {index: list(_dots(board, index, column)) for index, column in group}
        drawn = [index for index, dots in plots.items() if dots]
        ends = _common_ends(board, drawn)
        size = at_most or len(board.columns)
        for start in range(0, len(drawn), size):
            rows = [dot for index in drawn[start : start + size] for dot in plots[index]]
            yield heading, _dot_plot(rows, models, ends, palette)


def _common_ends(board: Leaderboard, indices: Iterable[int]) -> tuple[float, float] | None:
    """The lowest and highest end of the intervals; None where scales differ or are open."""
    cells = [cell for index in indices for row in board.rows if (cell := row.cells[index])]
    drawn = [cell for cell in cells if cell.mean is not None]
    scales = {(cell.minimum, cell.maximum) for cell in drawn}
    if len(scales) != 1 or None in next(iter(scales)):
        return None
    ends = [
        end for cell in drawn for end in (cell.mean, cell.ci_low, cell.ci_high) if end is not None
    ]
    return min(ends), max(ends)


def _dots(board: Leaderboard, index: int, column: BoardColumn) -> Iterator[dict[str, object]]:
    direction = ", lower is better" if column.lower_is_better else ""
    for row in board.rows:
        cell = row.cells[index]
        if cell and cell.mean is not None:
            yield {
                "benchmark": f"{column.display_name} ({column.main_metric}{direction})",
                "model": row.name,
                "mean": cell.mean,
                "low": cell.mean if cell.ci_low is None else cell.ci_low,
                "high": cell.mean if cell.ci_high is None else cell.ci_high,
                "counted": "counted" if cell.is_counted else "in no rank",
            }


def _dot_plot(
    rows: Sequence[dict[str, object]],
    models: Sequence[str],
    ends: tuple[float, float] | None,
    palette: Palette,
) -> Spec:
    order = list(dict.fromkeys(row["benchmark"] for row in rows))
    scale = {"zero": False, **({"domain": list(ends), "nice": True} if ends else {})}
    y = {"field": "model", "type": "nominal", "scale": {"domain": list(models)}, "title": None}
    interval = {
        "mark": {"type": "rule", "color": palette.mark, "strokeWidth": 2, "opacity": 0.55},
        "encoding": {
            "x": {"field": "low", "type": "quantitative", "title": None, "scale": scale},
            "x2": {"field": "high"},
            "y": y,
        },
    }
    mean = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": palette.mark, "opacity": 1},
        "encoding": {
            "x": {"field": "mean", "type": "quantitative", "title": None},
            "y": y,
            "shape": {
                "field": "counted",
                "type": "nominal",
                "scale": {"domain": ["counted", "in no rank"], "range": ["circle", "cross"]},
                "legend": None,
            },
            "tooltip": [
                {"field": name, "type": kind}
                for name, kind in (
                    ("model", "nominal"),
                    ("mean", "quantitative"),
                    ("low", "quantitative"),
                    ("high", "quantitative"),
                )
            ],
        },
    }
    return chart_of(
        rows,
        palette,
        facet={"field": "benchmark", "type": "nominal", "sort": order, "title": None},
        columns=PLOTS_IN_A_ROW,
        spec={
            "width": PLOT_WIDTH,
            "height": {"step": ROW_HEIGHT},
            "layer": [interval, mean],
        },
        resolve={
            "scale": {"x": "shared" if ends else "independent"},
            "axis": {"x": "independent"},
        },
    )


def calibration_plots(
    curves: Mapping[str, Sequence[Bin]], palette: Palette = LIGHT, *, columns: int = PLOTS_IN_A_ROW
) -> Spec:
    """By model how often answers are right against how sure the model is of them.

    A point is a bin of answers with the interval of its share; on the dashed line the two agree.
    """
    rows: list[dict[str, object]] = [
        {
            "model": model,
            "confidence": each.confidence,
            "right": each.right.value,
            "low": each.right.value if each.right.low is None else each.right.low,
            "high": each.right.value if each.right.high is None else each.right.high,
            "answers": each.count,
        }
        for model, bins in curves.items()
        for each in bins
    ]
    ends: list[dict[str, object]] = [
        {"model": model, "confidence": end, "right": end} for model in curves for end in (0, 1)
    ]

    def share(field: str, title: str) -> dict[str, object]:
        axis = {"format": ".1f", "tickCount": 5}
        scale = {"domain": [0, 1]}
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": axis,
        }

    x, y = share("confidence", "confidence"), share("right", "share right")
    has_ends = {"filter": "isValid(datum.answers)"}
    layers = [
        {
            "transform": [{"filter": "!isValid(datum.answers)"}],
            "mark": {"type": "line", "color": palette.line, "strokeDash": [4, 4]},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": [has_ends],
            "mark": {"type": "rule", "color": palette.mark, "strokeWidth": 2, "opacity": 0.55},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "transform": [has_ends],
            "mark": {"type": "line", "color": palette.mark, "point": _point(palette)},
            "encoding": {
                "x": x,
                "y": y,
                "tooltip": [
                    {"field": name, "type": "quantitative", "format": form}
                    for name, form in (
                        ("confidence", ".3f"),
                        ("right", ".3f"),
                        ("low", ".3f"),
                        ("high", ".3f"),
                        ("answers", "d"),
                    )
                ],
            },
        },
    ]
    return chart_of(
        [*ends, *rows],
        palette,
        facet={"field": "model", "type": "nominal", "sort": list(curves), "title": None},
        columns=columns,
        spec={"width": CURVE_SIZE, "height": CURVE_SIZE, "layer": layers},
        resolve={"axis": {"x": "independent", "y": "independent"}},
    )


def _point(palette: Palette) -> dict[str, object]:
    return {"filled": True, "size": 50, "color": palette.mark}


def heat_map(board: Leaderboard, palette: Palette = LIGHT) -> Spec | None:
    """Models against benchmarks, a deeper blue where nearer to the best of the metric's scale.

    None where no metric has a scale with two ends and a direction.
    """
    rows = list(_heat(board))
    if not rows:
        return None
    models = [row.name for row in board.rows]
    x = {"field": "model", "type": "nominal", "sort": models, "title": None}
    y = {
        "field": "benchmark",
        "type": "nominal",
        "sort": list(dict.fromkeys(row["benchmark"] for row in rows)),
        "title": None,
    }
    colour = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": list(palette.scale)},
        "title": "worst to best",
    }
    return chart_of(
        rows,
        palette,
        width={"step": CELL_WIDTH},
        height={"step": ROW_HEIGHT + 2},
        encoding={
            "x": {**x, "axis": {"labelAngle": -40, "orient": "top", "grid": False}},
            "y": {**y, "axis": {"grid": False}},
        },
        layer=[
            {"mark": "rect", "encoding": {"color": colour}},
            {
                "mark": {"type": "text", "fontSize": 10, "color": palette.ink},
                "encoding": {"text": {"field": "mean", "type": "quantitative", "format": ".2f"}},
            },
        ],
    )


def _heat(board: Leaderboard) -> Iterator[dict[str, object]]:
    for index, column in enumerate(board.columns):
        for row in board.rows:
            cell = row.cells[index]
            if cell and cell.mean is not None and (share := share_of_scale(cell)) is not None:
                yield {
                    "benchmark": column.display_name,
                    "model": row.name,
                    "mean": cell.mean,
                    "share": share,
                }


def share_of_scale(cell: BoardCell) -> float | None:
    """A mean on the scale from the worst (0) to the best (1) of its metric.

    None where the mean counts in no rank, one answer to every case does as well, or the scale has
    an open end or no direction.
    """
    ends = (cell.minimum, cell.maximum)
    if cell.is_no_better_than_chance or not cell.is_counted:
        return None
    if cell.mean is None or cell.lower_is_better is None:
        return None
    if ends[0] is None or ends[1] is None:
        return None
    above = min(1.0, max(0.0, (cell.mean - ends[0]) / (ends[1] - ends[0])))
    return 1 - above if cell.lower_is_better else above


def chart_of(rows: Iterable[dict[str, object]], palette: Palette, **parts: object) -> Spec:
    """A specification of these rows in the colours of a palette."""
    data = {"values": list(rows)}
    return {
        "$schema": _SCHEMA,
        "config": _config(palette),
        **_without_controls({"data": data, **parts}),
    }


def _without_controls(value: Any) -> Any:
    """The same with control characters written out: one in a name ends the drawing library."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: _without_controls(each) for key, each in value.items()}
    return [_without_controls(each) for each in value] if isinstance(value, list) else value


_ELEMENT_ID = re.compile(r"(?<=id=\"|rl\(#)(gradient_|clip)(\d+)")


def svg(spec: Spec) -> str:
    """The chart as SVG, drawn in this process; the same specification gives the same text.

    Raises:
        SetupError: the package `vl-convert-python` is missing.
    """
    drawn: str = _drawer().vegalite_to_svg(spec)
    # Vega counts the elements of all charts of a process; charts of one page need ids of their own.
    numbers = list(dict.fromkeys(match[2] for match in _ELEMENT_ID.finditer(drawn)))
    chart = content_id(spec)[:8]
    return _ELEMENT_ID.sub(lambda match: f"{match[1]}{chart}_{numbers.index(match[2])}", drawn)


def png(spec: Spec) -> bytes:
    """The chart as PNG, drawn in this process.

    Raises:
        SetupError: the package `vl-convert-python` is missing.
    """
    drawn: bytes = _drawer().vegalite_to_png(spec, scale=PNG_SCALE)
    return drawn


def _drawer() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise SetupError(
            "charts are drawn by the package vl-convert-python: pip install 'medhelm-spark[local]'."
        ) from error
    return vl_convert
