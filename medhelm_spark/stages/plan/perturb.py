"""perturb: the first part of plan, for runs that ask more than their original instances.

A RunSpec with perturbations or prompt variants evaluates a data version of its own: the drawn
instances, the train rows that it needs, and a copy for every perturbation that changes something.
Later stages read that version like any other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from medhelm_spark.adaptation.perturbations import SEED, Change, change_of, perturbation, perturbed
from medhelm_spark.adaptation.render import fixes_letters
from medhelm_spark.adaptation.variants import check_variants, copy_for
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import AdapterSpec, PerturbationSpec, RunSpec
from medhelm_spark.domain.scenario import Instance, ScenarioVersion
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.samples import DRAWN, Sample, draw_id, draws_of
from medhelm_spark.stages.run_stage import run_stage

VERSION = "1"

TO_COPY = f"""
SELECT struct({", ".join(f"i.{field.name}" for field in fields(Instance))}) AS instance,
       d.target, {DRAWN} AS evaluated
FROM {{instances_now}} i JOIN {{copies}} d ON d.data_version = i.data_version
 AND ({DRAWN} OR (d.with_train AND i.split = '{Split.TRAIN}'))
WHERE i.perturbation = ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Sample):
    """A derived data version: the drawn instances, its name, and whether it has train rows."""

    target: str
    with_train: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyTask:
    """An instance for a derived data version; only an evaluated one gets perturbed copies."""

    instance: Instance
    target: str
    evaluated: bool


@dataclass(frozen=True, slots=True)
class Copier:
    """The pure function of this stage: instances in, instances and their perturbed copies out."""

    runs: Mapping[str, ResolvedRun]

    def __call__(self, tasks: Iterable[CopyTask]) -> Iterator[Instance]:
        changes: dict[str, list[tuple[PerturbationSpec, Change]]] = {}
        for task in tasks:
            run = self.runs[task.target]
            if task.target not in changes:
                changes[task.target] = changes_of(run)
            instance = replace(task.instance, data_version=task.target)
            yield instance
            if task.evaluated:
                copies = (perturbed(instance, s.name, change) for s, change in changes[task.target])
                yield from filter(None, copies)
                yield from (copy_for(variant, instance) for variant in run.card.prompt_variants)


def changes_of(run: ResolvedRun) -> list[tuple[PerturbationSpec, Change]]:
    """The perturbations of a run that its adapter can show, with their changes.

    Raises:
        ConfigError: there is none, or a perturbation or prompt variant cannot be made.
    """
    check_variants(run.card.prompt_variants, run.where or run.name)
    applicable = [spec for spec in run.perturbations if _is_shown(spec, run.adapter_spec)]
    if run.perturbations and not applicable:
        raise ConfigError(
            f"{run.where or run.name}: {run.perturbations[0].name} needs options that prompts "
            f"show (the adapter method is {run.adapter_spec.method.value!r}), and option_order "
            "instructions that do not say which letter means what."
        )
    return [(spec, change_of(spec, run.word_lists)) for spec in applicable]


def _is_shown(spec: PerturbationSpec, adapter: AdapterSpec) -> bool:
    known = perturbation(spec.name)
    if known.moves_options and fixes_letters(adapter):
        return False
    return adapter.method.shows_options or not known.needs_options


def perturbations_of(run: ResolvedRun) -> tuple[PerturbationSpec, ...]:
    """The perturbations of a run as its RunSpec names them, with the ids of their word lists."""
    return tuple(
        replace(
            spec,
            word_lists={
                name: content_id(run.word_lists[name]) for name in perturbation(spec.name).lists
            },
            version=perturbation(spec.name).version or None,
        )
        for spec, _ in changes_of(run)
    )


def version_of(run: ResolvedRun, data_version: str) -> str:
    """The data version that a run evaluates: `data_version`, or one derived from it."""
    variants = [named.name for named in run.card.prompt_variants]
    if not run.perturbations and not variants:
        return data_version
    return content_id(
        "perturb",
        VERSION,
        SEED,
        draw_id(run.adapter_spec, data_version, run.card.sampling),
        bool(run.adapter_spec.max_train_instances),
        [named.identity for named in perturbations_of(run)],
        variants,
    )


def perturb(
    ctx: Context, planned: Iterable[tuple[ResolvedRun, RunSpec]], versions: Mapping[str, str]
) -> None:
    """Write the derived data versions of these RunSpecs that the lake does not have yet.

    `versions` are the ingested data versions by scenario name.
    """
    derived = {
        spec.data_version: (run, replace(spec, data_version=versions[run.card.name]))
        for run, spec in planned
        if spec.data_version != versions[run.card.name]
    }

    def write(ctx: Context, targets: Sequence[str], write_id: str) -> None:
        _write(ctx, {target: derived[target] for target in targets}, write_id)

    run_stage(ctx, INGEST, {target: target for target in derived}, write)


def _write(ctx: Context, derived: Mapping[str, tuple[ResolvedRun, RunSpec]], write_id: str) -> None:
    bases = {target: spec.data_version for target, (_, spec) in derived.items()}
    instances = ctx.current("instances", INGEST, set(bases.values()), "data_version")
    draws, marked = draws_of(ctx, instances, [spec for _, spec in derived.values()])
    copies = [
        Copy(
            **{
                field.name: getattr(draws[spec.run_spec_id], field.name) for field in fields(Sample)
            },
            target=target,
            with_train=bool(spec.adapter_spec.max_train_instances),
        )
        for target, (_, spec) in derived.items()
    ]
    frame = ctx.lake.frame(copies, Copy)
    tasks = ctx.lake.query(TO_COPY, instances_now=marked, copies=frame)
    copier = Copier({target: run for target, (run, _) in derived.items()})
    with ctx.metered("plan: perturbed instances") as watch:
        ctx.lake.append("instances", map_rows(tasks, watch(copier), CopyTask, Instance), write_id)
    _enter(ctx, bases, write_id)


def _enter(ctx: Context, bases: Mapping[str, str], write_id: str) -> None:
    """Add derived versions to `scenarios`, with the values of their source versions."""
    sql = f"SELECT * FROM {{scenarios}} WHERE {among('data_version', bases.values())}"
    known = {row.data_version: row for row in ctx.lake.rows(sql, ScenarioVersion)}
    rows = [
        replace(known[base], data_version=target, card_hash=target, source=f"perturbed {base}")
        for target, base in bases.items()
        if base in known
    ]
    ctx.lake.append_rows("scenarios", rows, write_id)
