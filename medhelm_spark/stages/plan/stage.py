"""plan: resolved runs -> run_specs, perturbed instances, prompts, requests.

Text is rendered once per (adapter, instance) in Python and written; SQL then makes requests from
keys only, so a hundred deployments share one rendering and no text is written twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from operator import attrgetter
from typing import TypeVar

from medhelm_spark.adaptation.decoding import (
    ESTIMATED_TOKENS_SQL,
    REQUEST_ID_SQL,
    call_id,
    decoding_for,
    option_fields,
    render_id,
)
from medhelm_spark.adaptation.fit import render_fitting
from medhelm_spark.adaptation.render import render
from medhelm_spark.adaptation.sampling import LABEL_SQL, TrainRow, select_train
from medhelm_spark.adaptation.variants import IS_VARIANT_SQL
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import Decoding, Prompt, Purpose
from medhelm_spark.domain.run import AdapterSpec, AnswerForm, RunSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.engines import IMPORTED
from medhelm_spark.lake.literals import among, literal
from medhelm_spark.lake.rows import Frame, map_rows, rows_of, sorted_rows
from medhelm_spark.metrics import metrics_for
from medhelm_spark.policy.levels import strictest_sql
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.labels import answer_schemas
from medhelm_spark.stages.plan.perturb import perturb, perturbations_of, version_of
from medhelm_spark.stages.plan.run_specs import adapters_of, enter, run_spec_of
from medhelm_spark.stages.plan.samples import DRAWN, Sample, draws_of, refuse_empty
from medhelm_spark.stages.plan.truncation import Truncation, fit_of
from medhelm_spark.stages.run_stage import outdated, run_stage

Row = TypeVar("Row")

# Whether a call has the prompt variant by which a row is asked.
WORDED = f"d.variant = CASE WHEN {IS_VARIANT_SQL} THEN i.perturbation ELSE '' END"

TO_RENDER = f"""
SELECT struct({", ".join(f"i.{field.name}" for field in fields(Instance))}) AS instance,
       d.render_id, d.train_trial_index
FROM {{instances_now}} i JOIN {{renderings}} d ON {DRAWN} AND {WORDED}
LEFT ANTI JOIN {{known}} k
  ON k.render_id = d.render_id AND k.subject_id = i.instance_id
 AND k.perturbation = i.perturbation AND k.train_trial_index = d.train_trial_index
"""

# Two drivers may have rendered the same prompt; then its rows are equal.
PLANNED = f"""
SELECT d.run_spec_id, i.instance_id, i.perturbation, d.train_trial_index, d.trial_index,
       CASE WHEN d.by_instance THEN md5(concat(prompt_id, '|', call_id, '|', i.instance_id))
            ELSE {REQUEST_ID_SQL} END AS request_id,
       k.prompt_id, d.model_deployment, d.decoding,
       {strictest_sql("k.access_level", "i.access_level")} AS access_level,
       {ESTIMATED_TOKENS_SQL} AS estimated_tokens,
       '{Purpose.EVALUATE}' AS purpose, '' AS annotator, '' AS judge, '' AS judged_request_id,
       CAST(NULL AS BIGINT) AS rubric_item
FROM (SELECT DISTINCT render_id, subject_id, perturbation, train_trial_index, prompt_id,
             num_characters, access_level
      FROM {{known}}) k
JOIN {{instances_now}} i ON i.instance_id = k.subject_id AND i.perturbation = k.perturbation
JOIN {{calls}} d ON k.render_id = d.render_id AND k.train_trial_index = d.train_trial_index
 AND {DRAWN} AND {WORDED}
"""

TRAIN = f"""
SELECT * FROM {{instances_now}}
WHERE data_version = @data_version AND split = '{Split.TRAIN}' AND perturbation = ''
"""

# The driver reads no text of the pool, and only the text that a prompt shows of the chosen rows.
TRAIN_ROWS = f"""
SELECT instance_id, source_index,
       CASE WHEN label IS NOT NULL THEN CAST(dense_rank() OVER (ORDER BY label) AS BIGINT) END
         AS label
FROM (SELECT instance_id, source_index, {LABEL_SQL} AS label FROM ({TRAIN}) t) p
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Sample):
    """One way a RunSpec asks its instances (one per prompt variant, train trial and trial).

    `by_instance` keeps requests with equal prompts apart: imported answers belong to an instance,
    and two instances with the same prompt may have different answers.
    """

    run_spec_id: str
    render_id: str
    variant: str
    train_trial_index: int
    trial_index: int
    call_id: str
    model_deployment: str
    decoding: Decoding
    by_instance: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering(Sample):
    """The instances that one rendering needs, with one train trial's examples."""

    render_id: str
    variant: str
    train_trial_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderTask:
    """An instance to render, its rendering, and the trial of its few-shot examples."""

    instance: Instance
    render_id: str
    train_trial_index: int


@dataclass(frozen=True, slots=True)
class Renderer:
    """The pure function of this stage: instances in, prompts out."""

    specs: Mapping[str, AdapterSpec]
    train: Mapping[tuple[str, int], tuple[Instance, ...]]
    fits: Mapping[str, Truncation]

    def __call__(self, tasks: Iterable[RenderTask]) -> Iterator[Prompt]:
        composers = {
            key: partial(render_fitting, window=fit.window()) for key, fit in self.fits.items()
        }
        for task in tasks:
            yield composers.get(task.render_id, render)(
                self.specs[task.render_id],
                task.instance,
                self.train.get((task.render_id, task.train_trial_index), ()),
                render_id=task.render_id,
                train_trial_index=task.train_trial_index,
            )


def frozen(runs: Sequence[ResolvedRun], versions: Mapping[str, str]) -> list[RunSpec]:
    """The RunSpecs of resolved runs; `versions` are data versions by scenario name."""
    return [
        run_spec_of(run, version_of(run, versions[run.card.name]), perturbations_of(run))
        for run in runs
    ]


def plan(
    ctx: Context,
    runs: Sequence[ResolvedRun],
    versions: Mapping[str, str],
    *,
    is_entered: bool = True,
) -> list[RunSpec]:
    """Make the suite's current RunSpecs, their prompts and requests.

    Args:
        ctx: the lake and suite.
        runs: the resolved runs.
        versions: data version by scenario name, as `ingest` returned them.
        is_entered: whether they become the suite's current ones now.
    """
    specs = frozen(runs, versions)
    planned = {spec.run_spec_id: (run, spec) for run, spec in zip(runs, specs, strict=True)}
    fingerprints = {
        unit: PLAN.fingerprint(unit, *_fit_parts(run), *form_parts(spec))
        for unit, (run, spec) in planned.items()
    }
    refuse_empty(
        ctx,
        [
            replace(planned[unit][1], data_version=versions[planned[unit][0].card.name])
            for unit in outdated(ctx, PLAN, fingerprints)
        ],
    )
    if is_entered:
        enter(ctx, runs, specs)

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        todo = [planned[unit] for unit in units]
        perturb(ctx, todo, versions)
        _write(ctx, todo, write_id)

    run_stage(ctx, PLAN, fingerprints, write)
    return specs


def _write(ctx: Context, todo: Sequence[tuple[ResolvedRun, RunSpec]], write_id: str) -> None:
    versions = sorted({spec.data_version for _, spec in todo})
    instances = ctx.current("instances", INGEST, versions, "data_version")
    draws, marked = draws_of(ctx, instances, [spec for _, spec in todo])
    forms = answer_schemas(ctx, [spec for _, spec in todo])
    calls = [
        call for run, spec in todo for call in calls_of(run, spec, draws[spec.run_spec_id], forms)
    ]
    renders = sorted({call.render_id for call in calls})
    size = _most(ctx, calls)
    tasks = ctx.lake.query(
        TO_RENDER,
        instances_now=marked,
        renderings=ctx.lake.frame(_renderings(calls), Rendering),
        known=ctx.prompts(renders),
    )
    specs, train = _texts(ctx, todo, instances)
    fits = {
        _render_id(run, spec, adapter): fit if ctx.is_one_machine else fit.with_content()
        for run, spec in todo
        if (fit := fit_of(run))
        for adapter in adapters_of(spec).values()
    }
    renderer = Renderer(specs, train, fits)
    with ctx.metered(f"{PLAN.name}: prompts") as watch:
        prompts = map_rows(tasks, watch(renderer), RenderTask, Prompt)
        ctx.lake.append("prompts", prompts, write_id, at_most=size)
    planned = ctx.lake.query(
        PLANNED,
        known=ctx.prompts(renders),
        instances_now=marked,
        calls=ctx.lake.frame(calls, Call),
    )
    ordered = sorted_rows(planned, "run_spec_id")
    ctx.lake.append("requests", ordered, write_id, at_most=size)


def _most(ctx: Context, calls: Sequence[Call]) -> int | None:
    """How many requests these calls make at most; None if the data's size is unknown."""
    records = ctx.finished(INGEST, {call.data_version for call in calls})
    sizes = [_drawn(call, records[call.data_version].counts) for call in calls]
    return None if None in sizes else sum(size for size in sizes if size)


def _drawn(draw: Sample, counts: Mapping[str, int]) -> int | None:
    """How many instances a draw takes at most; perturbed versions are not counted."""
    if not counts:
        return None
    eligible = sum(counts.get(split, 0) for split in draw.eval_splits)
    return eligible if draw.max_eval_instances is None else min(eligible, draw.max_eval_instances)


def _fit_parts(run: ResolvedRun) -> tuple[str, ...]:
    fit = fit_of(run)
    return fit.parts if fit else ()


def form_parts(spec: RunSpec) -> tuple[str, ...]:
    """A part of the fingerprint if a prompt variant shows other letters under an enforced form.

    Earlier versions asked such a variant for the letters of the run's own prompt, so that it has to
    be planned again.
    """
    if spec.adapter_spec.answer_form is AnswerForm.FREE:
        return ()
    own = option_fields(spec.adapter_spec)
    has_others = any(option_fields(adapter) != own for adapter in adapters_of(spec).values())
    return ("letters of variants",) if has_others else ()


def _render_id(run: ResolvedRun, spec: RunSpec, adapter: AdapterSpec) -> str:
    return render_id(adapter, spec.data_version, *_fit_parts(run))


def _needs_tokens(spec: RunSpec) -> bool:
    """Whether answers must include their tokens: to be cut as MedHELM's, or for a metric.

    Joint multiple choice requests log-probabilities anyway.
    """
    if spec.adapter_spec.method.shows_options:
        return spec.is_cut_for_medhelm
    is_read = any(metric.reads_tokens for metric, _ in metrics_for(spec.metrics))
    return is_read or spec.is_cut_for_medhelm


def calls_of(
    run: ResolvedRun, spec: RunSpec, draw: Sample, forms: Mapping[tuple[str, str], str | None]
) -> Iterator[Call]:
    """The ways in which a RunSpec asks its instances.

    `forms` are the schemas of answers by run_spec_id and prompt variant, where they are enforced.
    """
    adapter = spec.adapter_spec
    trials = product(range(adapter.num_trials), range(adapter.num_train_trials))
    for (trial, train_trial), (variant, worded) in product(trials, adapters_of(spec).items()):
        decoding = decoding_for(
            adapter,
            trial_index=trial,
            needs_tokens=_needs_tokens(spec),
            asked_again=spec.asked_again,
            response_schema=forms.get((spec.run_spec_id, variant)),
        )
        yield Call(
            **{field.name: getattr(draw, field.name) for field in fields(Sample)},
            run_spec_id=spec.run_spec_id,
            render_id=_render_id(run, spec, worded),
            variant=variant,
            train_trial_index=train_trial,
            trial_index=trial,
            call_id=call_id(run.deployment, decoding, spec.asked_again),
            model_deployment=spec.model_deployment,
            decoding=decoding,
            by_instance=run.deployment.engine == IMPORTED,
        )


def _renderings(calls: Iterable[Call]) -> list[Rendering]:
    """The renderings of these calls, each once, for the instances of the largest draw."""
    renderings: dict[tuple[object, ...], Rendering] = {}
    for call in calls:
        # A listed draw is no part of another; draws of one seed differ only in their last key.
        own = call.draw_id if call.is_listed else call.seed
        key = (call.render_id, call.variant, call.train_trial_index, call.eval_splits, own)
        rendering = Rendering(
            **{field.name: getattr(call, field.name) for field in fields(Rendering)}
        )
        renderings[key] = _larger(rendering, renderings.get(key, rendering))
    return list(renderings.values())


def _larger(first: Rendering, other: Rendering) -> Rendering:
    if first.last_key is None or other.last_key is None:
        return first if first.last_key is None else other
    return max(first, other, key=attrgetter("last_key"))


def _texts(
    ctx: Context, todo: Sequence[tuple[ResolvedRun, RunSpec]], instances: Frame
) -> tuple[dict[str, AdapterSpec], dict[tuple[str, int], tuple[Instance, ...]]]:
    """Adapter spec by render_id, and the few-shot examples by (render_id, train trial)."""
    specs: dict[str, AdapterSpec] = {}
    pools: dict[str, list[TrainRow]] = {}
    drawn: dict[tuple[str, int], tuple[str, tuple[TrainRow, ...]]] = {}
    worded = [(run, spec, adapter) for run, spec in todo for adapter in adapters_of(spec).values()]
    for run, spec, adapter in worded:
        key, version = _render_id(run, spec, adapter), spec.data_version
        specs[key] = adapter
        if not adapter.max_train_instances:
            continue
        if version not in pools:
            pools[version] = _train(ctx, instances, version, TRAIN_ROWS, TrainRow)
        for trial in range(adapter.num_train_trials):
            rows = select_train(
                pools[version], adapter.max_train_instances, trial, adapter.sample_train
            )
            drawn[key, trial] = (version, rows)
    examples: dict[tuple[str, str], Instance] = {}
    for version in pools:
        ids = {
            row.instance_id
            for drawn_from, rows in drawn.values()
            if drawn_from == version
            for row in rows
        }
        sql = f"{TRAIN} AND {among('instance_id', sorted(ids))}"
        for instance in _train(ctx, instances, version, sql, Instance) if ids else ():
            examples[version, instance.instance_id] = instance
    train = {
        key: tuple(examples[version, row.instance_id] for row in rows)
        for key, (version, rows) in drawn.items()
    }
    return specs, train


def _train(
    ctx: Context, instances: Frame, data_version: str, sql: str, row_type: type[Row]
) -> list[Row]:
    """Rows of a data version's train split."""
    rows = ctx.lake.query(
        sql.replace("@data_version", literal(data_version)), instances_now=instances
    )
    return rows_of(rows, row_type)
