"""plan: resolved runs -> run_specs, prompts, requests, request_links.

Text is rendered once per (adapter, instance) in Python and written; requests and links are then
made in SQL from keys alone, so a hundred deployments share one rendering and no text moves twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.adaptation.decoding import REQUEST_ID_SQL, call_id, decoding_for, render_id
from medhelm_spark.adaptation.few_shot import select_train
from medhelm_spark.adaptation.render import render
from medhelm_spark.adaptation.sampling import SAMPLE_KEY_SQL
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import Decoding, Prompt, Purpose
from medhelm_spark.domain.run import AdapterSpec, RunSpec
from medhelm_spark.domain.scenario import Instance, Split
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.lake.views import output_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.decide import NEVER_ASKED
from medhelm_spark.stages.requests import ESTIMATED_TOKENS, append_requests
from medhelm_spark.stages.run_specs import enter, eval_splits, run_spec_of

STAGE = "plan"
VERSION = "1"
SEED = 0

SELECTED = f"""
SELECT draw_id, data_version, instance_id, perturbation
FROM (SELECT d.draw_id, d.sample_size, i.data_version, i.instance_id, i.perturbation, row_number()
        OVER (PARTITION BY d.draw_id, i.perturbation
              ORDER BY {SAMPLE_KEY_SQL}, i.instance_id) AS rank
      FROM {{draws}} d JOIN {{instances_now}} i
        ON i.data_version = d.data_version AND array_contains(d.eval_splits, i.split))
WHERE sample_size IS NULL OR rank <= sample_size
"""

TO_RENDER = """
SELECT DISTINCT p.render_id, p.train_trial_index, s.data_version, s.instance_id, s.perturbation
FROM {selected} s JOIN {calls} p ON p.draw_id = s.draw_id
LEFT ANTI JOIN {prompts} k
  ON k.render_id = p.render_id AND k.subject_id = s.instance_id
 AND k.perturbation = s.perturbation AND k.train_trial_index = p.train_trial_index
"""

LINKED = f"""
SELECT c.run_spec_id, s.instance_id, s.perturbation, c.train_trial_index, c.trial_index,
       CASE WHEN c.by_instance THEN md5(concat(k.prompt_id, '|', c.call_id, '|', s.instance_id))
            ELSE {REQUEST_ID_SQL} END AS request_id,
       k.prompt_id, c.model_deployment,
       c.decoding, c.access_level,
       {ESTIMATED_TOKENS} AS estimated_tokens,
       '{Purpose.EVALUATE}' AS purpose, '' AS annotator, '' AS judge, '' AS judged_request_id
FROM {{selected}} s JOIN {{calls}} c ON c.draw_id = s.draw_id
JOIN (SELECT DISTINCT render_id, subject_id, perturbation, train_trial_index, prompt_id,
             num_characters
      FROM {{prompts}}) k
  ON k.render_id = c.render_id AND k.subject_id = s.instance_id
 AND k.perturbation = s.perturbation AND k.train_trial_index = c.train_trial_index
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Which instances of a data version are evaluated; shared by all runs that draw alike."""

    draw_id: str
    data_version: str
    seed: str
    sample_size: int | None
    eval_splits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One way a RunSpec asks each of its instances (one per train trial and trial).

    `by_instance` keeps requests of equal prompts apart: answers made elsewhere belong to an
    instance, and two that were asked the same may have been answered differently.
    """

    run_spec_id: str
    draw_id: str
    render_id: str
    train_trial_index: int
    trial_index: int
    call_id: str
    model_deployment: str
    decoding: Decoding
    access_level: str
    by_instance: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderTask:
    """An instance to render, by which rendering, with which trial's few-shot examples."""

    instance: Instance
    render_id: str
    train_trial_index: int


@dataclass(frozen=True, slots=True)
class Renderer:
    """The pure function of this stage: instances in, prompts out."""

    specs: Mapping[str, AdapterSpec]
    train: Mapping[tuple[str, int], tuple[Instance, ...]]

    def __call__(self, tasks: Iterable[RenderTask]) -> Iterator[Prompt]:
        for task in tasks:
            yield render(
                self.specs[task.render_id],
                task.instance,
                self.train.get((task.render_id, task.train_trial_index), ()),
                render_id=task.render_id,
                train_trial_index=task.train_trial_index,
            )


def plan(ctx: Context, runs: Sequence[ResolvedRun], versions: Mapping[str, str]) -> list[RunSpec]:
    """Make the suite's current RunSpecs and everything needed to ask them.

    Args:
        ctx: the lake and suite.
        runs: what configuration resolved.
        versions: data version by scenario name, as `ingest` returned them.
    """
    started_at, write_id = now(), new_write_id()
    specs = [run_spec_of(run, versions[run.card.name]) for run in runs]
    enter(ctx, runs, specs, write_id, started_at)
    fingerprints = {
        spec.run_spec_id: content_id(STAGE, VERSION, spec.run_spec_id) for spec in specs
    }
    done = ctx.finished(STAGE, list(fingerprints))
    todo = {
        spec.run_spec_id: (run, spec)
        for run, spec in zip(runs, specs, strict=True)
        if spec.run_spec_id not in done
        or done[spec.run_spec_id].fingerprint != fingerprints[spec.run_spec_id]
    }
    if todo:
        _write(ctx, list(todo.values()), write_id)
        ctx.record(STAGE, {unit: fingerprints[unit] for unit in todo}, write_id, started_at)
    ctx.say(f"plan: {len(todo)} of {len(specs)} run specs are new")
    return specs


def _write(ctx: Context, todo: Sequence[tuple[ResolvedRun, RunSpec]], write_id: str) -> None:
    draws, calls = _draws_and_calls(todo)
    frames = {
        "draws": ctx.lake.frame({draw.draw_id: draw for draw in draws}.values(), Draw),
        "calls": F.broadcast(ctx.lake.frame(calls, Call)),
        "instances_now": ctx.lake.query(output_of("instances", "ingest", "data_version")),
    }
    selected = ctx.lake.query(
        SELECTED, draws=frames["draws"], instances_now=frames["instances_now"]
    )
    renders = sorted({call.render_id for call in calls})
    keys = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    tasks = _tasks(ctx, selected, frames["calls"], keys, frames["instances_now"])
    renderer = Renderer(*_renderings(ctx, todo, frames["instances_now"]))
    ctx.lake.append("prompts", map_rows(tasks, renderer, RenderTask, Prompt), write_id)
    keys = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    linked = ctx.lake.query(LINKED, selected=selected, calls=frames["calls"], prompts=keys)
    append_requests(ctx.lake, linked, write_id)


def _draws_and_calls(
    todo: Sequence[tuple[ResolvedRun, RunSpec]],
) -> tuple[list[Draw], list[Call]]:
    draws, calls = [], []
    for run, spec in todo:
        adapter = spec.adapter_spec
        splits = eval_splits(adapter)
        draw = Draw(
            draw_id=content_id(spec.data_version, SEED, adapter.max_eval_instances, splits),
            data_version=spec.data_version,
            seed=str(SEED),
            sample_size=adapter.max_eval_instances,
            eval_splits=splits,
        )
        draws.append(draw)
        for trial in range(adapter.num_trials):
            decoding = decoding_for(adapter, trial_index=trial)
            for train_trial in range(adapter.num_train_trials):
                calls.append(
                    Call(
                        run_spec_id=spec.run_spec_id,
                        draw_id=draw.draw_id,
                        render_id=render_id(adapter, spec.data_version),
                        train_trial_index=train_trial,
                        trial_index=trial,
                        call_id=call_id(run.deployment, decoding),
                        model_deployment=spec.model_deployment,
                        decoding=decoding,
                        access_level=spec.access_level,
                        by_instance=run.deployment.engine == NEVER_ASKED,
                    )
                )
    return draws, calls


def _tasks(
    ctx: Context, selected: DataFrame, calls: DataFrame, keys: DataFrame, instances: DataFrame
) -> DataFrame:
    missing = ctx.lake.query(TO_RENDER, selected=selected, calls=calls, prompts=keys)
    joined = instances.join(missing, ["data_version", "instance_id", "perturbation"])
    fields = [F.col(name) for name in Instance.__dataclass_fields__]
    return joined.select(F.struct(*fields).alias("instance"), "render_id", "train_trial_index")


def _renderings(
    ctx: Context, todo: Sequence[tuple[ResolvedRun, RunSpec]], instances: DataFrame
) -> tuple[dict[str, AdapterSpec], dict[tuple[str, int], tuple[Instance, ...]]]:
    """Adapter spec by render_id, and the few-shot examples by (render_id, train trial)."""
    specs: dict[str, AdapterSpec] = {}
    train: dict[tuple[str, int], tuple[Instance, ...]] = {}
    pools: dict[str, list[Instance]] = {}
    for _, spec in todo:
        adapter = spec.adapter_spec
        key = render_id(adapter, spec.data_version)
        specs[key] = adapter
        if not adapter.max_train_instances:
            continue
        if spec.data_version not in pools:
            pools[spec.data_version] = _train_pool(instances, spec.data_version)
        for trial in range(adapter.num_train_trials):
            train[key, trial] = select_train(
                pools[spec.data_version], adapter.max_train_instances, trial, adapter.sample_train
            )
    return specs, train


def _train_pool(instances: DataFrame, data_version: str) -> list[Instance]:
    pool = instances.where(
        (F.col("data_version") == data_version)
        & (F.col("split") == Split.TRAIN.value)
        & (F.col("perturbation") == "")
    )
    return sorted(rows_of(pool, Instance), key=lambda instance: instance.source_index)
