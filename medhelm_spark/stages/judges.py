"""Judge requests: which stored answers go before which judges, rendered and linked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.adaptation.decoding import (
    ESTIMATED_TOKENS_SQL,
    REQUEST_ID_SQL,
    call_id,
    option_fields,
)
from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.annotators.jury import judge_decoding, judge_prompts, needs_judging
from medhelm_spark.annotators.kinds import Shown, version_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import Completion, Decoding, Prompt, Purpose
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import Message, Reference
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.states import EVALUATION_KEY, hear, requests_of

STAGE = "plan_judges"
VERSION = "2"

# One row per answer and annotator; `subject_id` names the answer together with its instance, since
# two instances may share a request but not a gold answer.
SUBJECTS = f"""
SELECT {", ".join(f"q.{name}" for name in EVALUATION_KEY)}, q.request_id AS judged_request_id,
       a.annotator, a.render_id, a.data_version,
       md5(concat(q.instance_id, '|', q.perturbation, '|', q.request_id)) AS subject_id
FROM {{answered}} q JOIN {{annotators}} a ON a.run_spec_id = q.run_spec_id
"""

TASKS = """
SELECT s.subject_id, s.render_id, i.input AS question, i.messages, i.references, i.extra_data,
       r.completions, i.access_level
FROM (SELECT subject_id, render_id, first(data_version) AS data_version,
             first(instance_id) AS instance_id, first(perturbation) AS perturbation,
             first(judged_request_id) AS judged_request_id
      FROM {subjects} GROUP BY subject_id, render_id) s
JOIN {instances_now} i
  ON i.data_version = s.data_version AND i.instance_id = s.instance_id
 AND i.perturbation = s.perturbation
JOIN {results} r ON r.request_id = s.judged_request_id
LEFT ANTI JOIN {known} k ON k.render_id = s.render_id AND k.subject_id = s.subject_id
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
    """An answer to put before the judges."""

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

    `specs` say by render_id how answers are read; RunSpecs that read alike share one.
    """

    rubrics: Mapping[str, Rubric]
    specs: Mapping[str, RunSpec]

    def __call__(self, tasks: Iterable[JudgeTask]) -> Iterator[Prompt]:
        for stored in tasks:
            spec, rubric = self.specs[stored.render_id], self.rubrics[stored.render_id]
            heard = hear(stored.completions, spec, stored.references, stored.question)
            task = replace(stored, completions=heard.completions)
            if task.completions and needs_judging(rubric, task.completions) is None:
                yield from judge_prompts(
                    rubric,
                    Shown(
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
    reading = (how, option_fields(spec.adapter_spec)) if how else None
    return content_id("judge", VERSION, EXTRACTION_VERSION, version_of(annotator.rubric), reading)


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


def subjects_of(ctx: Context, calls: Sequence[JudgeCall]) -> DataFrame:
    """The answers that these calls judge, once per annotator."""
    names = ("run_spec_id", "data_version", "annotator", "render_id")
    frame = ctx.lake.frame(calls, JudgeCall).select(*names).distinct()
    units = sorted({call.run_spec_id for call in calls})
    answered = requests_of(ctx, units, "plan", Purpose.EVALUATE)
    return ctx.lake.query(SUBJECTS, answered=answered, annotators=F.broadcast(frame))


def outdated(ctx: Context, stage: str, prints: Mapping[str, str]) -> list[str]:
    """The units whose last finished fingerprint is not the present one."""
    done = ctx.finished(stage, list(prints))
    return [
        unit
        for unit, value in prints.items()
        if unit not in done or done[unit].fingerprint != value
    ]


def _asking(judging: Judging, specs: Iterable[RunSpec]) -> AskJudges:
    found = [
        (_render_id(annotator, spec), annotator.rubric, spec)
        for spec in specs
        for annotator in judging.annotators[spec.run_spec_id]
    ]
    return AskJudges({key: one for key, one, _ in found}, {key: spec for key, _, spec in found})


def plan_judges(
    ctx: Context,
    judging: Judging,
    specs: Mapping[str, RunSpec],
    prints: Mapping[str, str],
) -> None:
    """Render and plan judge requests for the RunSpecs whose answers, rubric or jury changed.

    Args:
        ctx: the lake and suite.
        judging: the annotators.
        specs: RunSpecs by id.
        prints: the fingerprint of what each is to be judged on, by id.
    """
    started_at, write_id = now(), new_write_id()
    todo = outdated(ctx, STAGE, prints)
    if not todo:
        return
    mine = [specs[unit] for unit in todo]
    calls = judge_calls(judging, mine)
    subjects = subjects_of(ctx, calls)
    asking = _asking(judging, mine)
    tasks = ctx.lake.query(
        TASKS,
        subjects=subjects,
        known=ctx.prompts(asking.rubrics),
        instances_now=ctx.current(
            "instances", "ingest", {spec.data_version for spec in mine}, "data_version"
        ),
        results=ctx.results({spec.model_deployment for spec in mine}),
    )
    ctx.lake.append("prompts", map_rows(tasks, asking, JudgeTask, Prompt), write_id)
    planned = ctx.lake.query(
        PLANNED,
        subjects=subjects,
        calls=F.broadcast(ctx.lake.frame(calls, JudgeCall)),
        known=ctx.prompts(asking.rubrics),
    )
    ctx.lake.append("requests", planned.sortWithinPartitions("run_spec_id"), write_id)
    ctx.record(STAGE, {unit: prints[unit] for unit in todo}, write_id, started_at)
