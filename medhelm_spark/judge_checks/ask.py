"""check-judges: planted answers -> judge requests -> planted verdicts, by infer's own path.

The requests are rows of `requests` that the stage check-judges wrote: annotate, score and boards
read those of their own stages alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.decoding import call_id, estimated_tokens, request_id
from medhelm_spark.annotators.jury import (
    annotation_for,
    judge_decoding,
    judge_prompts,
    needs_judging,
)
from medhelm_spark.annotators.kinds import version_of
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    AnnotationKey,
    Completion,
    FinishReason,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
    VerdictStatus,
)
from medhelm_spark.domain.stages import CHECK_JUDGES
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.governance.level_changes import unreviewed_versions
from medhelm_spark.judge_checks.juries import CheckedJury
from medhelm_spark.judge_checks.planting import Planted, PlantedInput
from medhelm_spark.judge_checks.stored import StoredVerdicts, score_of
from medhelm_spark.judge_checks.tables import PlantedVerdict
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.views import CURRENT_RESULTS
from medhelm_spark.pipeline.checks import check_engine
from medhelm_spark.pipeline.in_process import is_small_check
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.decide import JUDGE, Asking, decision_of, record, refuse
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.ready import ready
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.workspace.workspace import Workspace

_RESULTS = "SELECT * FROM ({source}) r WHERE {requests}"
SECOND_TIME = 1
"""The seed of a request that is asked again: another trial, as of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A planted answer before one judge; `request` is None where none is sent."""

    given: PlantedInput
    judge: str
    skipped: VerdictStatus | None
    prompt: Prompt | None = None
    request: PlannedRequest | None = None


def ask_judges(
    workspace: Workspace,
    jury: CheckedJury,
    inputs: Sequence[PlantedInput],
    stored: StoredVerdicts,
    check_id: str,
) -> list[PlantedVerdict]:
    """Put planted answers before the judges and keep what they say; stored verdicts stay.

    Raises:
        PolicyError: the policy lets a judge not see the text; nothing was sent.
        OutageError: a judge gave no answers.
    """
    asked = [row for given in inputs for row in _asked(jury, given)]
    deployments = {each.name: each for each in jury.annotator.deployments}
    policy, levels = workspace.registry.policy, {given.shown.access_level for given in inputs}
    check_plugins(policy, levels)
    for deployment in deployments.values():
        check_engine(deployment, workspace)
    sent = [row.request for row in asked if row.request]
    workspace.expect(levels, deployments.values())
    is_small = is_small_check(workspace, deployments.values(), len(sent))
    ctx = workspace.context(jury.suite, is_in_process=is_small)
    ctx.ledger.check()
    decide_judges(
        workspace,
        ctx,
        deployments.values(),
        strictest(levels),
        run_name=f"judge check of {jury.scenario_name}",
        is_unreviewed=_is_unreviewed(workspace, jury),
    )
    ready(ctx, deployments.values())
    plan_requests(ctx, [(row.prompt, row.request) for row in asked if row.prompt and row.request])
    targets = InferenceTargets(
        deployments=deployments,
        policy=policy,
        purpose=Purpose.JUDGE,
        stage=CHECK_JUDGES,
        label="judge check",
    )
    infer(ctx, sorted({row.run_spec_id for row in sent}), targets)
    verdicts = _read(workspace, jury, asked, stored, check_id)
    ctx.within(CHECK_JUDGES).lake.append_rows("planted_verdicts", verdicts, new_write_id())
    return verdicts


def _asked(jury: CheckedJury, given: PlantedInput) -> Iterable[_Asked]:
    annotator = jury.annotator
    answer = Completion(text=given.shown.response, finish_reason=FinishReason.STOP)
    skipped = needs_judging(annotator.rubric, (answer,))
    decoding = judge_decoding(annotator.rubric)
    if given.planted is Planted.REPEAT:
        decoding = replace(decoding, seed=SECOND_TIME)
    render = content_id(CHECK_JUDGES.name, CHECK_JUDGES.version, version_of(annotator.rubric))
    for judge, deployment in zip(annotator.jury.judges, annotator.deployments, strict=True):
        if skipped:
            yield _Asked(given=given, judge=judge.name, skipped=skipped)
            continue
        subject = content_id(given.planted, *given.answer.key, given.answer.request_id)
        (prompt,) = judge_prompts(
            annotator.rubric, given.shown, judged_request_id=subject, render_id=render
        )
        run_spec_id, instance_id, trial_index = given.answer.key
        yield _Asked(
            given=given,
            judge=judge.name,
            skipped=None,
            prompt=prompt,
            request=PlannedRequest(
                run_spec_id=run_spec_id,
                instance_id=instance_id,
                perturbation="",
                train_trial_index=0,
                trial_index=trial_index,
                purpose=Purpose.JUDGE,
                request_id=request_id(prompt.prompt_id, call_id(deployment, decoding)),
                prompt_id=prompt.prompt_id,
                model_deployment=deployment.name,
                decoding=decoding,
                access_level=prompt.access_level,
                estimated_tokens=estimated_tokens(prompt.num_characters, decoding),
                annotator=f"{annotator.spec.name}: {given.planted}",
                judge=judge.name,
                judged_request_id=given.answer.request_id,
            ),
        )


def decide_judges(
    workspace: Workspace,
    ctx: Context,
    deployments: Iterable[Deployment],
    level: AccessLevel,
    *,
    run_name: str,
    is_unreviewed: bool = False,
) -> None:
    """Ask the policy of each judge, record its answers, and refuse as a plan does.

    Args:
        workspace: the site.
        ctx: the lake and suite.
        deployments: the judges'.
        level: the strictest level of the text.
        run_name: what the decisions are recorded under.
        is_unreviewed: somebody lowered the level without a second person.
    """
    policy = workspace.registry.policy
    asking = Asking(suite=ctx.suite, run_name=run_name, access_level=level)
    decisions = [
        decision_of(asking, JUDGE, deployment, policy, is_unreviewed=is_unreviewed)
        for deployment in deployments
    ]
    record(ctx, decisions)
    refuse(decisions, "in policy_decisions")


def _is_unreviewed(workspace: Workspace, jury: CheckedJury) -> bool:
    """Whether somebody lowered the level of the data without a second person."""
    versions = {spec.data_version for spec in jury.specs}
    approvals = workspace.registry.policy.binding_approvals
    return bool(unreviewed_versions(workspace.reader, versions, approvals))


def plan_requests(ctx: Context, asked: Sequence[tuple[Prompt, PlannedRequest]]) -> None:
    """Write prompts and requests of the units whose requests changed."""
    by_unit: dict[str, list[tuple[Prompt, PlannedRequest]]] = {}
    for prompt, request in asked:
        by_unit.setdefault(request.run_spec_id, []).append((prompt, request))
    fingerprints = {
        unit: CHECK_JUDGES.fingerprint(sorted(request.request_id for _, request in rows))
        for unit, rows in by_unit.items()
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        rows = [row for unit in units for row in by_unit[unit]]
        prompts = {prompt.prompt_id: prompt for prompt, _ in rows}
        ctx.lake.append_rows("prompts", prompts.values(), write_id)
        ctx.lake.append_rows("requests", [request for _, request in rows], write_id)

    run_stage(ctx, CHECK_JUDGES, fingerprints, write)


def _read(
    workspace: Workspace,
    jury: CheckedJury,
    asked: Sequence[_Asked],
    stored: StoredVerdicts,
    check_id: str,
) -> list[PlantedVerdict]:
    results = results_of(workspace, [row.request.request_id for row in asked if row.request])
    verdicts = []
    for row in asked:
        request_id = row.request.request_id if row.request else ""
        result = results.get(request_id)
        run_spec_id, instance_id, trial_index = row.given.answer.key
        verdict = annotation_for(
            AnnotationKey(
                run_spec_id=run_spec_id,
                instance_id=instance_id,
                perturbation="",
                train_trial_index=0,
                trial_index=trial_index,
                annotator=jury.annotator.spec.name,
                judge=row.judge,
                request_id=request_id,
            ),
            jury.annotator.rubric,
            access_level=row.given.shown.access_level,
            completions=tuple(map(without_thinking, result.completions)) if result else None,
            failure=result.failure if result else None,
            skipped=row.skipped,
        )
        verdicts.append(
            PlantedVerdict(
                check_id=check_id,
                planted=row.given.planted.value,
                run_spec_id=run_spec_id,
                instance_id=instance_id,
                trial_index=trial_index,
                judge=row.judge,
                request_id=request_id,
                status=verdict.status,
                score=score_of(jury.annotator.rubric, verdict.scores, row.given.shown.extra_data),
                stored_score=stored.by_judge[row.judge].get(row.given.answer.key),
            )
        )
    return verdicts


def results_of(workspace: Workspace, request_ids: Sequence[str]) -> Mapping[str, RequestResult]:
    """The stored results of these requests, by request_id."""
    if not request_ids:
        return {}
    where = among("request_id", sorted(set(request_ids)))
    sql = _RESULTS.format(source=CURRENT_RESULTS, requests=where)
    rows: list[RequestResult] = workspace.reader.rows(sql, RequestResult)
    return {row.request_id: row for row in rows}
