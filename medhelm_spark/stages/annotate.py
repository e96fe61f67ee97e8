"""annotate: stored answers -> judge requests -> annotations, through infer's own path.

A new judge or rubric reads stored answers again and never asks the evaluated model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import functions as F

from medhelm_spark.adaptation.decoding import call_id
from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION, spoken
from medhelm_spark.annotators.jury import annotation_for, judge_decoding, needs_judging
from medhelm_spark.annotators.kinds import version_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.comparability import JURY, jury_part
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.request import (
    Annotation,
    AnnotationKey,
    Completion,
    FailureKind,
    Purpose,
    VerdictStatus,
)
from medhelm_spark.domain.run import RunSpec, Unreadable
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.stages.comparability import ANNOTATE
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer import infer
from medhelm_spark.stages.judges import (
    STAGE as PLAN,
)
from medhelm_spark.stages.judges import (
    JudgeCall,
    Judging,
    judge_calls,
    outdated,
    plan_judges,
    subjects_of,
)
from medhelm_spark.stages.pending import Asking
from medhelm_spark.stages.states import EVALUATION_KEY, inputs_of, requests_of

STAGE = ANNOTATE
VERSION = "2"

VERDICTS = f"""
SELECT struct({", ".join(f"s.{name}" for name in EVALUATION_KEY)}, s.annotator, c.judge,
              coalesce(q.request_id, '') AS request_id, q.rubric_item) AS key,
       a.access_level, a.completions AS answer, r.completions, r.failure
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
LEFT JOIN {{judge_requests}} q
  ON {" AND ".join(f"q.{name} = s.{name}" for name in EVALUATION_KEY)}
 AND q.annotator = s.annotator AND q.judge = c.judge
LEFT JOIN {{results}} r ON r.request_id = q.request_id
LEFT JOIN {{results}} a ON a.request_id = s.judged_request_id
"""


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
                access_level=task.access_level
                or AccessLevel(self.specs[key.run_spec_id].access_level),
                completions=task.completions,
                failure=task.failure,
                skipped=self._skipped(task, rubric),
            )

    def _skipped(self, task: VerdictTask, rubric: Rubric) -> VerdictStatus | None:
        skipped = needs_judging(rubric, tuple(map(spoken, task.answer or ())))
        how = self.specs[task.key.run_spec_id].answer_extraction
        if skipped or task.key.request_id or how is None:
            return skipped
        # There is text, but no judge was asked: nothing could be read in it.
        if how.unreadable is Unreadable.UNSCORED:
            return VerdictStatus.NO_ANSWER
        return VerdictStatus.SKIPPED_EMPTY_OUTPUT


def annotate(ctx: Context, specs: Sequence[RunSpec], judging: Judging) -> int:
    """Judge every answer that has no verdict yet; returns how many judge requests were sent."""
    judged = {s.run_spec_id: s for s in specs if judging.annotators.get(s.run_spec_id)}
    if not judged:
        return 0
    answered_by = {spec.model_deployment for spec in judged.values()}
    inputs = inputs_of(ctx, list(judged), "plan", Purpose.EVALUATE, answered_by)
    prints = {
        unit: _fingerprint(judging.annotators[unit], inputs[unit].fingerprint) for unit in judged
    }
    plan_judges(ctx, judging, judged, prints)
    asked = infer(ctx, list(judged), asking_judges(judging))
    _read_verdicts(ctx, judging, judged, prints)
    return asked


def annotate_stored(ctx: Context, specs: Sequence[RunSpec], judging: Judging) -> list[str]:
    """Read verdicts again without asking a judge.

    Returns the ids of the RunSpecs whose judge requests have all been settled before; the verdicts
    of the others stay as they are.
    """
    judged = {spec.run_spec_id: spec for spec in specs}
    if not judged:
        return []
    answered_by = {spec.model_deployment for spec in specs}
    inputs = inputs_of(ctx, list(judged), "plan", Purpose.EVALUATE, answered_by)
    prints = {
        unit: _fingerprint(judging.annotators[unit], inputs[unit].fingerprint) for unit in judged
    }
    plan_judges(ctx, judging, judged, prints)
    replies = inputs_of(ctx, list(judged), PLAN, Purpose.JUDGE, judging.deployments)
    settled = [unit for unit in judged if unit not in replies or not replies[unit].missing]
    if settled:
        whole = {unit: judged[unit] for unit in settled}
        _read_verdicts(ctx, judging, whole, {unit: prints[unit] for unit in settled})
    return settled


def asking_judges(judging: Judging) -> Asking:
    """The judges, as infer asks them."""
    return Asking(
        deployments=judging.deployments,
        policy=judging.policy,
        purpose=Purpose.JUDGE,
        stage=PLAN,
        label=STAGE,
        retry_failed=judging.retry_failed,
    )


def _fingerprint(annotators: Sequence[ResolvedAnnotator], answers: str) -> str:
    juries = [
        (one.spec.name, version_of(one.rubric), one.jury.name, _call_ids(one)) for one in annotators
    ]
    return content_id(STAGE, VERSION, EXTRACTION_VERSION, juries, answers)


def jury_text(annotators: Sequence[ResolvedAnnotator]) -> str:
    """The jury's part of what stats rest on; how answers are read decides what judges see."""
    return "; ".join(
        jury_part(
            one.rubric.name,
            version_of(one.rubric),
            [judge.name for judge in one.jury.judges],
            (_call_ids(one), EXTRACTION_VERSION),
        )
        for one in annotators
    )


def _call_ids(annotator: ResolvedAnnotator) -> list[str]:
    decoding = judge_decoding(annotator.rubric)
    return [call_id(deployment, decoding) for deployment in annotator.deployments]


def _read_verdicts(
    ctx: Context, judging: Judging, specs: Mapping[str, RunSpec], answered: Mapping[str, str]
) -> None:
    started_at, write_id = now(), new_write_id()
    replies = inputs_of(ctx, list(specs), PLAN, Purpose.JUDGE, judging.deployments)
    prints = {
        unit: content_id(value, replies[unit].fingerprint if unit in replies else "")
        for unit, value in answered.items()
    }
    todo = {unit: specs[unit] for unit in outdated(ctx, STAGE, prints)}
    if todo:
        calls = judge_calls(judging, todo.values())
        deployments = {spec.model_deployment for spec in todo.values()} | set(judging.deployments)
        tasks = ctx.lake.query(
            VERDICTS,
            subjects=subjects_of(ctx, calls),
            calls=F.broadcast(ctx.lake.frame(calls, JudgeCall)),
            judge_requests=requests_of(ctx, list(todo), PLAN, Purpose.JUDGE),
            results=ctx.results(deployments),
        )
        rubrics = {(u, a.spec.name): a.rubric for u in todo for a in judging.annotators[u]}
        made = map_rows(tasks, ReadVerdicts(rubrics, todo), VerdictTask, Annotation)
        ctx.lake.append("annotations", made, write_id)
        counts = {unit: replies[unit].counts for unit in todo if unit in replies}
        juries = {unit: {JURY: jury_text(judging.annotators[unit])} for unit in todo}
        fresh = {unit: prints[unit] for unit in todo}
        ctx.record(STAGE, fresh, write_id, started_at, counts, comparability=juries)
    ctx.say(f"{STAGE}: {len(todo)} of {counted(len(prints), 'run spec')} judged anew")
