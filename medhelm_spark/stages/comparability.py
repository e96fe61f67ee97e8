"""The comparability key of stats: recorded with the scores, then copied to every stat of them.

A stat's key names the definition by which its scores were written. So score writes it into its
record, and summarize uses only scores of the current definition.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.domain.comparability import (
    DATA,
    EXTRACTION,
    IMPORTED,
    JURY,
    METRIC,
    ORIGIN,
    PROMPT,
    UNKNOWN,
    data_part,
    extraction_part,
    origin_part,
    prompt_part,
)
from medhelm_spark.domain.helm_results import is_stored
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import MEDHELM_08, STRICT, MetricSpec, RunRecord, RunSpec
from medhelm_spark.domain.stages import ANNOTATE, SCORE
from medhelm_spark.domain.stats import UNREADABLE_STAT, Stat
from medhelm_spark.domain.worst import worst_of
from medhelm_spark.metrics import (
    beside,
    medhelm_specs,
    metrics_behind,
    metrics_for,
    parts_of,
    stem_of,
)
from medhelm_spark.metrics.metric import MEDHELM
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.states import Drawn, Inputs

UNREADABLE = MetricSpec(name=UNREADABLE_STAT)


def scored_by(spec: RunSpec) -> tuple[MetricSpec, ...]:
    """A RunSpec's metrics, and the stats that belong to them, such as a jury's criteria.

    If the prompt shows options, also whether the answer was one of them; if answers are not read as
    MedHELM reads them, also the values by MedHELM's reading.
    """
    named = any(metric.name == UNREADABLE.name for metric in spec.metrics)
    is_asked = spec.adapter_spec.method.shows_options and not named and not is_stored(spec)
    is_read = spec.medhelm is not None and spec.answer_extraction is not None
    more = (*((UNREADABLE,) if is_asked else ()), *(medhelm_specs(spec.metrics) if is_read else ()))
    return (*spec.metrics, *more, *beside(spec.metrics))


def jury_of(ctx: Context, spec: RunSpec) -> str:
    """The jury's part of the key of a RunSpec's verdicts; empty without a jury."""
    if not spec.annotators:
        return ""
    record = ctx.finished(ANNOTATE, [spec.run_spec_id]).get(spec.run_spec_id)
    return (record.comparability or {}).get(JURY, UNKNOWN) if record else UNKNOWN


def _definition(ctx: Context, spec: RunSpec) -> dict[str, str]:
    """The definition by which the current code and verdicts would score a RunSpec's answers."""
    versions = [metric.version for metric, _ in metrics_for(scored_by(spec))]
    how = extraction_part(spec.answer_extraction or STRICT, EXTRACTION_VERSION)
    return {
        EXTRACTION: MEDHELM_08 if is_stored(spec) else how,
        METRIC: content_id(SCORE.version, versions),
        JURY: jury_of(ctx, spec),
    }


def noted(ctx: Context, spec: RunSpec, inputs: Inputs, drawn: Drawn | None) -> dict[str, str]:
    """The key of the scores that are about to be written, by part."""
    return _definition(ctx, spec) | {
        DATA: data_part(spec, *((drawn.instances, drawn.drawn) if drawn else (0, ""))),
        PROMPT: prompt_part(spec),
        ORIGIN: IMPORTED if is_stored(spec) else origin_part(inputs.answered, inputs.imported),
    }


def is_outdated(ctx: Context, spec: RunSpec, scored: RunRecord) -> bool:
    """Whether a RunSpec's scores are not of the current definition; reads no table."""
    noted = scored.comparability or {}
    return any(noted.get(part) != text for part, text in _definition(ctx, spec).items())


def outdated(ctx: Context, specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The RunSpecs that were scored by another definition than the current one."""
    known = {spec.run_spec_id: spec for spec in specs}
    scored = ctx.finished(SCORE, known)
    return [known[unit] for unit, record in scored.items() if is_outdated(ctx, known[unit], record)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatKeys:
    """The keys of the stats of one RunSpec.

    `metrics` gives the metric's part by stat name, `judged` the stats that need verdicts.
    `changed_prompt` is the prompt's part of stats over perturbed copies or other prompts.
    """

    scores: Mapping[str, str]
    changed_prompt: str
    metrics: Mapping[str, str]
    judged: frozenset[str]

    def of(self, stat: str, perturbation: str) -> dict[str, str]:
        """The key of one stat, with every part."""
        # A worst case is computed from the plain stat, and verdicts name criteria.
        plain = (worst_of(stat) or (stat, 1))[0]
        names = (plain, plain.removesuffix(MEDHELM), stem_of(plain))
        name = next(each for each in names if each in self.metrics)
        parts = dict(self.scores) | {METRIC: self.metrics[name]}
        if name not in self.judged:
            parts[JURY] = ""
        if perturbation:
            parts[PROMPT] = self.changed_prompt
        return parts


def keyed(stat: Stat, keys: Mapping[str, StatKeys]) -> Stat:
    """The stat with its key, if `keys` has one."""
    own = keys.get(stat.run_spec_id)
    return replace(stat, comparability=own.of(stat.name, stat.perturbation)) if own else stat


def stat_keys(ctx: Context, specs: Sequence[RunSpec]) -> dict[str, StatKeys]:
    """The keys of the stats of these scored RunSpecs, by run_spec_id."""
    scored = ctx.finished(SCORE, [spec.run_spec_id for spec in specs])
    return {
        spec.run_spec_id: _keys(spec, scored[spec.run_spec_id].comparability or {})
        for spec in specs
    }


def _keys(spec: RunSpec, scores: Mapping[str, str]) -> StatKeys:
    metrics = parts_of(scored_by(spec))
    return StatKeys(
        scores=scores,
        changed_prompt=prompt_part(spec, is_changed=True),
        metrics=metrics,
        judged=frozenset(
            name
            for name in metrics
            if any("verdicts" in metric.needs for metric in metrics_behind(name, scored_by(spec)))
        ),
    )
