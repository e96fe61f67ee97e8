"""score: request states -> per_instance_stats. Reads stored answers; never calls a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from operator import attrgetter

from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.helm_results import STORED_STAT
from medhelm_spark.domain.request import EVALUATION_KEY, FailureKind, Purpose, RequestState
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import ANNOTATE, PLAN, SCORE
from medhelm_spark.domain.stats import (
    UNBOUNDED,
    MetricInfo,
    PerInstanceStats,
    Score,
    ScoreStatus,
)
from medhelm_spark.lake.rows import map_rows, sorted_rows
from medhelm_spark.metrics import Chosen, metrics_for
from medhelm_spark.metrics.metric import MEDHELM, Params
from medhelm_spark.stages.comparability import noted, scored_by
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import adapters_of
from medhelm_spark.stages.run_stage import Written, run_stage
from medhelm_spark.stages.states import (
    drawn_of,
    inputs_of,
    read_state,
    reading_needs,
    states,
)

BATCH = 512
ROWS_WORTH_A_TASK = 50


@dataclass(frozen=True, slots=True)
class Scorer:
    """The function of this stage: states in, stats out, each RunSpec by its own metrics."""

    specs: Mapping[str, RunSpec]

    def __call__(self, states: Iterable[RequestState]) -> Iterator[PerInstanceStats]:
        for run_spec_id, group in groupby(states, key=attrgetter("run_spec_id")):
            spec = self.specs[run_spec_id]
            adapters = adapters_of(spec)
            while batch := [
                read_state(state, spec, adapters.get(state.perturbation))
                for state in islice(group, BATCH)
            ]:
                yield from score_batch(spec, batch)


def metrics_of(spec: RunSpec) -> Chosen:
    """The metrics that a RunSpec's answers are scored by."""
    return metrics_for(scored_by(spec))


def score_batch(spec: RunSpec, batch: Sequence[RequestState]) -> Iterator[PerInstanceStats]:
    """All metrics of a RunSpec on some of its states."""
    chosen = metrics_of(spec)
    columns = [metric.fn(batch, params) for metric, params in chosen]
    scales = {
        stat.name: _scale(stat, params)
        for metric, params in chosen
        for stat in metric.emitted(params)
    }
    for state, *scores in zip(batch, *columns, strict=True):
        key = {name: getattr(state, name) for name in EVALUATION_KEY}
        explained = _with_causes(state, (accepted(score, scales) for score in chain(*scores)))
        yield PerInstanceStats(
            **key, split=state.split, stats=explained, cluster_id=state.cluster_id
        )


def accepted(score: Score, scales: Mapping[str, MetricInfo]) -> Score:
    """The score as it is stored: a value that is not finite, or off its scale, is invalid."""
    if score.value is None:
        return score
    value = scales.get(score.name, UNBOUNDED).accepted(score.value)
    if value is None:
        return replace(score, value=None, status=ScoreStatus.INVALID)
    return score if value == score.value else replace(score, value=value)


def _scale(stat: MetricInfo, params: Params) -> MetricInfo:
    """The scale of single values.

    Values by MedHELM's own rules may be off it: a jury without a verdict counts 0 on a scale of 1
    to 5.
    """
    is_imported = STORED_STAT in params and JURY not in params
    is_by_its_rule = stat.name.endswith(MEDHELM) and not is_imported
    return replace(stat, minimum=None, maximum=None) if is_by_its_rule else stat


def _with_causes(state: RequestState, scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores of a state, each absent answer with its cause.

    An answer that could not be read is told apart from no answer, and a prompt that was too long
    for the model's window from a failure of the machines.
    """
    if state.completions is None and state.unreadable:
        cause = ScoreStatus.UNREADABLE
    elif state.failure is FailureKind.TOO_LONG:
        cause = ScoreStatus.TOO_LONG
    else:
        return tuple(scores)
    return tuple(
        replace(score, status=cause) if score.status is ScoreStatus.NO_ANSWER else score
        for score in scores
    )


def fingerprint(spec: RunSpec, answers: str, annotations: str) -> str:
    """A hash that changes with an answer, an annotation, its reading or a metric's version."""
    versions = [metric.version for metric, _ in metrics_of(spec)]
    return SCORE.fingerprint(spec.run_spec_id, versions, EXTRACTION_VERSION, answers, annotations)


def score(ctx: Context, specs: Sequence[RunSpec]) -> list[str]:
    """Score RunSpecs whose answers, annotations or metric versions changed; returns their ids."""
    unique = {spec.run_spec_id: spec for spec in specs}
    deployments = {spec.model_deployment for spec in specs}
    inputs = inputs_of(ctx, list(unique), PLAN, Purpose.EVALUATE, deployments)
    annotated = {unit: record.write_id for unit, record in ctx.finished(ANNOTATE, unique).items()}
    fingerprints = {
        unit: fingerprint(spec, inputs[unit].fingerprint, annotated.get(unit, ""))
        for unit, spec in unique.items()
        if unit in inputs  # a run whose stats alone were imported has no requests
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> Written:
        total = sum(inputs[unit].requests for unit in units)
        drawn = drawn_of(ctx, units)
        _write(ctx, {unit: unique[unit] for unit in units}, write_id, total)
        return Written(
            counts={unit: inputs[unit].counts for unit in units},
            comparability={
                unit: noted(ctx, unique[unit], inputs[unit], drawn.get(unit)) for unit in units
            },
        )

    return run_stage(ctx, SCORE, fingerprints, write)


def _write(ctx: Context, specs: Mapping[str, RunSpec], write_id: str, total: int) -> None:
    metrics = [pair for spec in specs.values() for pair in metrics_of(spec)]
    needs = frozenset[str]().union(*(metric.needs for metric, _ in metrics))
    needs = needs.union(*(reading_needs(spec) for spec in specs.values()))
    rows = states(ctx, list(specs.values()), needs)
    tasks = min(ctx.cores * 2, 1 + total // ROWS_WORTH_A_TASK)
    ordered = sorted_rows(rows, "run_spec_id", partitions=tasks, by=("run_spec_id", "instance_id"))
    with ctx.metered(SCORE.name, total) as watch:
        stats = map_rows(ordered, watch(Scorer(specs)), RequestState, PerInstanceStats)
        ctx.lake.append("per_instance_stats", stats, write_id, at_most=total)
