"""Quality against cost as sentences and as a chart."""

from collections.abc import Iterator, Mapping, Sequence

from medhelm_spark.board.render.charts import (
    LIGHT,
    PLOT_WIDTH,
    PLOTS_IN_A_ROW,
    Palette,
    Spec,
    chart_of,
)
from medhelm_spark.board.trade_off import MONEY, SECONDS, TOKENS, TradeOff
from medhelm_spark.domain.pluralize import first_of

TRADE_OFF_NOTE = (
    "Each model's mean with its 95 % interval against what an answer takes. A filled point: no "
    "other model is at least as good and takes no more."
)
DIGITS = {MONEY: 2, TOKENS: 1, SECONDS: 2}
"""So many digits of what an answer takes are shown."""
UNDOMINATED, BEATEN = "no other is better and takes less", "another is as good and takes less"


def trade_off_notes(found: Mapping[str, Sequence[TradeOff]]) -> Iterator[str]:
    """A sentence for each quantity: the models that another one beats."""
    for name, points in found.items():
        quantity = _title(name, points)
        amounts = {f"{point.takes:,.{DIGITS[name]}f}" for point in points}
        beaten = [point.name for point in points if not point.is_undominated]
        if len(amounts) == 1:
            yield f"{quantity}: about the same for all models, {amounts.pop()}."
        elif beaten:
            yield (
                f"{quantity}, by the estimates: another model is at least as good and takes no "
                f"more than {first_of(beaten, 5)}."
            )
        else:
            yield f"{quantity}, by the estimates: the better a model is, the more it takes."


def _title(quantity: str, points: Sequence[TradeOff]) -> str:
    """`Money for 1,000, EUR`."""
    return ", ".join(filter(None, (quantity, points[0].currency)))


def trade_off_plot(
    found: Mapping[str, Sequence[TradeOff]], metric: str, palette: Palette = LIGHT
) -> Spec:
    """A plot for each quantity: the mean upwards, what an answer takes to the right."""
    rows: list[dict[str, object]] = [
        {
            "quantity": _title(quantity, points),
            "model": point.name,
            "takes": point.takes,
            "mean": point.mean,
            "low": point.mean if point.low is None else point.low,
            "high": point.mean if point.high is None else point.high,
            "standing": UNDOMINATED if point.is_undominated else BEATEN,
        }
        for quantity, points in found.items()
        for point in points
    ]
    x = {"field": "takes", "type": "quantitative", "title": None, "scale": {"zero": True}}
    scale = {"zero": False}
    layer = [
        {
            "mark": {"type": "rule", "color": palette.mark, "strokeWidth": 2, "opacity": 0.45},
            "encoding": {
                "x": x,
                "y": {"field": "low", "type": "quantitative", "title": metric, "scale": scale},
                "y2": {"field": "high"},
            },
        },
        {
            "mark": {"type": "point", "size": 70, "color": palette.mark, "opacity": 1},
            "encoding": {
                "x": x,
                "y": {"field": "mean", "type": "quantitative"},
                "fill": {
                    "field": "standing",
                    "type": "nominal",
                    "scale": {
                        "domain": [UNDOMINATED, BEATEN],
                        "range": [palette.mark, palette.background],
                    },
                    "legend": None,
                },
                "tooltip": [
                    {"field": name, "type": kind}
                    for name, kind in (
                        ("model", "nominal"),
                        ("mean", "quantitative"),
                        ("low", "quantitative"),
                        ("high", "quantitative"),
                        ("takes", "quantitative"),
                        ("standing", "nominal"),
                    )
                ],
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "color": palette.ink},
            "encoding": {
                "x": x,
                "y": {"field": "mean", "type": "quantitative"},
                "text": {"field": "model", "type": "nominal"},
            },
        },
    ]
    return chart_of(
        rows,
        palette,
        facet={
            "field": "quantity",
            "type": "nominal",
            "sort": [_title(*each) for each in found.items()],
            "title": None,
        },
        columns=PLOTS_IN_A_ROW,
        spec={"width": PLOT_WIDTH, "height": 210, "layer": layer},
        resolve={"scale": {"x": "independent"}, "axis": {"x": "independent"}},
    )
