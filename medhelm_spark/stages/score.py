"""score: request states -> per_instance_stats. Reads stored answers; never calls a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from operator import attrgetter

from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Purpose, RequestState
from medhelm_spark.domain.run import MetricSpec, RunSpec
from medhelm_spark.domain.stats import PerInstanceStats, Score, ScoreStatus
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.metrics import Chosen, beside, metrics_for
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.run_specs import adapters_of
from medhelm_spark.stages.states import (
    EVALUATION_KEY,
    heard_state,
    hearing_needs,
    inputs_of,
    states,
)

STAGE = "score"
VERSION = "1"
BATCH = 512
UNREADABLE = MetricSpec(name="answer_unreadable")


@dataclass(frozen=True, slots=True)
class Scorer:
    """The function of this stage: states in, stats out, each RunSpec by its own metrics."""

    specs: Mapping[str, RunSpec]

    def __call__(self, states: Iterable[RequestState]) -> Iterator[PerInstanceStats]:
        for run_spec_id, group in groupby(states, key=attrgetter("run_spec_id")):
            spec = self.specs[run_spec_id]
            adapters = adapters_of(spec)
            while batch := [
                heard_state(state, spec, adapters.get(state.perturbation))
                for state in islice(group, BATCH)
            ]:
                yield from score_batch(spec, batch)


def metrics_of(spec: RunSpec) -> Chosen:
    """A RunSpec's metrics, and what stands beside them.

    Where options are shown also whether the answer was one of them; where answers are read in
    another way than MedHELM's, also its values.
    """
    named = any(one.name == UNREADABLE.name for one in spec.metrics)
    is_asked = spec.adapter_spec.method.shows_options and not named
    is_read = spec.medhelm is not None and spec.answer_extraction is not None
    more = (*((UNREADABLE,) if is_asked else ()), *(beside(spec.metrics) if is_read else ()))
    return metrics_for((*spec.metrics, *more))


def score_batch(spec: RunSpec, batch: Sequence[RequestState]) -> Iterator[PerInstanceStats]:
    """All metrics of a RunSpec on some of its states."""
    columns = [metric.fn(batch, params) for metric, params in metrics_of(spec)]
    for state, *scores in zip(batch, *columns, strict=True):
        key = {name: getattr(state, name) for name in EVALUATION_KEY}
        yield PerInstanceStats(**key, split=state.split, stats=_told(state, chain(*scores)))


def _told(state: RequestState, scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores of a state; an answer that is there but left unread does not pass for none."""
    if state.completions is None and state.unreadable:
        return tuple(
            replace(score, status=ScoreStatus.UNREADABLE)
            if score.status is ScoreStatus.NO_ANSWER
            else score
            for score in scores
        )
    return tuple(scores)


def fingerprint(spec: RunSpec, answers: str, annotations: str) -> str:
    """Changes when an answer, an annotation, its reading or a metric's version does."""
    versions = [metric.version for metric, _ in metrics_of(spec)]
    reading = EXTRACTION_VERSION
    return content_id(STAGE, VERSION, spec.run_spec_id, versions, reading, answers, annotations)


def score(ctx: Context, specs: Sequence[RunSpec]) -> int:
    """Score RunSpecs whose answers, annotations or metric versions changed; returns how many."""
    started_at, write_id = now(), new_write_id()
    unique = {spec.run_spec_id: spec for spec in specs}
    deployments = {spec.model_deployment for spec in specs}
    inputs = inputs_of(ctx, list(unique), "plan", Purpose.EVALUATE, deployments)
    annotated = ctx.finished("annotate", list(unique))
    done = ctx.finished(STAGE, list(unique))
    prints = {
        key: fingerprint(
            spec, inputs[key].fingerprint, annotated[key].write_id if key in annotated else ""
        )
        for key, spec in unique.items()
    }
    todo = [key for key in unique if key not in done or done[key].fingerprint != prints[key]]
    if todo:
        total = sum(inputs[key].requests for key in todo)
        _write(ctx, {key: unique[key] for key in todo}, write_id, total)
        counts = {key: inputs[key].counts for key in todo}
        ctx.record(STAGE, {key: prints[key] for key in todo}, write_id, started_at, counts)
    ctx.say(f"{STAGE}: {len(todo)} of {counted(len(unique), 'run spec')} scored anew")
    return len(todo)


def _write(ctx: Context, specs: Mapping[str, RunSpec], write_id: str, total: int) -> None:
    metrics = [pair for spec in specs.values() for pair in metrics_of(spec)]
    needs = frozenset[str]().union(*(metric.needs for metric, _ in metrics))
    needs = needs.union(*(hearing_needs(spec) for spec in specs.values()))
    found = states(ctx, list(specs.values()), needs)
    dealt = found.repartition(ctx.cores * 2, "run_spec_id", "instance_id")
    ordered = dealt.sortWithinPartitions("run_spec_id")
    with ctx.metered(STAGE, total) as watch:
        stats = map_rows(ordered, watch(Scorer(specs)), RequestState, PerInstanceStats)
        ctx.lake.append("per_instance_stats", stats, write_id)
