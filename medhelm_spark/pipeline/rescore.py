"""rescore: scores the other models of a suite by a changed definition, from stored answers only.

A command runs some models of a suite. If the card, its data or its judges have changed since the
others were scored, they are planned by the new definition too, and become current if every request
of the new plan is already settled. No request is sent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import Purpose
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.stages import PLAN, SCORE
from medhelm_spark.stages.annotate.judges import Judging
from medhelm_spark.stages.annotate.stage import annotate_stored, jury_text
from medhelm_spark.stages.comparability import jury_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import enter, with_endpoint
from medhelm_spark.stages.plan.stage import frozen, plan
from medhelm_spark.stages.states import inputs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """Runs and their RunSpecs, to be added to the suite once they are scored."""

    runs: tuple[ResolvedRun, ...] = ()
    specs: tuple[RunSpec, ...] = ()


def others_of(
    ctx: Context, current: Sequence[SuiteRun], specs: Sequence[RunSpec]
) -> list[SuiteRun]:
    """The current scored runs of a suite that have another definition than these RunSpecs.

    Only other models' runs of the same run entries count. The definition is the RunSpec without the
    model's fields and the day of its answers.
    """
    names, entries = {spec.name for spec in specs}, {entry_of(spec) for spec in specs}
    known = {_definition(ctx, spec) for spec in specs}
    rows = [row for row in current if row.name not in names and entry_of(row.run_spec) in entries]
    scored = ctx.finished(SCORE, [row.run_spec_id for row in rows])
    return [
        row
        for row in rows
        if row.run_spec_id in scored and _definition(ctx, row.run_spec) not in known
    ]


def entry_of(spec: RunSpec) -> frozenset[str]:
    """The parts of a run name without the model's part, wherever it is."""
    name = spec.name
    for value in sorted({spec.model, spec.model_deployment}, key=len, reverse=True):
        for key in ("model", "model_deployment"):
            name = name.replace(f"{key}={value.replace('/', '_')}", "")
    return frozenset(filter(None, re.split("[:,]", name)))


def _definition(ctx: Context, spec: RunSpec) -> str:
    plain = replace(
        spec,
        run_spec_id="",
        name="",
        model="",
        model_deployment="",
        deployment_fingerprint="",
        asked_again=None,
    )
    return content_id(plain, jury_of(ctx, spec))


def rescored(
    ctx: Context,
    rows: Sequence[SuiteRun],
    runs: Mapping[str, ResolvedRun],
    versions: Mapping[str, str],
    policy: Policy,
) -> tuple[Rescored, list[SuiteRun]]:
    """The runs that can be scored by the current definition, and the rows that keep another.

    Args:
        ctx: the lake and suite.
        rows: the rows of other models, from `others_of`.
        runs: the runs as the configuration resolves them now, by name; some may be missing.
        versions: data version by scenario name.
        policy: of the site.
    """
    row_of = {row.name: row for row in rows}
    declared = [_as_declared(run, row_of[name]) for name, run in runs.items()]
    pairs = list(zip(declared, frozen(declared, versions), strict=True))
    present = {run.name for run, spec in pairs if _is_present(ctx, run, spec, row_of[run.name])}
    alike = [
        (run, spec)
        for run, spec in pairs
        if run.name not in present and _asks(spec) == _asks(row_of[run.name].run_spec)
    ]
    moved = [run for run, spec in alike if spec.run_spec_id != row_of[run.name].run_spec_id]
    if moved:
        plan(ctx, moved, versions, is_entered=False)
    done = _judged(ctx, _answered(ctx, alike), policy)
    current = present | {run.name for run, _ in done}
    moved_runs = Rescored(runs=tuple(run for run, _ in done), specs=tuple(spec for _, spec in done))
    return moved_runs, [row for row in rows if row.name not in current]


def enter_rescored(ctx: Context, scored: Rescored) -> None:
    """Make scored runs the suite's current ones."""
    if scored.runs:
        enter(ctx, scored.runs, scored.specs)


def _as_declared(run: ResolvedRun, row: SuiteRun) -> ResolvedRun:
    """The run with the declarations of its earlier suite file, if there is no suite file now."""
    run = replace(run, asked_again=row.run_spec.asked_again)
    listed = row.is_listed if run.is_listed is None else run.is_listed
    return replace(with_endpoint(run, row), is_listed=listed)


def _is_present(ctx: Context, run: ResolvedRun, spec: RunSpec, row: SuiteRun) -> bool:
    """Whether a run was scored by the current definition, which may differ between models."""
    same_jury = jury_of(ctx, row.run_spec) == jury_text(run.annotators)
    return spec.run_spec_id == row.run_spec_id and same_jury


def _asks(spec: RunSpec) -> tuple[object, ...]:
    """The fields that decide a run's prompts, as far as known without rendering them."""
    return (
        spec.deployment_fingerprint,
        spec.adapter_spec,
        spec.perturbations,
        spec.prompt_variants,
        spec.sampling,
        spec.asked_again,
    )


Pairs = list[tuple[ResolvedRun, RunSpec]]


def _answered(ctx: Context, pairs: Pairs) -> Pairs:
    """The runs whose requests all have a result."""
    if not pairs:
        return []
    units = [spec.run_spec_id for _, spec in pairs]
    deployments = {spec.model_deployment for _, spec in pairs}
    inputs = inputs_of(ctx, units, PLAN, Purpose.EVALUATE, deployments)
    whole = {unit for unit, answers in inputs.items() if not answers.missing}
    return [(run, spec) for run, spec in pairs if spec.run_spec_id in whole]


def _judged(ctx: Context, pairs: Pairs, policy: Policy) -> Pairs:
    """The runs without a jury, and those whose judge requests all have a result."""
    judged = {spec.run_spec_id: run.annotators for run, spec in pairs if run.annotators}
    specs = [spec for _, spec in pairs if spec.run_spec_id in judged]
    settled = annotate_stored(ctx, specs, Judging(annotators=judged, policy=policy))
    return [
        (run, spec)
        for run, spec in pairs
        if spec.run_spec_id not in judged or spec.run_spec_id in settled
    ]
