"""A dot-and-interval plot of what models score by group, as a Vega-Lite specification."""

from collections.abc import Iterator, Sequence
from typing import Any

from medhelm_spark.board.render.charts import LIGHT, Palette, Spec, chart_of
from medhelm_spark.subgroups.model_groups import ModelGroups, group_label

WIDTH = 560
MODEL_HEIGHT = 18
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")
"""Each model has a shape and a row of its own, beside the colour: on paper too."""

Row = dict[str, Any]


def group_plot(groups: Sequence[ModelGroups], palette: Palette = LIGHT) -> Spec | None:
    """Of one benchmark and column each group with every model; None where no group is shown.

    A tick is each model's score over all instances.
    """
    rows = [row for model in groups for row in _rows(model)]
    if not rows:
        return None
    order = list(dict.fromkeys(row["group"] for row in rows))
    overall: list[Row] = [
        {"model": model.model_deployment, "overall": model.overall, "group": group}
        for model in groups
        if model.overall is not None
        for group in order
    ]
    names = [model.model_deployment for model in groups]
    x: Row = {"type": "quantitative", "title": groups[0].metric, "scale": {"zero": False}}
    encoding: Row = {
        "y": {"field": "group", "type": "nominal", "sort": order, "title": None},
        "yOffset": {"field": "model", "type": "nominal", "sort": names},
        "color": _by_model(names, [palette.mark, palette.line, *[palette.ink] * len(names)]),
    }
    ends: Row = {**encoding, "x": {**x, "field": "low"}, "x2": {"field": "high"}}
    scores: Row = {
        **encoding,
        "x": {**x, "field": "mean"},
        "shape": _by_model(names, [SHAPES[index % len(SHAPES)] for index in range(len(names))]),
        "tooltip": _TOOLTIP,
    }
    return chart_of(
        [*rows, *overall],
        palette,
        width=WIDTH,
        height={"step": MODEL_HEIGHT * len(names)},
        layer=[
            _layer("overall", _TICK, {**encoding, "x": {**x, "field": "overall"}}),
            _layer("mean", {"type": "rule", "strokeWidth": 2, "opacity": 0.7}, ends),
            _layer("mean", {"type": "point", "filled": True, "size": 70, "opacity": 1}, scores),
        ],
    )


_TICK: Row = {"type": "tick", "thickness": 1, "size": MODEL_HEIGHT, "opacity": 0.7}
_TOOLTIP = [
    *({"field": name, "type": "nominal"} for name in ("model", "group")),
    *({"field": name, "type": "quantitative"} for name in ("mean", "low", "high", "n")),
]


def _by_model(names: Sequence[str], marks: Sequence[str]) -> Row:
    """A colour or a shape for each model."""
    scale = {"domain": list(names), "range": list(marks)}
    return {"field": "model", "type": "nominal", "scale": scale, "title": None}


def _layer(field: str, mark: Row, encoding: Row) -> Row:
    """The marks of the rows that have a field."""
    transform = [{"filter": f"isValid(datum.{field})"}]
    return {"transform": transform, "mark": mark, "encoding": encoding}


def _rows(model: ModelGroups) -> Iterator[Row]:
    for stat in model.stats:
        if stat.mean is not None:
            yield {
                "model": model.model_deployment,
                "group": group_label(stat.group_value),
                "mean": stat.mean,
                "low": stat.mean if stat.ci_low is None else stat.ci_low,
                "high": stat.mean if stat.ci_high is None else stat.ci_high,
                "n": stat.count,
            }
