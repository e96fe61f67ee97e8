"""The metrics of a benchmark side by side: risk, cost and evidence, as tables and as data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics, RunMetrics
from medhelm_spark.board.render.meanings import meanings_of
from medhelm_spark.board.render.practical import price_notes
from medhelm_spark.board.render.risk import prevalence_of
from medhelm_spark.board.render.risk_tables import difference_table, risk_table, two_by_two_table
from medhelm_spark.board.render.trade_off import trade_off_notes
from medhelm_spark.board.took import Took, money, together
from medhelm_spark.board.trade_off import trade_offs
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.domain.stats import Stat
from medhelm_spark.metrics.jury_criteria import CLASS, CRITERION, CRITICAL, LOW
from medhelm_spark.render.table import TextTable, interval_text, number_text
from medhelm_spark.statistics.board import clustered_text

TOOK = (
    "Model",
    "Answers",
    "Prompt tokens",
    "Output tokens",
    "Seconds",
    "Half within",
    "95 % within",
    "Money for 1,000",
)
_RATES: Mapping[str, str] = {
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "abstention": "Without an answer",
    "classification_macro_f1": "Macro F1",
}
_OF_CLASS: Mapping[str, str] = {
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "classification_f1": "F1",
}
_CALIBRATION: Mapping[str, str] = {
    "ece_10_bin": "Calibration error",
    "brier_score": "Brier score",
    "selective_cov_acc_area": "Selective accuracy",
}
TOOK_NOTE = (
    "Means per answer, without judges and changed copies; Half within, 95 % within: so many of the "
    "answers took at most so many seconds."
)
CRITERIA_NOTE = (
    "Mean: of the judges, on the criterion's own scale. Low: the share of answers that most judges "
    "put in the low part of the scale (its last quarter, unless the rubric says otherwise); in the "
    "last row, to which most judges give a criterion the worst value."
)


def tables_of(
    metrics: BenchmarkMetrics, stated: Stated, prices: Mapping[str, Prices]
) -> list[TextTable]:
    """All tables of a benchmark; none where its board says it all."""
    if not has_tables(metrics):
        return []
    prevalence = prevalence_of(metrics, stated)
    tables = (
        *(
            [risk_table(metrics, prevalence), difference_table(metrics, prevalence)]
            if prevalence
            else ()
        ),
        two_by_two_table(metrics),
        rates_table(metrics),
        classes_table(metrics),
        confusion_table(metrics),
        criteria_table(metrics),
        calibration_table(metrics),
        took_table(metrics, prices),
    )
    return [table for table in tables if table.rows]


def has_tables(metrics: BenchmarkMetrics) -> bool:
    """Whether a benchmark has more numbers than its board shows."""
    return any(
        run.answers
        or run.curve
        or _classes(run)
        or _criteria(run)
        or _stats_in(run, _RATES.keys() - {"accuracy"})
        for run in metrics.runs
    )


def rates_table(metrics: BenchmarkMetrics) -> TextTable:
    """The stats of the whole benchmark, as the board has them, with what each rests on."""
    return _stats_table(metrics, _RATES, f"{metrics.benchmark.title}: as measured")


def calibration_table(metrics: BenchmarkMetrics) -> TextTable:
    """How well the models' confidence matches how often they are right."""
    return _stats_table(metrics, _CALIBRATION, f"{metrics.benchmark.title}: calibration")


def _stats_table(metrics: BenchmarkMetrics, names: Mapping[str, str], title: str) -> TextTable:
    there = {name for run in metrics.runs for name in _stats_in(run, names)}
    columns = [name for name in names if name in there]
    rows = [
        (run.name, *(stat_text(run.run.originals.get(name)) for name in columns))
        for run in metrics.runs
        if _stats_in(run, columns)
    ]
    return TextTable(
        title=title,
        header=("Model", *(names[name] for name in columns)),
        rows=rows,
        notes=_notes(metrics, {name: names[name] for name in columns}),
    )


def _notes(metrics: BenchmarkMetrics, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Of how many patients the answers are, and what the stats mean."""
    meanings = meanings_of(titles, metrics.runs[0].run.run_spec.metrics if metrics.runs else ())
    return tuple(filter(None, (clustered_note(metrics), meanings)))


def clustered_note(metrics: BenchmarkMetrics) -> str:
    """`300 answers of 120 patients (patient_id)`, of the stat of most answers; else empty."""
    column = next((run.run.cell.cluster_column for run in metrics.runs if run.run.cell), None)
    sizes = [
        (stat.count if stat.denominator is None else stat.denominator, stat.num_clusters)
        for run in metrics.runs
        for stat in run.run.originals.values()
        if stat.num_clusters
    ]
    if not sizes:
        return ""
    clusters = clustered_text(*max(sizes), column)
    return f"n: answers. {clusters}; intervals count these, not answers."


def _stats_in(run: RunMetrics, names: "Sequence[str] | Mapping[str, str] | set[str]") -> list[str]:
    """Which of these stats the run has."""
    return [name for name in names if name in run.run.originals]


def stat_text(stat: Stat | None) -> str:
    """`0.667 [0.42, 0.85] n=15`; `-` where the run has no such stat, or it has no value."""
    if stat is None or stat.mean is None:
        return "-"
    n = stat.count if stat.denominator is None else stat.denominator
    return f"{number_text(stat.mean)}{interval_text(stat.ci_low, stat.ci_high)} n={n}"


def classes_table(metrics: BenchmarkMetrics) -> TextTable:
    """The stats of each class against all others, of runs that name no positive one."""
    there = [
        stem
        for stem in _OF_CLASS
        if any(name.startswith(f"{stem}[") for run in metrics.runs for name in run.run.originals)
    ]
    return TextTable(
        title=f"{metrics.benchmark.title}: each class against all others",
        header=("Model", "Class", *(_OF_CLASS[name] for name in there)),
        rows=[
            (run.name, label, *(stat_text(run.run.originals.get(f"{n}[{label}]")) for n in there))
            for run in metrics.runs
            for label in _classes(run)
        ],
        notes=_notes(metrics, {name: _OF_CLASS[name] for name in there}),
    )


def _classes(run: RunMetrics) -> list[str]:
    """The classes that the run has stats of, in their order."""
    names = [name.removesuffix("]").partition("[") for name in run.run.originals]
    return list(dict.fromkeys(label for stem, _, label in names if label and stem in _OF_CLASS))


def criteria_table(metrics: BenchmarkMetrics) -> TextTable:
    """What juries say of each criterion: the mean, and how many answers are low or at the worst."""
    rows = []
    for run in metrics.runs:
        for name in _criteria(run):
            stats = run.run.originals
            classes = [
                f"{each.removesuffix(']').partition('=')[2]} {number_text(stat.mean)}"
                for each, stat in stats.items()
                if each.startswith(f"{CLASS}[{name}=") and stat.mean is not None
            ]
            mean, low = (stat_text(stats.get(f"{stem}[{name}]")) for stem in (CRITERION, LOW))
            rows.append((run.name, name, mean, low, ", ".join(classes)))
        if CRITICAL in run.run.originals:
            critical = stat_text(run.run.originals[CRITICAL])
            rows.append((run.name, "any at its worst", "-", critical, ""))
    has_classes = any(row[4] for row in rows)
    return TextTable(
        title=f"{metrics.benchmark.title}: criteria of the jury",
        header=("Model", "Criterion", "Mean", "Low", *(["Classes"] if has_classes else [])),
        rows=[row if has_classes else row[:4] for row in rows],
        notes=(CRITERIA_NOTE,),
    )


def _criteria(run: RunMetrics) -> list[str]:
    """The criteria that the run's juries scored, in their order."""
    names = [name.removesuffix("]").partition("[") for name in run.run.originals]
    return [inside for stem, _, inside in names if stem == CRITERION and inside]


def confusion_table(metrics: BenchmarkMetrics) -> TextTable:
    """How many cases of each class got which answer, where there are more than two classes."""
    rows: list[tuple[str, str, Mapping[str, float]]] = []
    answers: dict[str, None] = {}
    for run in metrics.runs:
        counts = confusion_of(run)
        if len(counts) > 2:
            answers |= dict.fromkeys(label for row in counts.values() for label in row)
            rows += [(run.name, right, row) for right, row in counts.items()]
    return TextTable(
        title=f"{metrics.benchmark.title}: right class (rows) and answer (columns)",
        header=(
            "Model",
            "Right class",
            *("no answer" if name == "-" else name for name in answers),
        ),
        rows=[
            (name, right, *(f"{row.get(label, 0):.0f}" for label in answers))
            for name, right, row in rows
        ],
    )


def confusion_of(run: RunMetrics) -> dict[str, dict[str, float]]:
    """The counts by right class and answer; `-` is no answer."""
    counts: dict[str, dict[str, float]] = {}
    for name, stat in run.run.originals.items():
        if name.startswith("confusion[") and stat.mean is not None:
            right, _, answer = name.removeprefix("confusion[").removesuffix("]").partition(">")
            counts.setdefault(right, {})[answer] = stat.mean
    return counts


def took_table(metrics: BenchmarkMetrics, prices: Mapping[str, Prices]) -> TextTable:
    """Tokens, seconds and money of an answer, by model."""
    rows = [
        (run.name, run.run.run_spec.model_deployment, run.took) for run in metrics.runs if run.took
    ]
    table = _took_table(f"{metrics.benchmark.title}: an answer", rows, prices)
    return replace(table, notes=[*table.notes, *trade_off_notes(trade_offs(metrics, prices))])


def overall_table(
    benchmarks: Sequence[BenchmarkMetrics], prices: Mapping[str, Prices]
) -> TextTable:
    """The same over all answers of all benchmarks, by deployment.

    Without rows where it would repeat the table of the only benchmark.
    """
    if len(benchmarks) == 1 and has_tables(benchmarks[0]):
        return _took_table("", [], prices)
    by_deployment: dict[str, list[Took]] = {}
    for benchmark in benchmarks:
        for run in benchmark.runs:
            if run.took:
                by_deployment.setdefault(run.run.run_spec.model_deployment, []).append(run.took)
    rows = [(name, name, together(parts)) for name, parts in sorted(by_deployment.items())]
    return _took_table("All benchmarks: an answer", rows, prices)


def _took_table(
    title: str, rows: Sequence[tuple[str, str, Took]], prices: Mapping[str, Prices]
) -> TextTable:
    cells = [(name, *_took_cells(took, prices.get(deployment))) for name, deployment, took in rows]
    notes = [TOOK_NOTE, *price_notes(dict.fromkeys(each for _, each, _ in rows), prices)]
    return TextTable(title=title, header=TOOK, rows=cells, notes=notes)


def _took_cells(took: Took, prices: Prices | None) -> tuple[str, ...]:
    cost = money(took, prices)
    return (
        f"{took.answers:,}",
        _mean_text(took.prompt_tokens, 0),
        _mean_text(took.completion_tokens, 1),
        _mean_text(took.seconds, 2),
        _mean_text(took.median_seconds, 2),
        _mean_text(took.slow_seconds, 2),
        _mean_text(cost, 2) + (f" {prices.currency}" if prices and prices.currency else ""),
    )


def _mean_text(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
