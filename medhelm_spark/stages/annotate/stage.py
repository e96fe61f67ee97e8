"""annotate: stored answers -> judge requests -> annotations; judges are asked by infer.

A new judge or rubric reads stored answers again and never asks the evaluated model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.decoding import call_id
from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.annotators.jury import annotation_for, judge_decoding, needs_judging
from medhelm_spark.annotators.kinds import version_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.comparability import JURY, jury_part
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.request import (
    EVALUATION_KEY,
    Annotation,
    AnnotationKey,
    Completion,
    FailureKind,
    Purpose,
    VerdictStatus,
)
from medhelm_spark.domain.run import RunSpec, Unreadable
from medhelm_spark.domain.stages import ANNOTATE, PLAN, PLAN_JUDGES
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.lake.rows import Frame, map_rows
from medhelm_spark.stages.annotate.judges import (
    JUDGED,
    JudgeCall,
    JudgedAnswers,
    Judging,
    judge_calls,
    most_questions,
    plan_judges,
    subjects_of,
)
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.follow_ups import FollowUps
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.infer.throughput import outcomes_of
from medhelm_spark.stages.run_stage import Written, run_stage
from medhelm_spark.stages.states import few_asked, inputs_of, requests_of

VERDICTS = f"""
SELECT struct({", ".join(f"s.{name}" for name in EVALUATION_KEY)}, s.annotator, c.judge,
              coalesce(q.request_id, '') AS request_id, q.rubric_item) AS key,
       coalesce(r.access_level, a.access_level) AS access_level,
       a.completions AS answer, r.completions, r.failure
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
LEFT JOIN {{judge_requests}} q
  ON {" AND ".join(f"q.{name} = s.{name}" for name in EVALUATION_KEY)}
 AND q.annotator = s.annotator AND q.judge = c.judge
LEFT JOIN {{results}} r ON r.request_id = q.request_id
LEFT JOIN {{results}} a ON a.request_id = s.judged_request_id
"""

READ = f"SELECT request_id FROM {{judge_requests}} UNION ALL {JUDGED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTask:
    """A judge's reply, or why there is none."""

    key: AnnotationKey
    access_level: AccessLevel | None
    answer: tuple[Completion, ...] | None
    completions: tuple[Completion, ...] | None
    failure: FailureKind | None


@dataclass(frozen=True, slots=True)
class ReadVerdicts:
    """Judge replies in, annotations out."""

    rubrics: Mapping[tuple[str, str], Rubric]
    specs: Mapping[str, RunSpec]

    def __call__(self, tasks: Iterable[VerdictTask]) -> Iterator[Annotation]:
        for task in tasks:
            key = task.key
            rubric = self.rubrics[key.run_spec_id, key.annotator]
            yield annotation_for(
                key,
                rubric,
                access_level=task.access_level or self.specs[key.run_spec_id].access_level,
                completions=tuple(map(without_thinking, task.completions or ())),
                failure=task.failure,
                skipped=self._skipped(task, rubric),
            )

    def _skipped(self, task: VerdictTask, rubric: Rubric) -> VerdictStatus | None:
        skipped = needs_judging(rubric, tuple(map(without_thinking, task.answer or ())))
        how = self.specs[task.key.run_spec_id].answer_extraction
        if skipped or task.key.request_id or how is None:
            return skipped
        # There is text, but no judge was asked: no answer could be read from it.
        if how.unreadable is Unreadable.UNSCORED:
            return VerdictStatus.NO_ANSWER
        return VerdictStatus.SKIPPED_EMPTY_OUTPUT


def annotate(
    ctx: Context, specs: Sequence[RunSpec], judging: Judging, follow_ups: FollowUps | None = None
) -> int:
    """Judge every answer that has no verdict yet; returns how many judge requests were sent.

    The requests of `follow_ups`, sent while models answered, are not counted.
    """
    judged = {s.run_spec_id: s for s in specs if judging.annotators.get(s.run_spec_id)}
    if not judged:
        return 0
    answers = _plan_judges(ctx, judged, judging)
    judges = judges_of(judging)
    if follow_ups and follow_ups.asked:
        write_id = follow_ups.write_id
        judges = replace(judges, asked_in=write_id, down=frozenset(follow_ups.down))
        outcomes = outcomes_of(ctx, write_id)
        here = [each for each in outcomes if each.model_deployment in judges.deployments]
        record_denied(ctx, write_id, here, judges.deployments, judges.policy, (Purpose.JUDGE,))
    sent = infer(ctx, list(judged), judges)
    _read_verdicts(ctx, judging, judged, answers)
    return sent


def annotate_stored(ctx: Context, specs: Sequence[RunSpec], judging: Judging) -> list[str]:
    """Read verdicts again without asking a judge.

    Returns the ids of the RunSpecs whose judge requests are all settled; the verdicts of the others
    stay as they are.
    """
    judged = {spec.run_spec_id: spec for spec in specs}
    if not judged:
        return []
    answers = _plan_judges(ctx, judged, judging)
    replies = inputs_of(ctx, list(judged), PLAN_JUDGES, Purpose.JUDGE, judging.deployments)
    settled = [unit for unit in judged if unit not in replies or not replies[unit].missing]
    if settled:
        _read_verdicts(ctx, judging, {unit: judged[unit] for unit in settled}, answers)
    return settled


def _plan_judges(
    ctx: Context, judged: Mapping[str, RunSpec], judging: Judging
) -> dict[str, JudgedAnswers]:
    """Plan the judges' requests; returns the judged answers by run_spec_id."""
    answers = judged_answers(ctx, judged, judging)
    plan_judges(ctx, judging, judged, answers)
    return answers


def judged_answers(
    ctx: Context, judged: Mapping[str, RunSpec], judging: Judging
) -> dict[str, JudgedAnswers]:
    """The stored answers that these RunSpecs' juries read, by run_spec_id."""
    answered_by = {spec.model_deployment for spec in judged.values()}
    inputs = inputs_of(ctx, list(judged), PLAN, Purpose.EVALUATE, answered_by)
    return {
        unit: JudgedAnswers(
            fingerprint=_fingerprint(judging.annotators[unit], inputs[unit].fingerprint),
            requests=inputs[unit].requests,
            unanswered=inputs[unit].requests - inputs[unit].answered,
        )
        for unit in judged
    }


def judges_of(judging: Judging) -> InferenceTargets:
    """The judges, as infer asks them."""
    return InferenceTargets(
        deployments=judging.deployments,
        policy=judging.policy,
        purpose=Purpose.JUDGE,
        stage=PLAN_JUDGES,
        label=ANNOTATE.name,
        retry_failed=judging.retry_failed,
    )


def _fingerprint(annotators: Sequence[ResolvedAnnotator], answers: str) -> str:
    juries = [
        (
            annotator.spec.name,
            version_of(annotator.rubric),
            annotator.jury.name,
            _call_ids(annotator),
        )
        for annotator in annotators
    ]
    return ANNOTATE.fingerprint(EXTRACTION_VERSION, juries, answers)


def jury_text(annotators: Sequence[ResolvedAnnotator]) -> str:
    """The jury's part of the key of stats; how answers are read decides what judges see."""
    return "; ".join(
        jury_part(
            annotator.rubric.name,
            version_of(annotator.rubric),
            [judge.name for judge in annotator.jury.judges],
            (_call_ids(annotator), EXTRACTION_VERSION),
        )
        for annotator in annotators
    )


def _call_ids(annotator: ResolvedAnnotator) -> list[str]:
    decoding = judge_decoding(annotator.rubric)
    return [call_id(deployment, decoding) for deployment in annotator.deployments]


def _read_verdicts(
    ctx: Context,
    judging: Judging,
    specs: Mapping[str, RunSpec],
    answers: Mapping[str, JudgedAnswers],
) -> None:
    replies = inputs_of(ctx, list(specs), PLAN_JUDGES, Purpose.JUDGE, judging.deployments)
    fingerprints = {
        unit: content_id(
            answers[unit].fingerprint, replies[unit].fingerprint if unit in replies else ""
        )
        for unit in specs
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> Written:
        todo = {unit: specs[unit] for unit in units}
        verdicts = map_rows(
            _verdict_tasks(ctx, judging, todo),
            ReadVerdicts(
                {
                    (unit, annotator.spec.name): annotator.rubric
                    for unit in todo
                    for annotator in judging.annotators[unit]
                },
                todo,
            ),
            VerdictTask,
            Annotation,
        )
        size = most_questions(judging, todo.values(), answers)
        ctx.lake.append("annotations", verdicts, write_id, at_most=size)
        return Written(
            counts={unit: replies[unit].counts for unit in todo if unit in replies},
            comparability={unit: {JURY: jury_text(judging.annotators[unit])} for unit in todo},
        )

    run_stage(ctx, ANNOTATE, fingerprints, write)


def _verdict_tasks(ctx: Context, judging: Judging, specs: Mapping[str, RunSpec]) -> Frame:
    calls = judge_calls(judging, specs.values())
    deployments = {spec.model_deployment for spec in specs.values()} | set(judging.deployments)
    subjects = subjects_of(ctx, calls)
    judge_requests = requests_of(ctx, specs, PLAN_JUDGES, Purpose.JUDGE)
    few = [
        few_asked(ctx, specs, PLAN, Purpose.EVALUATE),
        few_asked(ctx, specs, PLAN_JUDGES, Purpose.JUDGE),
    ]
    ids = [name for each in few if each for name in each.request_ids]
    return ctx.lake.query(
        VERDICTS,
        subjects=subjects,
        calls=ctx.lake.frame(calls, JudgeCall),
        judge_requests=judge_requests,
        results=ctx.results(
            deployments,
            ctx.lake.query(READ, judge_requests=judge_requests, subjects=subjects),
            ids if None not in few else None,
        ),
    )
