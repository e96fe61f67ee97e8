"""The metrics: literal `METRICS` and look-ups by metric name, by stat name and by MetricSpec."""

from collections.abc import Iterator, Mapping, Sequence

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics.answer import ANSWER_UNREADABLE
from medhelm_spark.metrics.bertscore import BERTSCORE
from medhelm_spark.metrics.billing_code import MIMICIV_BILLING_CODE
from medhelm_spark.metrics.ehr_sql import EHR_SQL
from medhelm_spark.metrics.jury import JURY_SCORE
from medhelm_spark.metrics.medcalc import MEDCALC_BENCH_ACCURACY
from medhelm_spark.metrics.medec import MEDEC
from medhelm_spark.metrics.metric import Metric, Params
from medhelm_spark.metrics.rouge import ROUGE
from medhelm_spark.metrics.sct import SCT
from medhelm_spark.metrics.text_match import (
    EXACT_MATCH,
    F1_SCORE,
    QUASI_LEAVE_ARTICLES_EXACT_MATCH,
)

METRICS: Mapping[str, Metric] = {
    "exact_match": EXACT_MATCH,
    "quasi_leave_articles_exact_match": QUASI_LEAVE_ARTICLES_EXACT_MATCH,
    "f1_score": F1_SCORE,
    "rouge": ROUGE,
    "bertscore": BERTSCORE,
    "medcalc_bench_accuracy": MEDCALC_BENCH_ACCURACY,
    "medec": MEDEC,
    "ehr_sql": EHR_SQL,
    "sct": SCT,
    "mimiciv_billing_code": MIMICIV_BILLING_CODE,
    "jury_score": JURY_SCORE,
    "answer_unreadable": ANSWER_UNREADABLE,
}


def _stats() -> Iterator[tuple[str, MetricInfo]]:
    """(metric name, stat) for every stat whose name is known beforehand."""
    for name, metric in METRICS.items():
        for stat in (*metric.emits, *metric.aliases):
            yield name, stat


def _stem(stat_name: str) -> str:
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
        if stat.name == _stem(name):
            return metric_name, METRICS[metric_name]
    raise UnknownNameError("metric", name, {*METRICS, *(stat.name for _, stat in _stats())})


def metrics_for(specs: Sequence[MetricSpec]) -> list[tuple[Metric, Params]]:
    """The metrics to run for these specs, in order, each with its params once.

    `rouge_1` and `rouge_l` are one metric. Raises ConfigError where two specs would give the same
    stat under different params, and UnknownNameError for an unknown name.
    """
    chosen: list[tuple[Metric, Params]] = []
    owners: dict[str, tuple[str, Params]] = {}
    for spec in specs:
        name, metric = metric_for(spec.name)
        params = dict(spec.args)
        if (metric, params) in chosen:
            continue
        for stat in metric.emitted(params):
            if stat.name in owners:
                raise ConfigError(
                    f"metric {spec.name!r} with {params} gives the stat {stat.name!r}, which "
                    f"{owners[stat.name][0]!r} with {owners[stat.name][1]} gives already; "
                    "give one spec, or the same arguments."
                )
            owners[stat.name] = (name, params)
        chosen.append((metric, params))
    return chosen


def info(stat_name: str, specs: Sequence[MetricSpec] = ()) -> MetricInfo:
    """How a stat is read. `specs` tells stats that a RunSpec names itself (params `stat_name`)."""
    own = (stat for metric, params in metrics_for(specs) for stat in metric.emitted(params))
    known = [*own, *(stat for _, stat in _stats())]
    for stat in known:
        if stat.name == stat_name:
            return stat
    for stat in known:
        if stat.name == _stem(stat_name):
            return stat
    raise UnknownNameError("stat", stat_name, {stat.name for stat in known})


__all__ = ["METRICS", "Metric", "Params", "info", "metric_for", "metrics_for"]
