"""A dot-and-interval plot of what models score by group, as a Vega-Lite specification."""

from collections.abc import Iterator, Sequence
from typing import Any

from medhelm_spark.board.render.charts import LIGHT, Palette, Spec, chart_of
from medhelm_spark.subgroups.model_groups import ModelGroups, group_label

WIDTH = 560
MODEL_HEIGHT = 18
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")
"""Models are told apart by shape and place, beside the colour: on paper too."""

Row = dict[str, Any]


def group_plot(groups: Sequence[ModelGroups], palette: Palette = LIGHT) -> Spec | None:
    """Of one benchmark and column each group with every model; None where no group is shown.

    A dashed line is each model's score over all instances.
    """
    rows = [row for of in groups for row in _rows(of)]
    if not rows:
        return None
    names = [of.model_deployment for of in groups]
    order = list(dict.fromkeys(row["group"] for row in rows))
    overall: list[Row] = [
        {"model": of.model_deployment, "overall": of.overall, "group": group}
        for of in groups
        if of.overall is not None
        for group in order
    ]
    step = {"step": MODEL_HEIGHT * len(names)}
    y: Row = {"field": "group", "type": "nominal", "sort": order, "title": None}
    offset: Row = {"field": "model", "type": "nominal", "sort": names}
    scale: Row = {
        "domain": names,
        "range": [palette.mark, palette.line, *[palette.ink] * len(names)],
    }
    colour: Row = {"field": "model", "type": "nominal", "scale": scale, "title": None}
    shape = {
        "field": "model",
        "type": "nominal",
        "scale": {"domain": names, "range": [SHAPES[i % len(SHAPES)] for i in range(len(names))]},
        "title": None,
    }
    x: Row = {"type": "quantitative", "title": groups[0].metric, "scale": {"zero": False}}
    placed: Row = {"y": y, "yOffset": offset, "color": colour}
    has_score, has_overall = {"filter": "isValid(datum.mean)"}, {"filter": "isValid(datum.overall)"}
    return chart_of(
        [*rows, *overall],
        palette,
        width=WIDTH,
        height=step,
        layer=[
            {
                "transform": [has_overall],
                "mark": {"type": "tick", "thickness": 1, "size": MODEL_HEIGHT, "opacity": 0.7},
                "encoding": {**placed, "x": {**x, "field": "overall"}},
            },
            {
                "transform": [has_score],
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7},
                "encoding": {**placed, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "transform": [has_score],
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    **placed,
                    "x": {**x, "field": "mean"},
                    "shape": shape,
                    "tooltip": [
                        {"field": name, "type": kind}
                        for name, kind in (
                            ("model", "nominal"),
                            ("group", "nominal"),
                            ("mean", "quantitative"),
                            ("low", "quantitative"),
                            ("high", "quantitative"),
                            ("n", "quantitative"),
                        )
                    ],
                },
            },
        ],
    )


def _rows(of: ModelGroups) -> Iterator[Row]:
    for stat in of.stats:
        if stat.mean is not None:
            yield {
                "model": of.model_deployment,
                "group": group_label(stat.group_value),
                "mean": stat.mean,
                "low": stat.mean if stat.ci_low is None else stat.ci_low,
                "high": stat.mean if stat.ci_high is None else stat.ci_high,
                "n": stat.count,
            }
