"""What the dashboard's page *Drift* shows of a release."""

from collections.abc import Collection, Iterator, Sequence

from medhelm_spark.board.render.charts import LIGHT, Palette, Spec, chart_of
from medhelm_spark.lake.reader import Reader
from medhelm_spark.render.table import TextTable
from medhelm_spark.watch.look import results_of
from medhelm_spark.watch.results import (
    LOOK_HEADER,
    ORDER,
    ReleaseLook,
    ReleaseLooks,
    look_cells,
    look_tables,
    looks_of,
)
from medhelm_spark.watch.tables import DriftVerdict, WatchedPart, WatchResult

WIDTH, HEIGHT = 620, 110
SHOWN_LOOKS = 30
"""The newest looks that the table lists; the plot has all."""


def looks_at(
    reader: Reader, release: str, run_spec_ids: Collection[str]
) -> tuple[ReleaseLook, ...]:
    """The looks at some runs of a release, the newest first."""
    rows = [row for row in results_of(reader, release) if row.run_spec_id in run_spec_ids]
    return looks_of(release, rows)


def lead(looks: Sequence[ReleaseLook]) -> Iterator[str]:
    """What the newest look says, and how many looks there were."""
    newest = looks[0]
    yield f"{newest.banner}."
    moved = sum(look.verdict is DriftVerdict.MOVED for look in looks)
    yield (
        f"Looks: {len(looks)}, the newest at {newest.lines[0].looked_at:%Y-%m-%d %H:%M} UTC; "
        f"something moved in {moved} of them."
    )


def tables(looks: Sequence[ReleaseLook]) -> list[TextTable]:
    """The lines of the newest look, and a row for each look."""
    newest = sorted(looks[0].lines, key=lambda row: ORDER.index(row.verdict))
    rows = [look_cells(look) for look in looks[:SHOWN_LOOKS]]
    return [*look_tables(newest), TextTable(title="Looks", header=LOOK_HEADER, rows=rows)]


def as_csv(looks: Sequence[ReleaseLook]) -> str:
    """All lines of all looks."""
    return ReleaseLooks(release=looks[0].release, looks=tuple(looks)).render("csv")


def drift_plot(looks: Sequence[ReleaseLook], palette: Palette = LIGHT) -> Spec | None:
    """The differences of the scores by look, a row of the plot for each run; None of none."""
    scores = [
        row
        for look in looks
        for row in look.lines
        if row.part is WatchedPart.SCORES and row.difference is not None
    ]
    if not scores:
        return None
    x = {"field": "look", "type": "temporal", "title": None}
    y = {"type": "quantitative", "title": "look less release"}
    tooltip = [
        *({"field": name, "type": "nominal"} for name in ("run", "number", "verdict")),
        *({"field": name, "type": "quantitative"} for name in ("difference", "low", "high", "n")),
    ]
    edge = {"type": "rule", "strokeDash": [4, 3], "opacity": 0.8}
    return chart_of(
        [_point(row) for row in scores],
        palette,
        facet={"row": {"field": "run", "type": "nominal", "title": None, **_HEADER}},
        spec={
            "width": WIDTH,
            "height": HEIGHT,
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7},
                    "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                    "encoding": {
                        "x": x,
                        "y": {**y, "field": "difference"},
                        "shape": _SHAPE,
                        "color": {"value": palette.mark},
                        "tooltip": tooltip,
                    },
                },
                *(
                    {"mark": edge, "encoding": {"y": {**y, "field": end, "aggregate": "max"}}}
                    for end in ("margin", "margin_below")
                ),
            ],
        },
    )


_HEADER = {"header": {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top"}}
_SHAPE = {
    "field": "verdict",
    "type": "nominal",
    "title": None,
    "scale": {
        "domain": [DriftVerdict.SAME, DriftVerdict.OPEN, DriftVerdict.MOVED],
        "range": ["circle", "diamond", "triangle-down"],
    },
}


def _point(row: WatchResult) -> dict[str, object]:
    margin = row.margin or 0.0
    return {
        "run": f"{row.scenario_name}, {row.model_deployment} ({row.name})",
        "look": row.looked_at.isoformat(),
        "number": row.look,
        "verdict": row.verdict.value,
        "difference": row.difference,
        "low": row.low,
        "high": row.high,
        "n": row.n,
        "margin": margin,
        "margin_below": -margin,
    }
