"""check-judges: planted answers -> judge requests -> planted verdicts, by infer's own path.

The requests are rows of `requests` that the stage check-judges wrote: annotate, score and boards
read only the rows of their own stages.
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
    ScoresByCriterion,
    StoredVerdicts,
    score_of,
    scores_by_criterion,
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
class _Question:
    """A question about a planted answer to one judge; `request` is None where none is sent."""

    planted: PlantedInput
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
    """Ask the judges about planted answers and store their verdicts; stored verdicts stay.

    Args:
        workspace: the site and the lake.
        jury: the judges.
        inputs: what is planted.
        stored: the verdicts on the answers as they were.
        check_id: the id of the check.
        seed: of all requests; with another seed the judges are asked again.

    Raises:
        PolicyError: the policy lets a judge not see the text; nothing was sent.
        OutageError: a judge gave no answers.
    """
    questions = [each for planted in inputs for each in _questions(jury, planted, seed)]
    deployments = {each.name: each for each in jury.annotator.deployments}
    policy, levels = (
        workspace.registry.policy,
        {planted.judge_input.access_level for planted in inputs},
    )
    check_plugins(policy, levels)
    for deployment in deployments.values():
        check_engine(deployment, workspace)
    requests = [each.request for each in questions if each.request]
    workspace.expect(levels, deployments.values())
    is_small = is_small_check(workspace, deployments.values(), len(requests))
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
    plan_requests(
        ctx, [(each.prompt, each.request) for each in questions if each.prompt and each.request]
    )
    targets = InferenceTargets(
        deployments=deployments,
        policy=policy,
        purpose=Purpose.JUDGE,
        stage=CHECK_JUDGES,
        label="judge check",
    )
    infer(ctx, sorted({request.run_spec_id for request in requests}), targets)
    verdicts = _read(workspace, jury, questions, stored, check_id)
    ctx.within(CHECK_JUDGES).lake.append_rows("planted_verdicts", verdicts, new_write_id())
    return verdicts


def day_of(at: datetime) -> int:
    """The seed of a day's requests: on another day the judges are asked again."""
    return at.date().toordinal()


def _questions(jury: CheckedJury, planted: PlantedInput, seed: int) -> Iterable[_Question]:
    annotator, rubric = jury.annotator, planted.rubric
    answer = Completion(text=planted.judge_input.response, finish_reason=FinishReason.STOP)
    skipped = needs_judging(rubric, (answer,))
    decoding = replace(judge_decoding(rubric), seed=seed)
    render = content_id(CHECK_JUDGES.name, CHECK_JUDGES.version, version_of(rubric))
    for judge, deployment in zip(annotator.jury.judges, annotator.deployments, strict=True):
        if skipped:
            yield _Question(planted=planted, judge=judge.name, skipped=skipped)
            continue
        subject = content_id(planted.kind, *planted.answer.key, planted.answer.request_id)
        run_spec_id, instance_id, trial_index = planted.answer.key
        for prompt in judge_prompts(
            rubric, planted.judge_input, judged_request_id=subject, render_id=render
        ):
            yield _Question(
                planted=planted,
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
                    annotator=f"{annotator.spec.name}: {planted.kind}",
                    judge=judge.name,
                    judged_request_id=planted.answer.request_id,
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


def plan_requests(ctx: Context, planned: Sequence[tuple[Prompt, PlannedRequest]]) -> None:
    """Write prompts and requests of the units whose requests changed."""
    by_unit: dict[str, list[tuple[Prompt, PlannedRequest]]] = {}
    for prompt, request in planned:
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
    """The verdict of one judge on a planted answer."""

    planted: PlantedInput
    judge: str
    request_id: str
    status: VerdictStatus
    criteria: ScoresByCriterion
    """Empty where a verdict is not usable."""


def _read(
    workspace: Workspace,
    jury: CheckedJury,
    questions: Sequence[_Question],
    stored: StoredVerdicts,
    check_id: str,
) -> list[PlantedVerdict]:
    verdicts = _verdicts(workspace, jury, questions)
    again = {
        (verdict.judge, verdict.planted.answer.key): verdict.criteria
        for verdict in verdicts
        if verdict.planted.kind is Planted.REPEAT
    }
    rows = []
    for verdict in verdicts:
        planted, key = verdict.planted, verdict.planted.answer.key
        before = stored.criteria[verdict.judge].get(key, {})
        if planted.kind is not Planted.REPEAT:
            before = again.get((verdict.judge, key)) or before
        rows.append(
            PlantedVerdict(
                check_id=check_id,
                planted=planted.kind.value,
                run_spec_id=key[0],
                instance_id=key[1],
                trial_index=key[2],
                judge=verdict.judge,
                request_id=verdict.request_id,
                status=verdict.status,
                score=score_of(
                    jury.annotator.rubric,
                    [verdict.criteria],
                    planted.judge_input.extra_data,
                    stored.params.get(key[0], {}),
                ),
                stored_score=stored.by_judge[verdict.judge].get(key),
                number=planted.number,
                distance=_distance(jury.annotator.rubric, verdict.criteria, before),
            )
        )
    return rows


def _verdicts(
    workspace: Workspace, jury: CheckedJury, questions: Sequence[_Question]
) -> list[_Verdict]:
    """The verdict of each judge on each planted answer, of all its items where there are items."""
    results = results_of(workspace, [each.request.request_id for each in questions if each.request])
    by_answer: dict[tuple[str, AnswerName, Planted], list[_Question]] = {}
    for question in questions:
        name = (question.judge, question.planted.answer.key, question.planted.kind)
        by_answer.setdefault(name, []).append(question)
    verdicts = []
    for (judge, _, _), own in by_answer.items():
        annotations = [_annotation(jury, question, results) for question in own]
        unusable = [each.status for each in annotations if each.status is not VerdictStatus.OK]
        criteria: dict[str, float] = {}
        for each in annotations if not unusable else ():
            criteria.update(scores_by_criterion(each.scores, each.rubric_item))
        verdicts.append(
            _Verdict(
                planted=own[0].planted,
                judge=judge,
                request_id=annotations[0].request_id,
                status=unusable[0] if unusable else VerdictStatus.OK,
                criteria=criteria,
            )
        )
    return verdicts


def _annotation(
    jury: CheckedJury, question: _Question, results: Mapping[str, RequestResult]
) -> Annotation:
    request = question.request
    result = results.get(request.request_id) if request else None
    run_spec_id, instance_id, trial_index = question.planted.answer.key
    return annotation_for(
        AnnotationKey(
            run_spec_id=run_spec_id,
            instance_id=instance_id,
            perturbation="",
            train_trial_index=0,
            trial_index=trial_index,
            annotator=jury.annotator.spec.name,
            judge=question.judge,
            request_id=request.request_id if request else "",
            rubric_item=request.rubric_item if request else None,
        ),
        question.planted.rubric,
        access_level=question.planted.judge_input.access_level,
        completions=tuple(map(without_thinking, result.completions)) if result else None,
        failure=result.failure if result else None,
        skipped=question.skipped,
    )


def _distance(rubric: Rubric, scores: ScoresByCriterion, before: ScoresByCriterion) -> float | None:
    """The mean distance of two verdicts' scores, as a share of each criterion's scale.

    Of classes, and of items of an instance's own rubric, the share that differ.
    """
    both = sorted(scores.keys() & before.keys())
    if not both:
        return None
    widths = {
        each.name: each.maximum - each.minimum for each in rubric.criteria if not each.classes
    }
    apart = [
        abs(scores[name] - before[name]) / widths[name]
        if name in widths
        else float(scores[name] != before[name])
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
