"""The metrics: `METRICS`, `RUN_METRICS`, and look-ups by the name of a metric or a stat.

A metric is declared in the mapping `METRICS` or `RUN_METRICS` of its own module in this folder.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from medhelm_spark.domain.comparability import metric_part
from medhelm_spark.domain.helm_results import STORED_STAT
from medhelm_spark.domain.run import MEDHELM_08, MetricSpec
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.domain.worst import worst_of
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics.classification import CLASSES, labels_of
from medhelm_spark.metrics.diagnostic import CLASS_GIVEN
from medhelm_spark.metrics.metric import READ_AS, About, Metric, Params, RunMetric, accept
from medhelm_spark.plugins import Plugin, PluginRegistry, active

METRICS: Mapping[str, Metric] = PluginRegistry("METRICS", Metric, __name__)
RUN_METRICS: Mapping[str, RunMetric] = PluginRegistry("RUN_METRICS", RunMetric, __name__)

JURY_SCORE, JURY_CRITERIA = "jury_score", "jury_criteria"
_OF_CRITERIA = ("annotator", "criteria", "incomplete_jury", "minimum", "maximum")
"""The arguments of a jury's score that its criteria have too."""

WORST_AT_K = "The expected worst of k answers to one question, from all repeats."

Chosen = list[tuple[Metric, Params]]
ChosenForRun = list[tuple[RunMetric, Params]]


def _stats() -> Iterator[tuple[str, MetricInfo]]:
    """(metric name, stat) for every per-instance stat whose name is known beforehand.

    A stat that several metrics give comes first with a metric of any data.
    """
    for name, metric in sorted(METRICS.items(), key=lambda entry: bool(entry[1].data_set)):
        for stat in (*metric.emits, *metric.aliases):
            yield name, stat


def known_stats() -> tuple[MetricInfo, ...]:
    """Every stat whose name is known beforehand, of an instance or of a run."""
    of_runs = (stat for metric in RUN_METRICS.values() for stat in (*metric.emits, *metric.aliases))
    return (*(stat for _, stat in _stats()), *of_runs)


def stem_of(stat_name: str) -> str:
    """A stat's name without the model in brackets: BERTScore-F[all-MiniLM-L6-v2]."""
    return stat_name.partition("[")[0]


def metric_for(name: str) -> tuple[str, Metric]:
    """The metric of this name, or the one that gives the stat of this name.

    >>> metric_for("rouge_l")[0], metric_for("BERTScore-F")[0]
    ('rouge', 'bertscore')
    """
    if name in METRICS:
        return name, METRICS[name]
    for metric_name, stat in _stats():
        if stat.name == stem_of(name):
            return metric_name, METRICS[metric_name]
    known = {*METRICS, *RUN_METRICS, *(stat.name for stat in known_stats())}
    raise UnknownNameError("metric", name, known)


def run_metric_for(name: str) -> RunMetric | None:
    """The run-level metric of this name, or the one that gives the stat of this name."""
    by_name = _run_metrics_by_name(active())
    return by_name.get(name) or by_name.get(stem_of(name))


@cache
def _run_metrics_by_name(_plugins: tuple[Plugin, ...]) -> Mapping[str, RunMetric]:
    """The run-level metrics by their names and those of their stats, with these plug-ins loaded.

    A board asks for a few thousand.
    """
    by_name: dict[str, RunMetric] = {}
    for metric_name, metric in RUN_METRICS.items():
        for name in (metric_name, *(stat.name for stat in (*metric.emits, *metric.aliases))):
            by_name.setdefault(name, metric)
    return by_name


def _part(metric: Metric | RunMetric, params: Params, reads: Iterable[str] = ()) -> str:
    known = (*METRICS.items(), *RUN_METRICS.items())
    name = next(name for name, entry in known if entry is metric)
    return metric_part(name, metric.version, params, reads)


def parts_of(specs: Sequence[MetricSpec]) -> dict[str, str]:
    """The comparability part of each stat that these specs give (`domain.comparability`)."""
    parts: dict[str, str] = {}
    for metric, params in metrics_for(specs):
        parts |= {stat.name: _part(metric, params) for stat in metric.emitted(params)}
    for run_metric, params in run_metrics_for(specs):
        reads = dict.fromkeys(parts[name] for name in run_metric.reads(params))
        part = _part(run_metric, params, reads)
        parts |= {stat.name: part for stat in run_metric.emitted(params)}
    return parts


def _claim(owners: dict[str, MetricSpec], stats: Iterable[MetricInfo], spec: MetricSpec) -> None:
    """Note which spec gives these stats; ConfigError where another gives one of them already."""
    for stat in stats:
        if stat.name in owners:
            first = owners[stat.name]
            raise ConfigError(
                f"metric {spec.name!r} with {dict(spec.args)} gives the stat {stat.name!r}, which "
                f"{first.name!r} with {dict(first.args)} gives already; "
                "give one spec, or the same arguments."
            )
        owners[stat.name] = spec


def run_metrics_for(specs: Sequence[MetricSpec]) -> ChosenForRun:
    """The run-level metrics among these specs, in order, each with its params once.

    Raises ConfigError where two specs would give the same stat under different params.
    """
    chosen: ChosenForRun = []
    owners: dict[str, MetricSpec] = {}
    for spec in specs:
        metric, params = run_metric_for(spec.name), dict(spec.args)
        if metric and (metric, params) not in chosen:
            _claim(owners, metric.emitted(params), spec)
            chosen.append((metric, params))
    return chosen


def metrics_for(specs: Sequence[MetricSpec]) -> Chosen:
    """The per-instance metrics to run for these specs, in order, each with its params once.

    `rouge_1` and `rouge_l` are one metric. What a run-level metric reads and no spec gives comes
    last, under that one's params. Raises ConfigError where two specs would give the same stat under
    different params, and UnknownNameError for an unknown name.
    """
    chosen: Chosen = []
    owners: dict[str, MetricSpec] = {}

    def choose(spec: MetricSpec) -> None:
        (_, metric), params = metric_for(spec.name), dict(spec.args)
        if (metric, params) not in chosen:
            _claim(owners, metric.emitted(params), spec)
            chosen.append((metric, params))

    for spec in specs:
        if run_metric_for(spec.name) is None:
            choose(spec)
    for run_metric, params in run_metrics_for(specs):
        for name in run_metric.reads(params):
            if name not in owners:
                choose(MetricSpec(name=name, args=params))
            elif _take_the_same(run_metric, owners[name]) and dict(owners[name].args) != params:
                raise ConfigError(
                    f"metric {owners[name].name!r} with {dict(owners[name].args)} gives {name!r}, "
                    f"from which another one is computed, under {params}; give both the same "
                    "arguments."
                )
    return chosen


def _take_the_same(run_metric: RunMetric, spec: MetricSpec) -> bool:
    """Whether a run-level metric and one that it reads have their arguments in common."""
    preflight = metric_for(spec.name)[1].preflight
    return preflight is run_metric.preflight and preflight is not accept


def declared_labels(specs: Sequence[MetricSpec]) -> tuple[str, ...]:
    """All possible answers, as the metrics of clinical classification declare them.

    Empty where none does, or an answer may have several.
    """
    labelled = [
        params
        for metric, params in metrics_for([spec for spec in specs if "labels" in spec.args])
        if metric in (CLASSES, CLASS_GIVEN)
    ]
    if any(params.get("delimiter") for params in labelled):
        return ()
    return tuple(dict.fromkeys(label for params in labelled for label in labels_of(params)))


def medhelm_specs(specs: Sequence[MetricSpec]) -> tuple[MetricSpec, ...]:
    """The specs that compute MedHELM's values of the same stats, for the metrics that can."""
    return tuple(
        MetricSpec(name=spec.name, args={**spec.args, READ_AS: MEDHELM_08})
        for spec in specs
        if run_metric_for(spec.name) is None and metric_for(spec.name)[1].takes_readings
    )


def beside(specs: Sequence[MetricSpec]) -> tuple[MetricSpec, ...]:
    """The specs that these imply without a name in a RunSpec: the criteria of its jury."""
    if any(spec.name == JURY_CRITERIA for spec in specs):
        return ()
    return tuple(
        MetricSpec(
            name=JURY_CRITERIA,
            args={key: spec.args[key] for key in _OF_CRITERIA if key in spec.args},
        )
        for spec in specs
        if spec.name == JURY_SCORE and STORED_STAT not in spec.args
    )


def stats_of(specs: Sequence[MetricSpec]) -> tuple[MetricInfo, ...]:
    """Every stat that these specs give, of an instance or of the run."""
    of_instances = (s for metric, params in metrics_for(specs) for s in metric.emitted(params))
    of_run = (s for metric, params in run_metrics_for(specs) for s in metric.emitted(params))
    return (*of_instances, *of_run)


def run_metric_behind(
    stat_name: str, specs: Sequence[MetricSpec]
) -> tuple[RunMetric, Params] | None:
    """The run-level metric that gives a stat, with its params; None where none does."""
    for run_metric, params in run_metrics_for(specs):
        if stat_name in {stat.name for stat in run_metric.emitted(params)}:
            return run_metric, params
    return None


def metrics_behind(stat_name: str, specs: Sequence[MetricSpec]) -> list[Metric]:
    """The per-instance metrics that a stat is computed from; none where no spec gives it."""
    of_run = run_metric_behind(stat_name, specs)
    needed = {stat_name, *(of_run[0].reads(of_run[1]) if of_run else ())}
    return [
        metric
        for metric, params in metrics_for(specs)
        if needed & {stat.name for stat in metric.emitted(params)}
    ]


def info(stat_name: str, specs: Sequence[MetricSpec] = ()) -> MetricInfo:
    """Direction, scale and texts of a stat. `specs` give stats that a RunSpec names by params."""
    if worst := worst_of(stat_name):
        plain, k = worst
        own = info(plain, specs)
        label = f"{own.display_name}, worst of {k}"
        return replace(own, name=stat_name, display_name=label, description=WORST_AT_K)
    stats = stats_of((*specs, *beside(specs)))
    for stat in stats:
        if stat.name == stat_name:
            return stat
    known = (*stats, *known_stats())
    for name in (stat_name, stem_of(stat_name)):
        for stat in known:
            if stat.name == name:
                return stat
    raise UnknownNameError("stat", stat_name, {stat.name for stat in known})


__all__ = [
    "METRICS",
    "RUN_METRICS",
    "About",
    "Metric",
    "Params",
    "RunMetric",
    "beside",
    "declared_labels",
    "info",
    "known_stats",
    "medhelm_specs",
    "metric_for",
    "metrics_behind",
    "metrics_for",
    "parts_of",
    "run_metric_behind",
    "run_metric_for",
    "run_metrics_for",
    "stats_of",
    "stem_of",
]
