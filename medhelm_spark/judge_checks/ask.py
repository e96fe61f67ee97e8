"""check-judges: planted answers -> judge requests -> planted verdicts, by infer's own path.

The requests are rows of `requests` that the stage check-judges wrote: annotate, score and boards
read those of their own stages alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from medhelm_spark.adaptation.decoding import call_id, estimated_tokens, request_id
from medhelm_spark.annotators.jury import (
    annotation_for,
    judge_decoding,
    judge_prompts,
    needs_judging,
)
from medhelm_spark.annotators.kinds import version_of
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    Annotation,
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
from medhelm_spark.judge_checks.stored import (
    AnswerName,
    Given,
    StoredVerdicts,
    given_in,
    score_of,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question about a planted answer to one judge; `request` is None where none is sent."""

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
    seed: int,
) -> list[PlantedVerdict]:
    """Put planted answers before the judges and keep what they say; stored verdicts stay.

    Args:
        workspace: the site and the lake.
        jury: the judges.
        inputs: what is planted.
        stored: the verdicts on the answers as they were.
        check_id: the check that asks.
        seed: of all requests; those of another seed are asked anew.

    Raises:
        PolicyError: the policy lets a judge not see the text; nothing was sent.
        OutageError: a judge gave no answers.
    """
    asked = [row for given in inputs for row in _asked(jury, given, seed)]
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


def day_of(at: datetime) -> int:
    """The seed of what is asked on a day: on another one the judges are asked anew."""
    return at.date().toordinal()


def _asked(jury: CheckedJury, given: PlantedInput, seed: int) -> Iterable[_Asked]:
    annotator, rubric = jury.annotator, given.rubric
    answer = Completion(text=given.shown.response, finish_reason=FinishReason.STOP)
    skipped = needs_judging(rubric, (answer,))
    decoding = replace(judge_decoding(rubric), seed=seed)
    render = content_id(CHECK_JUDGES.name, CHECK_JUDGES.version, version_of(rubric))
    for judge, deployment in zip(annotator.jury.judges, annotator.deployments, strict=True):
        if skipped:
            yield _Asked(given=given, judge=judge.name, skipped=skipped)
            continue
        subject = content_id(given.planted, *given.answer.key, given.answer.request_id)
        run_spec_id, instance_id, trial_index = given.answer.key
        for prompt in judge_prompts(
            rubric, given.shown, judged_request_id=subject, render_id=render
        ):
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
                    rubric_item=prompt.rubric_item,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """What one judge said of a planted answer."""

    given: PlantedInput
    judge: str
    request_id: str
    status: VerdictStatus
    criteria: Given
    """Empty where a verdict is not usable."""


def _read(
    workspace: Workspace,
    jury: CheckedJury,
    asked: Sequence[_Asked],
    stored: StoredVerdicts,
    check_id: str,
) -> list[PlantedVerdict]:
    verdicts = _verdicts(workspace, jury, asked)
    again = {
        (verdict.judge, verdict.given.answer.key): verdict.criteria
        for verdict in verdicts
        if verdict.given.planted is Planted.REPEAT
    }
    rows = []
    for verdict in verdicts:
        given, key = verdict.given, verdict.given.answer.key
        before = stored.criteria[verdict.judge].get(key, {})
        if given.planted is not Planted.REPEAT:
            before = again.get((verdict.judge, key)) or before
        rows.append(
            PlantedVerdict(
                check_id=check_id,
                planted=given.planted.value,
                run_spec_id=key[0],
                instance_id=key[1],
                trial_index=key[2],
                judge=verdict.judge,
                request_id=verdict.request_id,
                status=verdict.status,
                score=score_of(jury.annotator.rubric, verdict.criteria, given.shown.extra_data),
                stored_score=stored.by_judge[verdict.judge].get(key),
                number=given.number,
                distance=_distance(jury.annotator.rubric, verdict.criteria, before),
            )
        )
    return rows


def _verdicts(workspace: Workspace, jury: CheckedJury, asked: Sequence[_Asked]) -> list[_Verdict]:
    """The verdict of each judge on each planted answer, of all its items where there are items."""
    results = results_of(workspace, [row.request.request_id for row in asked if row.request])
    by_answer: dict[tuple[str, AnswerName, Planted], list[_Asked]] = {}
    for row in asked:
        name = (row.judge, row.given.answer.key, row.given.planted)
        by_answer.setdefault(name, []).append(row)
    verdicts = []
    for (judge, _, _), rows in by_answer.items():
        read = [_annotation(jury, row, results) for row in rows]
        unusable = [each.status for each in read if each.status is not VerdictStatus.OK]
        criteria: dict[str, float] = {}
        for each in read if not unusable else ():
            criteria.update(given_in(each.scores, each.rubric_item))
        verdicts.append(
            _Verdict(
                given=rows[0].given,
                judge=judge,
                request_id=read[0].request_id,
                status=unusable[0] if unusable else VerdictStatus.OK,
                criteria=criteria,
            )
        )
    return verdicts


def _annotation(jury: CheckedJury, row: _Asked, results: Mapping[str, RequestResult]) -> Annotation:
    request = row.request
    result = results.get(request.request_id) if request else None
    run_spec_id, instance_id, trial_index = row.given.answer.key
    return annotation_for(
        AnnotationKey(
            run_spec_id=run_spec_id,
            instance_id=instance_id,
            perturbation="",
            train_trial_index=0,
            trial_index=trial_index,
            annotator=jury.annotator.spec.name,
            judge=row.judge,
            request_id=request.request_id if request else "",
            rubric_item=request.rubric_item if request else None,
        ),
        row.given.rubric,
        access_level=row.given.shown.access_level,
        completions=tuple(map(without_thinking, result.completions)) if result else None,
        failure=result.failure if result else None,
        skipped=row.skipped,
    )


def _distance(rubric: Rubric, given: Given, before: Given) -> float | None:
    """The mean distance of two verdicts' criteria, as a share of each one's scale.

    Of classes, and of items of an instance's own rubric, the share that differ.
    """
    both = sorted(given.keys() & before.keys())
    if not both:
        return None
    widths = {
        each.name: each.maximum - each.minimum for each in rubric.criteria if not each.classes
    }
    apart = [
        abs(given[name] - before[name]) / widths[name]
        if name in widths
        else float(given[name] != before[name])
        for name in both
    ]
    return sum(apart) / len(apart)


def results_of(workspace: Workspace, request_ids: Sequence[str]) -> Mapping[str, RequestResult]:
    """The stored results of these requests, by request_id."""
    if not request_ids:
        return {}
    where = among("request_id", sorted(set(request_ids)))
    sql = _RESULTS.format(source=CURRENT_RESULTS, requests=where)
    rows: list[RequestResult] = workspace.reader.rows(sql, RequestResult)
    return {row.request_id: row for row in rows}
