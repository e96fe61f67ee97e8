"""HealthBench's meta-evaluation: judges' verdicts on single criteria beside physicians'.

The judges are asked by the path, policy and cache of `run`; only requests and their results are
stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.decoding import call_id, estimated_tokens, request_id
from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import judge_decoding, judge_prompts
from medhelm_spark.annotators.kinds import kind_of, version_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import RUBRIC_ITEMS, Rubric, RubricItem, items_text
from medhelm_spark.domain.deployment import Deployment, Jury
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import PlannedRequest, Prompt, Purpose
from medhelm_spark.domain.stages import CHECK_JUDGES
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.errors import ConfigError
from medhelm_spark.judge_checks.ask import decide_judges, plan_requests, results_of
from medhelm_spark.judge_checks.physician_records import PhysicianRecord
from medhelm_spark.pipeline.checks import check_engine
from medhelm_spark.pipeline.in_process import is_small_check
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.ready import ready
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.statistics.two_by_two import Estimated
from medhelm_spark.statistics.verdict_agreement import (
    VerdictPairs,
    macro_f1,
    pairs_among,
    pairs_of,
)
from medhelm_spark.workspace.workspace import Workspace

SUITE = "physicians"
"""The suite that requests and decisions are recorded under."""
PHYSICIANS = "physicians"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAgreement:
    """The agreement of a judge, of a jury, or of the physicians among themselves."""

    who: str
    """`physicians`, `judge NAME` or `jury NAME`."""
    category: str
    """Of the records; empty for all."""
    num_records: int
    """The records with a usable verdict and a physician to compare it with."""
    num_without: int
    """The records without a usable verdict."""
    met: float | None
    """The share of the verdicts by which the criterion is met."""
    f1: Estimated | None
    """Macro F1 with the physicians; None where nobody, or everybody, calls the criterion met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question about one record to one judge."""

    index: int
    judge: str
    prompt: Prompt
    request: PlannedRequest


def agreement_with_physicians(
    workspace: Workspace,
    records: Sequence[PhysicianRecord],
    jury: Jury,
    rubric: Rubric,
    level: AccessLevel,
) -> list[VerdictAgreement]:
    """Ask a jury about the records, and compare its verdicts with the physicians'.

    Args:
        workspace: the site and the lake.
        records: the physicians' labels.
        jury: the judges.
        rubric: asked once per criterion.
        level: the access level of the records.

    Raises:
        ConfigError: the rubric has criteria of its own.
        PolicyError: the policy lets a judge not see the text; nothing was sent.
        OutageError: a judge gave no answers.
    """
    if not rubric.is_per_item:
        raise ConfigError(
            f"rubric {rubric.name!r} is of kind {rubric.kind!r}; allowed: one of kind 'rubric', "
            "which is asked about one criterion at a time."
        )
    registry = workspace.registry
    deployments = {
        judge.name: registry.resolve_model(judge.model, judge.model_deployment)
        for judge in jury.judges
    }
    questions = [
        question
        for index, record in enumerate(records)
        for question in _questions(index, record, rubric, deployments, level)
    ]
    _ask(workspace, questions, deployments, level, registry.policy)
    verdicts = _verdicts(workspace, questions, rubric)
    return list(_agreements(records, jury, verdicts))


def _questions(
    index: int,
    record: PhysicianRecord,
    rubric: Rubric,
    deployments: Mapping[str, Deployment],
    level: AccessLevel,
) -> Iterator[_Question]:
    item = RubricItem(criterion=record.criterion, points=1.0)
    judge_input = JudgeInput(
        question=record.messages[-1].content,
        messages=record.messages,
        response=record.answer,
        extra_data={RUBRIC_ITEMS: items_text([item])},
        access_level=level,
    )
    subject = content_id(SUITE, record.messages, record.answer, record.criterion)
    render = content_id(CHECK_JUDGES.name, SUITE, version_of(rubric))
    (prompt,) = judge_prompts(rubric, judge_input, judged_request_id=subject, render_id=render)
    decoding = judge_decoding(rubric)
    for judge, deployment in deployments.items():
        yield _Question(
            index=index,
            judge=judge,
            prompt=prompt,
            request=PlannedRequest(
                run_spec_id=content_id(SUITE, render, deployment.name),
                instance_id=subject,
                perturbation="",
                train_trial_index=0,
                trial_index=0,
                purpose=Purpose.JUDGE,
                request_id=request_id(prompt.prompt_id, call_id(deployment, decoding)),
                prompt_id=prompt.prompt_id,
                model_deployment=deployment.name,
                decoding=decoding,
                access_level=level,
                estimated_tokens=estimated_tokens(prompt.num_characters, decoding),
                annotator=SUITE,
                judge=judge,
                judged_request_id=subject,
            ),
        )


def _ask(
    workspace: Workspace,
    questions: Sequence[_Question],
    deployments: Mapping[str, Deployment],
    level: AccessLevel,
    policy: Policy,
) -> None:
    check_plugins(policy, {level})
    for deployment in deployments.values():
        check_engine(deployment, workspace)
    workspace.expect({level}, deployments.values())
    is_small = is_small_check(workspace, deployments.values(), len(questions))
    ctx = workspace.context(SUITE, is_in_process=is_small)
    ctx.ledger.check()
    decide_judges(workspace, ctx, deployments.values(), level, run_name="judges beside physicians")
    ready(ctx, deployments.values())
    plan_requests(ctx, [(each.prompt, each.request) for each in questions])
    targets = InferenceTargets(
        deployments={each.name: each for each in deployments.values()},
        policy=policy,
        purpose=Purpose.JUDGE,
        stage=CHECK_JUDGES,
        label="judges beside physicians",
    )
    infer(ctx, sorted({each.request.run_spec_id for each in questions}), targets)


def _verdicts(
    workspace: Workspace, questions: Sequence[_Question], rubric: Rubric
) -> dict[str, dict[int, bool]]:
    """By judge and record whether the criterion is met; without unusable verdicts."""
    results = results_of(workspace, [each.request.request_id for each in questions])
    verdicts: dict[str, dict[int, bool]] = {}
    for each in questions:
        own = verdicts.setdefault(each.judge, {})
        result = results.get(each.request.request_id)
        if result is None or result.failure is not None or not result.completions:
            continue
        text = without_thinking(result.completions[0]).text
        if scores := kind_of(rubric).read(text, rubric):
            own[each.index] = bool(scores[0].score)
    return verdicts


def _agreements(
    records: Sequence[PhysicianRecord], jury: Jury, verdicts: Mapping[str, Mapping[int, bool]]
) -> Iterator[VerdictAgreement]:
    """Of all records, then of each category: the physicians, each judge, and the jury."""
    compared = {f"judge {name}": own for name, own in verdicts.items()}
    if len(verdicts) > 1:
        compared[f"jury {jury.name}"] = _by_majority(verdicts)
    categories = sorted({record.category for record in records if record.category})
    for category in ["", *(categories if len(categories) > 1 else [])]:
        indices = [
            index for index, record in enumerate(records) if category in ("", record.category)
        ]
        among = {
            index: pairs_among(records[index].cluster, records[index].labels)
            for index in indices
            if len(records[index].labels) > 1
        }
        labels = [label for index in among for label in records[index].labels]
        yield _agreement(PHYSICIANS, category, among, labels, num_without=0)
        for who, own in compared.items():
            pairs = {
                index: pairs_of(records[index].cluster, own[index], records[index].labels)
                for index in indices
                if index in own
            }
            decisions = [own[index] for index in pairs]
            yield _agreement(who, category, pairs, decisions, num_without=len(indices) - len(pairs))


def _by_majority(verdicts: Mapping[str, Mapping[int, bool]]) -> dict[int, bool]:
    """The verdict of more than half of the judges, where each has a usable verdict."""
    first, *others = verdicts.values()
    majority: dict[int, bool] = {}
    for index in first:
        if all(index in other for other in others):
            votes = [own[index] for own in verdicts.values()]
            if 2 * sum(votes) != len(votes):
                majority[index] = 2 * sum(votes) > len(votes)
    return majority


def _agreement(
    who: str,
    category: str,
    pairs: Mapping[int, VerdictPairs],
    decisions: Sequence[bool],
    *,
    num_without: int,
) -> VerdictAgreement:
    return VerdictAgreement(
        who=who,
        category=category,
        num_records=len(pairs),
        num_without=num_without,
        met=sum(decisions) / len(decisions) if decisions else None,
        f1=macro_f1(list(pairs.values())),
    )
