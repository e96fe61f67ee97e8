"""Judge requests: which stored answers which judges read, rendered and linked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.decoding import (
    ESTIMATED_TOKENS_SQL,
    REQUEST_ID_SQL,
    call_id,
    option_fields,
)
from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import judge_decoding, judge_prompts, needs_judging
from medhelm_spark.annotators.kinds import version_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import EVALUATION_KEY, Completion, Decoding, Prompt, Purpose
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import Message, Reference
from medhelm_spark.domain.stages import INGEST, PLAN, PLAN_JUDGES
from medhelm_spark.lake.rows import Frame, map_rows, sorted_rows
from medhelm_spark.policy.levels import strictest_sql
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.stages.states import few_asked, read_answers, requests_of

# One row per answer and annotator; `subject_id` names the answer together with its instance, since
# two instances may share a request but not a gold answer.
SUBJECTS = f"""
SELECT {", ".join(f"q.{name}" for name in EVALUATION_KEY)}, q.request_id AS judged_request_id,
       a.annotator, a.render_id, a.data_version,
       md5(concat(q.instance_id, '|', q.perturbation, '|', q.request_id)) AS subject_id
FROM {{answered}} q JOIN {{annotators}} a ON a.run_spec_id = q.run_spec_id
"""

JUDGED = "SELECT judged_request_id AS request_id FROM {subjects}"

TASKS = f"""
SELECT s.subject_id, s.render_id, i.input AS question, i.messages, i.references, i.extra_data,
       r.completions, {strictest_sql("i.access_level", "r.access_level")} AS access_level
FROM (SELECT subject_id, render_id, first(data_version) AS data_version,
             first(instance_id) AS instance_id, first(perturbation) AS perturbation,
             first(judged_request_id) AS judged_request_id
      FROM {{subjects}} GROUP BY subject_id, render_id) s
JOIN {{instances_now}} i
  ON i.data_version = s.data_version AND i.instance_id = s.instance_id
 AND i.perturbation = s.perturbation
JOIN {{results}} r ON r.request_id = s.judged_request_id
LEFT ANTI JOIN {{known}} k ON k.render_id = s.render_id AND k.subject_id = s.subject_id
"""

PLANNED = f"""
SELECT {", ".join(f"s.{name}" for name in EVALUATION_KEY)},
       s.judged_request_id, s.annotator, c.judge, k.rubric_item,
       {REQUEST_ID_SQL} AS request_id, k.prompt_id, c.model_deployment,
       c.decoding, k.access_level, {ESTIMATED_TOKENS_SQL} AS estimated_tokens,
       '{Purpose.JUDGE.value}' AS purpose
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
JOIN (SELECT DISTINCT render_id, subject_id, rubric_item, prompt_id, num_characters, access_level
      FROM {{known}}) k
  ON k.render_id = s.render_id AND k.subject_id = s.subject_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswers:
    """The answers that a RunSpec's juries read: the id of juries and answers, and their number.

    `unanswered` of the requests have no answer: they failed, or were not sent.
    """

    fingerprint: str
    requests: int
    unanswered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One judge of one annotator of one RunSpec, and how it is asked."""

    run_spec_id: str
    data_version: str
    annotator: str
    render_id: str
    judge: str
    call_id: str
    model_deployment: str
    decoding: Decoding


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask:
    """An answer that judges read."""

    subject_id: str
    render_id: str
    question: str
    messages: tuple[Message, ...]
    references: tuple[Reference, ...]
    extra_data: Mapping[str, str]
    completions: tuple[Completion, ...] | None
    access_level: AccessLevel


@dataclass(frozen=True, slots=True)
class AskJudges:
    """Answers in, judge prompts out, one per answer or per rubric item of its instance.

    `specs` by render_id say how answers are read; RunSpecs that read in the same way share one.
    """

    rubrics: Mapping[str, Rubric]
    specs: Mapping[str, RunSpec]

    def __call__(self, tasks: Iterable[JudgeTask]) -> Iterator[Prompt]:
        for stored in tasks:
            spec, rubric = self.specs[stored.render_id], self.rubrics[stored.render_id]
            read = read_answers(stored.completions, spec, stored.references, stored.question)
            task = replace(stored, completions=read.completions)
            if task.completions and needs_judging(rubric, task.completions) is None:
                yield from judge_prompts(
                    rubric,
                    JudgeInput(
                        question=task.question,
                        messages=task.messages,
                        response=task.completions[0].text,
                        gold=task.references[0].text if task.references else "",
                        extra_data=task.extra_data,
                        access_level=task.access_level,
                    ),
                    judged_request_id=task.subject_id,
                    render_id=task.render_id,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The annotators of each RunSpec (by run_spec_id), and what infer needs to ask their judges."""

    annotators: Mapping[str, tuple[ResolvedAnnotator, ...]]
    policy: Policy
    retry_failed: bool = False

    @property
    def deployments(self) -> dict[str, Deployment]:
        return {
            deployment.name: deployment
            for annotators in self.annotators.values()
            for annotator in annotators
            for deployment in annotator.deployments
        }


def _render_id(annotator: ResolvedAnnotator, spec: RunSpec) -> str:
    how = spec.answer_extraction
    reading = (how.identity, option_fields(spec.adapter_spec)) if how else None
    return content_id(
        "judge", PLAN_JUDGES.version, EXTRACTION_VERSION, version_of(annotator.rubric), reading
    )


def judge_calls(judging: Judging, specs: Iterable[RunSpec]) -> list[JudgeCall]:
    """One call per RunSpec, annotator and judge."""
    return [
        JudgeCall(
            run_spec_id=spec.run_spec_id,
            data_version=spec.data_version,
            annotator=annotator.spec.name,
            render_id=_render_id(annotator, spec),
            judge=judge.name,
            call_id=call_id(deployment, judge_decoding(annotator.rubric)),
            model_deployment=deployment.name,
            decoding=judge_decoding(annotator.rubric),
        )
        for spec in specs
        for annotator in judging.annotators[spec.run_spec_id]
        for judge, deployment in zip(annotator.jury.judges, annotator.deployments, strict=True)
    ]


def subjects_of(ctx: Context, calls: Sequence[JudgeCall]) -> Frame:
    """The answers that these calls judge, once per annotator."""
    annotators = {
        (call.run_spec_id, call.annotator, call.render_id): call for call in calls
    }.values()
    units = sorted({call.run_spec_id for call in calls})
    answered = requests_of(ctx, units, PLAN, Purpose.EVALUATE)
    return ctx.lake.query(
        SUBJECTS, answered=answered, annotators=ctx.lake.frame(annotators, JudgeCall)
    )


def ask_judges(judging: Judging, specs: Iterable[RunSpec]) -> AskJudges:
    """Renders the prompts to the judges of these RunSpecs."""
    judged = [
        (_render_id(annotator, spec), annotator.rubric, spec)
        for spec in specs
        for annotator in judging.annotators[spec.run_spec_id]
    ]
    return AskJudges(
        {render_id: rubric for render_id, rubric, _ in judged},
        {render_id: spec for render_id, _, spec in judged},
    )


def plan_judges(
    ctx: Context,
    judging: Judging,
    specs: Mapping[str, RunSpec],
    answers: Mapping[str, JudgedAnswers],
) -> None:
    """Render and plan judge requests for the RunSpecs whose answers, rubric or jury changed.

    Args:
        ctx: the lake and suite.
        judging: the annotators.
        specs: RunSpecs by id.
        answers: the judged answers, by run_spec_id.
    """

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        todo = [specs[unit] for unit in units]
        _write(ctx, judging, todo, write_id, most_questions(judging, todo, answers))

    fingerprints = {unit: judged.fingerprint for unit, judged in answers.items()}
    run_stage(ctx, PLAN_JUDGES, fingerprints, write)


def most_questions(
    judging: Judging, specs: Iterable[RunSpec], answers: Mapping[str, JudgedAnswers]
) -> int | None:
    """How many requests the judges get at most; None if instances have their own rubrics."""
    calls = [
        (answers[spec.run_spec_id].requests, annotator)
        for spec in specs
        for annotator in judging.annotators[spec.run_spec_id]
    ]
    if any(annotator.rubric.is_per_item for _, annotator in calls):
        return None
    return sum(requests * len(annotator.jury.judges) for requests, annotator in calls)


def _write(
    ctx: Context, judging: Judging, specs: Sequence[RunSpec], write_id: str, size: int | None
) -> None:
    calls = judge_calls(judging, specs)
    subjects = subjects_of(ctx, calls)
    asking = ask_judges(judging, specs)
    units = [spec.run_spec_id for spec in specs]
    few = few_asked(ctx, units, PLAN, Purpose.EVALUATE)
    tasks = ctx.lake.query(
        TASKS,
        subjects=subjects,
        known=ctx.prompts(asking.rubrics),
        instances_now=ctx.current(
            "instances", INGEST, {spec.data_version for spec in specs}, "data_version"
        ),
        results=ctx.results(
            {spec.model_deployment for spec in specs},
            ctx.lake.query(JUDGED, subjects=subjects),
            few.request_ids if few else None,
        ),
    )
    prompts = map_rows(tasks, asking, JudgeTask, Prompt)
    ctx.lake.append("prompts", prompts, write_id, at_most=size)
    planned = ctx.lake.query(
        PLANNED,
        subjects=subjects,
        calls=ctx.lake.frame(calls, JudgeCall),
        known=ctx.prompts(asking.rubrics),
    )
    ordered = sorted_rows(planned, "run_spec_id")
    ctx.lake.append("requests", ordered, write_id, at_most=size)
