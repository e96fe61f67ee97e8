"""RunSpecs: frozen from resolved runs, added to a suite, where they supersede earlier ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from medhelm_spark.adaptation.variants import adapter_of
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import Again, ResolvedRun
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    Attestation,
    PerturbationSpec,
    RunSpec,
    SuiteRun,
)
from medhelm_spark.domain.sampling import EVERY_INSTANCE
from medhelm_spark.domain.scenario import TABULAR
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.views import current_run_specs
from medhelm_spark.metrics import stats_of
from medhelm_spark.stages.context import Context, now

EVAL_SPLITS = (Split.VALID.value, Split.TEST.value)


def eval_splits(spec: AdapterSpec) -> tuple[str, ...]:
    """The splits an adapter evaluates: its own, else HELM's default of valid and test."""
    return spec.eval_splits or EVAL_SPLITS


def run_spec_of(
    run: ResolvedRun, data_version: str, perturbations: Sequence[PerturbationSpec] = ()
) -> RunSpec:
    """Freeze a resolved run on one data version; its id is a hash of its other fields."""
    facts: dict[str, Any] = {
        "name": run.name,
        "scenario_name": run.card.name,
        "data_version": data_version,
        "model": run.deployment.model,
        "model_deployment": run.deployment.name,
        "deployment_fingerprint": run.deployment.identity,
        "adapter_spec": run.adapter_spec,
        "metrics": run.metrics,
        "annotators": tuple(annotator.spec for annotator in run.annotators),
        "groups": run.groups,
        "access_level": run.card.access_level,
        "main_metric": run.card.main_metric,
        "main_split": run.card.main_split.value,
    }
    # Empty fields are not part of the id, so that ids of older lakes stay the same.
    how = run.card.answer_extraction
    sampling = replace(run.card.sampling, max_eval_instances=None)  # the adapter has it
    more: dict[str, Any] = {
        "perturbations": tuple(perturbations),
        "prompt_variants": run.card.prompt_variants,
        "answer_extraction": how if how != STRICT else None,
        "sampling": sampling if sampling != EVERY_INSTANCE else None,
        "medhelm": run.medhelm,
        "asked_again": run.asked_again,
    }
    facts |= {name: value for name, value in more.items() if value}
    identities: dict[str, Any] = {
        "perturbations": [perturbation.identity for perturbation in perturbations],
        "answer_extraction": how.identity if how != STRICT else None,
    }
    known = {name: value for name, value in identities.items() if value}
    return RunSpec(run_spec_id=content_id(facts | known), **facts)


def adapters_of(spec: RunSpec) -> dict[str, AdapterSpec]:
    """The adapters of a RunSpec by prompt variant: its own as '', the others by their label."""
    own = {"": spec.adapter_spec}
    variants = spec.prompt_variants or ()
    return own | {
        variant.perturbation: adapter_of(spec.adapter_spec, variant) for variant in variants
    }


def current_runs(ctx: Context) -> list[SuiteRun]:
    """The suite's current RunSpecs."""
    rows = ctx.lake.rows(current_run_specs([ctx.suite]), SuiteRun)
    return [row for row in rows if row.suite == ctx.suite]


def as_in_suite(
    ctx: Context, runs: Sequence[ResolvedRun], again: Again | None = None
) -> tuple[ResolvedRun, ...]:
    """The runs with the day of their answers and the primary endpoint from the suite.

    The day of `again` takes precedence over the suite's. A run without a suite file takes the
    endpoint that the suite declared for the same run, else for the newest run of its scenario: a
    model that is added later has the metric of the others (tests/spark/test_adding_pages.py).
    """
    rows = sorted(current_runs(ctx), key=lambda row: row.planned_at)
    days = {row.name: row.run_spec.asked_again for row in rows}
    by_scenario = {row.run_spec.scenario_name: row for row in rows if row.is_primary}
    own = {row.name: row for row in rows if row.is_primary is not None}
    return tuple(
        _with_day(
            with_endpoint(run, own.get(run.name, by_scenario.get(run.card.name))),
            again,
            days.get(run.name),
        )
        for run in runs
    )


def with_endpoint(run: ResolvedRun, row: SuiteRun | None) -> ResolvedRun:
    """The run with a row's primary endpoint, if the command has no suite file.

    A run whose metrics no longer have that endpoint stays as it is.
    """
    is_of_file = run.is_primary is not None or run.is_listed is not None
    if row is None or is_of_file or row.is_primary is None:
        return run
    run = replace(run, is_primary=row.is_primary, margin=row.margin)
    if not row.is_primary:
        return run
    main = row.run_spec.main_metric
    if main not in {stat.name for stat in stats_of(run.metrics)}:
        return replace(run, is_primary=None, margin=None)
    return replace(run, card=replace(run.card, main_metric=main))


def _with_day(run: ResolvedRun, again: Again | None, before: str | None) -> ResolvedRun:
    if run.deployment.engine == IMPORTED:
        return run
    return replace(run, asked_again=_day(run, again, before))


def _day(run: ResolvedRun, again: Again | None, before: str | None) -> str | None:
    return again.day if again and again.means(run.deployment) else before


def enter(
    ctx: Context,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
) -> None:
    """Add the RunSpecs that are not current in the suite; they supersede earlier ones.

    A current one is added again if the suite file or its card now declares something else of it.
    """
    ctx = ctx.within(PLAN)
    current = {row.name: row for row in current_runs(ctx)}
    planned_at = now(row.planned_at for row in current.values())
    rows = [
        _row(ctx, run, spec, planned_at, current.get(spec.name))
        for run, spec in zip(runs, specs, strict=True)
        if not _is_entered(ctx, run, spec, current.get(spec.name))
    ]
    for row in rows:
        if row.name in current and current[row.name].run_spec_id != row.run_spec_id:
            ctx.say(_superseding(row, current[row.name]))
    ctx.lake.append_rows("run_specs", rows, new_write_id())


def _superseding(row: SuiteRun, before: SuiteRun) -> str:
    day = row.run_spec.asked_again
    if day != before.run_spec.asked_again:
        return f"plan: {row.name} is asked again, as of {day}; answers of before stay in the lake"
    return f"plan: {row.name} changed and supersedes the run spec planned before"


def _row(
    ctx: Context, run: ResolvedRun, spec: RunSpec, at: datetime, before: SuiteRun | None
) -> SuiteRun:
    """A row of a run; it keeps earlier statements of a suite file or a person without new ones."""
    note = run.prompt_attested
    row = SuiteRun(
        suite=ctx.suite,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=at,
        locality=run.deployment.locality or UNKNOWN,
        engine=run.deployment.engine,
        is_jury_validated=_is_validated(run),
        run_spec=spec,
        **run.facts,
        prompt_attested=Attestation(stated_by=ctx.user, stated_at=at, note=note) if note else None,
        is_jury_demo=_has_demo_judge(run) if run.annotators else None,
    )
    if before is None or before.run_spec_id != spec.run_spec_id:
        return row
    if run.is_primary is None:
        row = replace(row, is_primary=before.is_primary, margin=before.margin)
    if note is None:
        row = replace(row, prompt_attested=before.prompt_attested)
    return row if run.is_listed is not None else replace(row, is_listed=before.is_listed)


def _is_entered(ctx: Context, run: ResolvedRun, spec: RunSpec, row: SuiteRun | None) -> bool:
    if row is None or row.run_spec_id != spec.run_spec_id:
        return False
    planned = _row(ctx, run, spec, row.planned_at, row)
    return _declared(planned) == _declared(row)


def _declared(row: SuiteRun) -> tuple[object, ...]:
    """The statements on a run beside its RunSpec and deployment; absent equals false."""
    prompt = row.prompt_attested
    return (
        {name: value for name, value in row.facts.items() if not _is_absent(value)},
        row.is_jury_validated,
        row.is_jury_demo,  # None in rows of versions that recorded demo judges alone
        prompt and (prompt.stated_by, prompt.note),
    )


def _is_absent(value: object) -> bool:
    return value is None or value is False or value == {}


def _is_validated(run: ResolvedRun) -> bool | None:
    if not run.annotators:
        return None
    return not _has_demo_judge(run) and all(judged.jury.validated for judged in run.annotators)


def _has_demo_judge(run: ResolvedRun) -> bool:
    return any(judge.demo for judged in run.annotators for judge in judged.deployments)


def check_splits(runs: Sequence[ResolvedRun], counts: Mapping[str, Mapping[str, int]]) -> None:
    """Refuse a run whose evaluation splits are empty. `counts`: split sizes by scenario."""
    for run in runs:
        splits = eval_splits(run.adapter_spec)
        sizes = counts[run.card.name]
        if not any(sizes.get(split) for split in splits):
            raise ConfigError(
                f"{run.where or run.name}: scenario {run.card.name!r} has no instance in "
                f"{' or '.join(splits)}; its splits are {dict(sizes)}."
            )
        is_tabular = run.card.shape == TABULAR  # other cards may have fewer examples than asked for
        if run.adapter_spec.max_train_instances and is_tabular and "split" in run.card.fields:
            _check_examples(run, sizes)


def _check_examples(run: ResolvedRun, sizes: Mapping[str, int]) -> None:
    if not sizes.get(Split.TRAIN):
        raise ConfigError(
            f"{run.where or run.name}: max_train_instances is "
            f"{run.adapter_spec.max_train_instances}, and no row of scenario {run.card.name!r} is "
            f"of the split {Split.TRAIN.value}; its splits are {dict(sizes)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    suite: str


def suite_runs(ctx: Context, suites: Sequence[str]) -> list[SuiteRun]:
    """The current RunSpecs of some suites; LakeError for a suite that was never planned."""
    current = ctx.lake.rows(current_run_specs(suites), SuiteRun)
    names = {row.suite for row in current}
    for suite in suites:
        if suite not in names:
            rows = ctx.lake.rows("SELECT DISTINCT suite FROM {run_specs}", _Suite)
            known = {row.suite for row in rows}
            listed = f"it has {', '.join(map(repr, sorted(known)))}" if known else "nor any other"
            raise LakeError(f"{ctx.lake.location} has no suite {suite!r}; {listed}.")
    return sorted((row for row in current if row.suite in suites), key=lambda row: row.name)
