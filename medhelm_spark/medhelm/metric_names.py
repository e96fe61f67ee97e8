"""MedHELM's metric classes, by the names that their work has here."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from medhelm_spark.domain.run import MetricSpec

NAMED = "BasicGenerationMetric"
JURY = "LLMJuryMetric"
COUNTS = ("BasicReferenceMetric", "InstancesPerSplitMetric")
"""Classes that give a run nothing but counts, which every run has here."""

BY_CLASS: Mapping[str, tuple[str, ...]] = {
    "SummarizationMetric": ("rouge", "summarization"),
    "MedCalcBenchMetric": ("medcalc_bench_accuracy",),
    "MedecMetric": ("medec",),
    "EhrSqlMetric": ("ehr_sql",),
    "SCTBenchMetric": ("sct",),
    "MIMICIVBillingCodeMetric": ("mimiciv_billing_code",),
}
BY_NAME: Mapping[str, str] = {
    "exact_match": "exact_match",
    "quasi_exact_match": "exact_match",
    "prefix_exact_match": "exact_match",
    "quasi_prefix_exact_match": "exact_match",
    "quasi_leave_articles_exact_match": "quasi_leave_articles_exact_match",
    "f1_score": "f1_score",
    "rouge_1": "rouge",
    "rouge_2": "rouge",
    "rouge_l": "rouge",
    "bleu_1": "bleu",
    "bleu_4": "bleu",
}
"""The metric here by the name that the basic generation metric has as its argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """The metrics of a MedHELM RunSpec as they are named here, and what has no counterpart."""

    metrics: tuple[MetricSpec, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirMetric:
    """A MetricSpec of MedHELM's."""

    class_name: str
    args: Mapping[str, Any] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        return self.class_name.rpartition(".")[2]


def translated(theirs: Iterable[TheirMetric], annotator: str, pattern: str | None) -> Translated:
    """MedHELM's metrics by our names, each once.

    `annotator` is the name of the jury that a jury metric reads, `pattern` the adapter's
    `output_mapping_pattern`, which here is an argument of the metric that looks answers up.
    """
    specs: dict[str, MetricSpec] = {}
    left_out: list[str] = []
    for metric in theirs:
        names = list(_names(metric))
        left_out += [name for name in names if name not in _KNOWN]
        for name in names:
            if name in _KNOWN:
                specs.setdefault(name, _spec(name, metric, annotator, pattern))
    return Translated(metrics=tuple(specs.values()), left_out=tuple(dict.fromkeys(left_out)))


_JURY_SCORE = "jury_score"
_KNOWN = frozenset({_JURY_SCORE, *BY_NAME.values(), *(n for ns in BY_CLASS.values() for n in ns)})


def _names(metric: TheirMetric) -> Iterator[str]:
    """Our names of what a metric computes; one without a counterpart keeps its own."""
    if metric.short_name == NAMED:
        yield from (BY_NAME.get(name, name) for name in metric.args.get("names", ()))
    elif metric.short_name == JURY:
        yield _JURY_SCORE
    elif metric.short_name not in COUNTS:
        yield from BY_CLASS.get(metric.short_name, (metric.short_name,))


def _spec(name: str, metric: TheirMetric, annotator: str, pattern: str | None) -> MetricSpec:
    if name == _JURY_SCORE:
        args = {
            "annotator": annotator,
            "stat_name": str(metric.args.get("metric_name", _JURY_SCORE)),
            "default_score": f"{float(metric.args.get('default_score', 0.0)):g}",
        }
        return MetricSpec(name=name, args=args)
    if name == "exact_match" and pattern:
        return MetricSpec(name=name, args={"output_mapping_pattern": pattern})
    return MetricSpec(name=name)
