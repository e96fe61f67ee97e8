"""A benchmark of a user's own, with the checks that need metrics and perturbations."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from medhelm_spark.config.benchmark import Benchmark, MetricUse, read_benchmark
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.augmentation import perturbations_named
from medhelm_spark.metrics import (
    METRICS,
    RUN_METRICS,
    About,
    Metric,
    RunMetric,
    declared_labels,
    metric_for,
    metrics_for,
    run_metric_for,
    run_metrics_for,
)


def load_benchmark(path: Path) -> Benchmark:
    """Reads a benchmark and checks all that its files show.

    Raises:
        ConfigError: Naming the file and the key, column or criterion that is wrong.
    """
    benchmark = read_benchmark(path, metric_use)
    perturbations_named(benchmark.card.perturbations, f"{path}: perturbations")
    return benchmark


def metric_use(specs: Sequence[MetricSpec], where: str) -> MetricUse:
    """What these metrics take of a benchmark, one at least.

    Raises:
        ConfigError: One does not exist, reads what a single data set has, gives no stat of its name
            with its arguments, or two give the same stat by different arguments.
    """
    try:
        main = [_stat_of(spec) for spec in specs]
        metrics_for(specs)
        run_metrics_for(specs)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    comparing = (spec.name for spec in specs if any(each.compares for each in _behind(spec)))
    return MetricUse(
        main_metric=main[0],
        comparing=next(comparing, None),
        takes_options=all(map(_takes_options, specs)),
        labels=declared_labels(specs),
    )


def _takes_options(spec: MetricSpec) -> bool:
    reads_itself = "output_mapping_pattern" in spec.args
    return not reads_itself and all(each.about is not About.WORDING for each in _behind(spec))


def _behind(spec: MetricSpec) -> list[Metric]:
    """The per-instance metrics that a spec brings."""
    return [metric for metric, _ in metrics_for([spec])]


def _is_for_any_data(metric: Metric) -> bool:
    return not metric.data_set and any(stat.has_mean for stat in metric.emits)


def _known() -> Iterator[str]:
    """Names of metrics and their stats that a benchmark of any data may ask for."""
    for name, metric in METRICS.items():
        if _is_for_any_data(metric):
            yield from (name, *(stat.name for stat in metric.emits if stat.has_mean))
    for name, run_metric in RUN_METRICS.items():
        yield from (name, *(stat.name for stat in (*run_metric.emits, *run_metric.aliases)))


def _stat_of(spec: MetricSpec) -> str:
    """The stat that a spec is read by: the one it names, or the first of the metric it names."""
    names = [stat.name for stat in _given(spec) if stat.has_mean]
    if not names:
        raise UnknownNameError("metric", spec.name, _known())
    if spec.name in names:
        return spec.name
    of_this_name = [name for name in names if name.partition("[")[0] == spec.name]
    if spec.name in {*METRICS, *RUN_METRICS} or len(of_this_name) == 1:
        return (of_this_name or names)[0]
    raise ConfigError(f"{spec.name!r} is no stat with these args; allowed: {', '.join(names)}.")


def _check_needed(spec: MetricSpec, metric: RunMetric) -> None:
    """Refuse a metric without an argument that it needs, with the entry to write."""
    missing = [name for name in metric.needed if name not in spec.args]
    if missing:
        args = {**metric.example, **spec.args}
        listed = ", ".join(f"{name}: {value}" for name, value in args.items())
        raise ConfigError(
            f"{spec.name} needs args: {', '.join(missing)}; such as "
            f"{{name: {spec.name}, args: {{{listed}}}}}."
        )


def _given(spec: MetricSpec) -> Sequence[MetricInfo]:
    """The stats of the metric that a spec names, without those that it only reads."""
    if run_metric := run_metric_for(spec.name):
        _check_needed(spec, run_metric)
        run_metric.preflight(spec.args)
        return run_metric.emitted(spec.args)
    try:
        _, metric = metric_for(spec.name)
    except UnknownNameError:
        raise UnknownNameError("metric", spec.name, _known()) from None
    if metric.data_set:
        raise ConfigError(
            f"{spec.name!r} reads what only {metric.data_set} has; allowed: metrics of any data "
            "(docs/metrics.md)."
        )
    return metric.emitted(spec.args)
