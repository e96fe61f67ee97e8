"""The metrics of benchmarks as one report: tables for people, and a record for each run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics, RunMetrics
from medhelm_spark.board.render.metrics import overall_table, tables_of
from medhelm_spark.board.render.risk import Risk, lead, prevalence_of, risks_of
from medhelm_spark.board.render.risk_tables import counts_of
from medhelm_spark.board.took import money
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.two_by_two import Estimated

EMPTY = "There are no metrics to show: no run has a summary."
_ESTIMATES = {
    "ppv": "ppv",
    "npv": "npv",
    "missed": "missed_per_1000",
    "false_alarms": "false_alarms_per_1000",
    "without_answer": "without_answer_per_1000",
    "cost": "cost_per_1000",
}
_COUNTS = (
    "true_positives",
    "false_negatives",
    "positives_without_answer",
    "false_positives",
    "true_negatives",
    "negatives_without_answer",
)
_TOOK = (
    "answers",
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "median_seconds",
    "slow_seconds",
)
FIELDS = (
    *("scenario_name", "display_name", "part", "split", "positive", "model_deployment", "rule"),
    *("run_spec_id", "prevalence", "prevalence_is_stated", *_COUNTS, "num_clusters"),
    *(f"{name}{end}" for name in _ESTIMATES.values() for end in ("", "_low", "_high")),
    *(*_TOOK, "money_per_1000", "currency"),
)
"""The fields of a record: a run of a benchmark, or a rule at its prevalence."""


def render_metrics(
    benchmarks: Sequence[BenchmarkMetrics],
    output_format: str,
    *,
    stated: Stated = None,
    prices: Mapping[str, Prices] | None = None,
    banner: str = "",
    filters: str = "",
) -> str:
    """The metrics in one of `report.FORMATS`, with a newline at its end; `banner` is above."""
    report = metrics_report(benchmarks, stated, prices or {}, banner=banner, filters=filters)
    return formatted(report, output_format)


def metrics_report(
    benchmarks: Sequence[BenchmarkMetrics],
    stated: Stated,
    prices: Mapping[str, Prices],
    *,
    banner: str = "",
    filters: str = "",
) -> Report:
    """The tables of the benchmarks that have some, and of all benchmarks what answers took."""
    tables = [
        table for metrics in benchmarks for table in _tables_below_lead(metrics, stated, prices)
    ]
    overall = overall_table(benchmarks, prices)
    tables += [overall] if overall.rows else []
    records = [record for metrics in benchmarks for record in records_of(metrics, stated, prices)]
    curves = [
        {
            "scenario_name": metrics.benchmark.scenario_name,
            "run_spec_id": run.run.run_spec.run_spec_id,
            "bins": [
                {
                    "confidence": each.confidence,
                    "count": each.count,
                    "right": each.right.value,
                    "right_low": each.right.low,
                    "right_high": each.right.high,
                }
                for each in run.curve
            ],
        }
        for metrics in benchmarks
        for run in metrics.runs
        if run.curve
    ]
    return Report(
        tables=tables,
        content={"metrics": records, "calibration_curves": curves},
        fields=FIELDS,
        records=records,
        if_empty="" if tables else EMPTY,
        banner=banner,
        filters=filters,
        rounding=ROUNDED if tables else "",
    )


def _tables_below_lead(
    metrics: BenchmarkMetrics, stated: Stated, prices: Mapping[str, Prices]
) -> Iterator[TextTable]:
    """The tables of a benchmark, below the first what it comes to."""
    prevalence = prevalence_of(metrics, stated)
    sentences = tuple(lead(metrics, prevalence, prices)) if prevalence else ()
    for index, table in enumerate(tables_of(metrics, stated, prices)):
        yield table if index else replace(table, notes=(*sentences, *table.notes))


def records_of(
    metrics: BenchmarkMetrics, stated: Stated, prices: Mapping[str, Prices]
) -> Iterator[dict[str, object]]:
    """Of each run, and of each rule, everything that is known, at full precision."""
    prevalence = prevalence_of(metrics, stated)
    risks = risks_of(metrics, prevalence) if prevalence else []
    by_run = {risk.run.run.run_spec.run_spec_id: risk for risk in risks if risk.run}
    benchmark = metrics.benchmark
    template: dict[str, object] = {
        **dict.fromkeys(FIELDS),
        "scenario_name": benchmark.scenario_name,
        "display_name": benchmark.display_name,
        "part": benchmark.part,
        "split": benchmark.split,
        "positive": benchmark.positive,
        "prevalence": prevalence.share if prevalence else None,
        "prevalence_is_stated": prevalence.is_stated if prevalence else None,
    }
    for run in metrics.runs:
        spec = run.run.run_spec
        counts = dict(zip(_COUNTS, counts_of(run), strict=True)) if run.answers else {}
        yield {
            **template,
            "model_deployment": spec.model_deployment,
            "run_spec_id": spec.run_spec_id,
            **counts,
            "num_clusters": run.answers.num_clusters if run.answers else None,
            **_estimates(by_run.get(spec.run_spec_id)),
            **_took_record(run, prices.get(spec.model_deployment)),
        }
    for risk in risks:
        if risk.run is None:
            yield {**template, "rule": risk.name, **_estimates(risk)}


def _estimates(risk: Risk | None) -> dict[str, object]:
    if risk is None:
        return {}
    record: dict[str, object] = {}
    for name, field in _ESTIMATES.items():
        estimate: Estimated | None = getattr(risk.at, name)
        if estimate:
            record |= {
                field: estimate.value,
                f"{field}_low": estimate.low,
                f"{field}_high": estimate.high,
            }
    return record


def _took_record(run: RunMetrics, prices: Prices | None) -> dict[str, object]:
    if run.took is None:
        return {}
    return {
        **{name: getattr(run.took, name) for name in _TOOK},
        "money_per_1000": money(run.took, prices),
        "currency": prices.currency if prices else None,
    }
