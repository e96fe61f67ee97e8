"""The numbers: metrics, means, comparisons, groups, robustness, risk, cost.

None is computed here: all are the board's and its features'.
"""

from typing import cast

from medhelm_spark import features
from medhelm_spark.board import robustness_of
from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.board import board_report, counts, marked_mean, remarks
from medhelm_spark.board.render.metric_records import metrics_report
from medhelm_spark.board.render.metrics import TOOK_NOTE, has_tables
from medhelm_spark.board.render.practical import price_notes
from medhelm_spark.board.render.robustness import robustness_report
from medhelm_spark.domain.comparability import METRIC
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.evidence.fills.listed import listed, unavailable, without_feature
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.render.report import Report
from medhelm_spark.render.table import TextTable, interval_text
from medhelm_spark.statistics.cell import BoardCell

RESULT_FIELDS = (
    *("model_deployment", "model", "scenario_name", "display_name", "access_level", "main_metric"),
    *("lower_is_better", "split", "mean", "ci_low", "ci_high", "ci_method", "count"),
    *("num_unscored", "denominator", "coverage", "unreadable", "num_clusters", "cluster_column"),
    *("num_effective_clusters", "bound_low", "bound_high", "jury_evidence", "jury_coverage"),
    *("corrected_mean", "corrected_low", "corrected_high", "num_rated", "worst_group"),
    *("worst_group_mean", "is_primary", "margin", "imported", "is_below_floor", "differs"),
    *("mean_win_rate", "rank", "tier", "rank_low", "rank_high"),
)
"""The fields of a board's cell that results have, by the board's names."""
_TOOK = {
    "display_name": "Benchmark",
    "model_deployment": "Model",
    "answers": "Answers",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Output tokens",
    "seconds": "Seconds",
    "median_seconds": "Half within",
    "slow_seconds": "95 % within",
    "money_per_1000": "Money per 1,000",
}


def metrics(material: ReleaseMaterial) -> Report:
    """The main metric of each benchmark: direction, scale, version, how intervals are made."""
    by_metric = {}
    for run in material.runs:
        cell = run.cell
        key = (run.run_spec.scenario_name, run.run_spec.main_metric)
        if cell and key not in by_metric:
            by_metric[key] = {
                "scenario_name": run.run_spec.scenario_name,
                "display_name": cell.display_name,
                "main_metric": cell.main_metric,
                "direction": _direction(cell),
                "minimum": cell.minimum,
                "maximum": cell.maximum,
                "version": (cell.comparability or {}).get(METRIC),
                "interval": _interval(cell),
                "further_metrics": sorted({metric.name for metric in run.run_spec.metrics}),
            }
    return listed(
        by_metric.values(),
        {
            "display_name": "Benchmark",
            "main_metric": "Main metric",
            "direction": "Better",
            "minimum": "Least",
            "maximum": "Most",
            "version": "Version",
            "interval": "95 % interval",
            "further_metrics": "Metrics computed",
        },
        notes=["docs/metrics.md explains each metric."],
    )


def _direction(cell: BoardCell) -> str:
    if cell.lower_is_better is None:
        return "neither"
    return "lower" if cell.lower_is_better else "higher"


def _interval(cell: BoardCell) -> str:
    known = {method.value: method.label for method in IntervalMethod}
    return known.get(cell.ci_method, cell.ci_method)


def results(material: ReleaseMaterial) -> Report:
    """The mean of each model on each benchmark, with interval and denominators, as the board's."""
    board = material.board
    cells = [cell for row in board.rows for cell in row.cells if cell]
    records = cast("list[dict[str, object]]", board_report(board).content["cells"])
    made = sorted(
        zip(records, cells, strict=True),
        key=lambda pair: (pair[1].display_name, pair[1].main_metric),
    )
    return Report(
        tables=[
            TextTable(
                header=("Benchmark", "Model", "Metric", "Mean [low, high]", "Answers", "Remarks"),
                rows=[_result_cells(cell) for _, cell in made],
                notes=board.notes,
            )
        ],
        content={
            "results": [{name: record.get(name) for name in RESULT_FIELDS} for record, _ in made],
            "notes": list(board.notes),
        },
        fields=RESULT_FIELDS,
        records=[{name: record.get(name) for name in RESULT_FIELDS} for record, _ in made],
        if_empty="" if made else "No run has a summary.",
    )


def _result_cells(cell: BoardCell) -> tuple[str, ...]:
    """A cell as a board shows it."""
    return (
        cell.display_name,
        cell.model_deployment,
        cell.main_metric + (" (lower is better)" if cell.lower_is_better else ""),
        marked_mean(cell) + interval_text(cell.ci_low, cell.ci_high),
        ", ".join(counts(cell)),
        "; ".join(remarks(cell)),
    )


def comparisons(material: ReleaseMaterial) -> Report:
    """Two models on the same instances: paired differences with intervals and adjusted p."""
    board = board_report(material.board)
    return Report(
        tables=board.tables[1:],
        content={"pairs": board.content["pairs"]},
        fields=comparison.FIELDS,
        records=[comparison.record(pair) for pair in material.board.pairs],
        if_empty="" if material.board.pairs else "No two models can be compared.",
    )


def subgroups(material: ReleaseMaterial) -> Report:
    """Means by groups of patients, worst group, gap with interval; hidden cells stay hidden."""
    model_groups = features.part("subgroups", "model_groups")
    render = features.part("subgroups", "render")
    if model_groups is None or render is None:
        return without_feature("subgroups")
    groups = model_groups.groups_of_runs(material.frozen, material.runs)
    report: Report = render.groups_report(groups)
    return report


def robustness(material: ReleaseMaterial) -> Report:
    """What changed copies, other prompts and repeats do to a mean, where a run has them."""
    return robustness_report(robustness_of(material.runs))


def risk(material: ReleaseMaterial) -> Report:
    """Missed cases, false alarms and calibration, where a benchmark has classes."""
    benchmarks = [each for each in material.metrics.benchmarks if has_tables(each)]
    if not benchmarks:
        return unavailable("no benchmark has classes or a calibration.")
    return metrics_report(benchmarks, None, material.metrics.prices)


def cost(material: ReleaseMaterial) -> Report:
    """Tokens, seconds and money of an answer, by run."""
    prices = material.metrics.prices
    records = [
        {name: row.get(name) for name in (*_TOOK, "scenario_name", "run_spec_id")}
        for row in material.metrics.rows()
        if row.get("answers")
    ]
    names = dict.fromkeys(str(row["model_deployment"]) for row in records)
    return listed(
        records,
        _TOOK,
        notes=[TOOK_NOTE, *price_notes(names, prices)],
        if_empty="The lake has no answer of these runs.",
    )
