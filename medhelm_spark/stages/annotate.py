"""annotate: stored answers -> judge requests -> annotations, through infer's own path.

A new judge or rubric reads stored answers again and never asks the evaluated model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.adaptation.decoding import call_id
from medhelm_spark.annotators.jury import (
    annotation_for,
    judge_decoding,
    judge_prompt,
    needs_judging,
)
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import (
    Annotation,
    Completion,
    Decoding,
    FailureKind,
    Prompt,
    Purpose,
    RequestLink,
)
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import AccessLevel, Reference
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer import Asking, infer
from medhelm_spark.stages.requests import ESTIMATED_TOKENS, append_requests
from medhelm_spark.stages.states import EVALUATION_KEY, inputs_of, links_of

STAGE = "annotate"
PLAN = "plan_judges"
VERSION = "1"

# One row per answer and annotator; `subject_id` names the answer together with its instance, since
# two instances may share a request but not a gold answer.
SUBJECTS = f"""
SELECT {", ".join(f"l.{name}" for name in EVALUATION_KEY)}, l.request_id AS judged_request_id,
       a.annotator, a.render_id, md5(concat(l.instance_id, '|', l.perturbation, '|', l.request_id))
       AS subject_id
FROM {{links}} l JOIN {{annotators}} a ON a.run_spec_id = l.run_spec_id
"""

TASKS = f"""
SELECT s.subject_id, s.render_id, i.input AS question, i.references, r.completions, i.access_level
FROM (SELECT first(run_spec_id) AS run_spec_id, subject_id, render_id,
             first(instance_id) AS instance_id, first(perturbation) AS perturbation,
             first(judged_request_id) AS judged_request_id
      FROM {{subjects}} GROUP BY subject_id, render_id) s
JOIN (SELECT DISTINCT run_spec_id, run_spec.data_version AS data_version FROM {{run_specs}}) v
  ON v.run_spec_id = s.run_spec_id
JOIN ({output_of("instances", "ingest", "data_version")}) i
  ON i.data_version = v.data_version AND i.instance_id = s.instance_id
 AND i.perturbation = s.perturbation
JOIN ({CURRENT_RESULTS}) r ON r.request_id = s.judged_request_id
LEFT ANTI JOIN {{prompts}} k ON k.render_id = s.render_id AND k.subject_id = s.subject_id
"""

LINKED = f"""
SELECT {", ".join(f"s.{name}" for name in EVALUATION_KEY)}, s.judged_request_id, s.annotator, c.judge,
       md5(concat(k.prompt_id, '|', c.call_id)) AS request_id, k.prompt_id, c.model_deployment,
       c.decoding, k.access_level, {ESTIMATED_TOKENS} AS estimated_tokens,
       '{Purpose.JUDGE.value}' AS purpose
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
JOIN (SELECT DISTINCT render_id, subject_id, prompt_id, num_characters, access_level
      FROM {{prompts}}) k
  ON k.render_id = s.render_id AND k.subject_id = s.subject_id
"""

VERDICTS = f"""
SELECT struct({", ".join(f"s.{name}" for name in EVALUATION_KEY)}, '{Purpose.JUDGE.value}' AS purpose,
              coalesce(l.request_id, '') AS request_id, s.annotator, c.judge, s.judged_request_id)
       AS link,
       a.access_level, a.completions AS answer, r.completions, r.failure
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
LEFT JOIN {{judge_links}} l
  ON {" AND ".join(f"l.{name} = s.{name}" for name in EVALUATION_KEY)}
 AND l.annotator = s.annotator AND l.judge = c.judge
LEFT JOIN {{results}} r ON r.request_id = l.request_id
LEFT JOIN {{results}} a ON a.request_id = s.judged_request_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One judge of one annotator of one RunSpec, and how it is asked."""

    run_spec_id: str
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
    references: tuple[Reference, ...]
    completions: tuple[Completion, ...] | None
    access_level: AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTask:
    """A judge's reply, or why there is none."""

    link: RequestLink
    access_level: AccessLevel | None
    answer: tuple[Completion, ...] | None
    completions: tuple[Completion, ...] | None
    failure: FailureKind | None


@dataclass(frozen=True, slots=True)
class AskJudges:
    """Answers in, judge prompts out; an empty answer is not put before a judge."""

    rubrics: Mapping[str, Rubric]

    def __call__(self, tasks: Iterable[JudgeTask]) -> Iterator[Prompt]:
        for task in tasks:
            if needs_judging(task.completions) is None and task.completions:
                yield judge_prompt(
                    self.rubrics[task.render_id],
                    question=task.question,
                    response=task.completions[0].text,
                    gold=task.references[0].text if task.references else "",
                    access_level=task.access_level,
                    judged_request_id=task.subject_id,
                    render_id=task.render_id,
                )


@dataclass(frozen=True, slots=True)
class ReadVerdicts:
    """Judge replies in, annotations out. `levels` are the RunSpecs' access levels."""

    rubrics: Mapping[tuple[str, str], Rubric]
    levels: Mapping[str, str]

    def __call__(self, tasks: Iterable[VerdictTask]) -> Iterator[Annotation]:
        for task in tasks:
            link = task.link
            yield annotation_for(
                link,
                self.rubrics[link.run_spec_id, link.annotator],
                access_level=task.access_level or AccessLevel(self.levels[link.run_spec_id]),
                completions=task.completions,
                failure=task.failure,
                skipped=needs_judging(task.answer),
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


def annotate(ctx: Context, specs: Sequence[RunSpec], judging: Judging) -> int:
    """Judge every answer that has no verdict yet; returns how many judge requests were sent."""
    units = sorted({spec.run_spec_id for spec in specs if judging.annotators.get(spec.run_spec_id)})
    if not units:
        return 0
    inputs = inputs_of(ctx, units, "plan", Purpose.EVALUATE)
    prints = {unit: _fingerprint(judging.annotators[unit], inputs[unit].fingerprint) for unit in units}
    calls = _calls(judging, units)
    _plan_judges(ctx, judging, prints, calls)
    asked = infer(
        ctx,
        units,
        Asking(
            deployments=judging.deployments,
            policy=judging.policy,
            purpose=Purpose.JUDGE,
            stage=PLAN,
            retry_failed=judging.retry_failed,
        ),
    )
    _read_verdicts(ctx, specs, judging, prints, calls)
    return asked


def _fingerprint(annotators: Sequence[ResolvedAnnotator], answers: str) -> str:
    juries = [
        (a.spec.name, a.rubric.version, a.jury.name, [d.identity for d in a.deployments])
        for a in annotators
    ]
    return content_id(STAGE, VERSION, juries, answers)


def _render_id(annotator: ResolvedAnnotator) -> str:
    return content_id("judge", VERSION, annotator.rubric.version)


def _calls(judging: Judging, units: Sequence[str]) -> list[JudgeCall]:
    return [
        JudgeCall(
            run_spec_id=unit,
            annotator=annotator.spec.name,
            render_id=_render_id(annotator),
            judge=judge.name,
            call_id=call_id(deployment, judge_decoding(annotator.rubric)),
            model_deployment=deployment.name,
            decoding=judge_decoding(annotator.rubric),
        )
        for unit in units
        for annotator in judging.annotators[unit]
        for judge, deployment in zip(annotator.jury.judges, annotator.deployments, strict=True)
    ]


def _subjects(ctx: Context, units: Sequence[str], calls: Sequence[JudgeCall]) -> DataFrame:
    frame = ctx.lake.frame(calls, JudgeCall).select("run_spec_id", "annotator", "render_id")
    links = links_of(ctx, units, "plan", Purpose.EVALUATE)
    return ctx.lake.query(SUBJECTS, links=links, annotators=F.broadcast(frame.distinct()))


def _todo(ctx: Context, stage: str, prints: Mapping[str, str]) -> list[str]:
    done = ctx.finished(stage, list(prints))
    return [unit for unit, value in prints.items() if unit not in done or done[unit].fingerprint != value]


def _plan_judges(
    ctx: Context, judging: Judging, prints: Mapping[str, str], calls: Sequence[JudgeCall]
) -> None:
    started_at, write_id = now(), new_write_id()
    todo = _todo(ctx, PLAN, prints)
    if not todo:
        return
    mine = [call for call in calls if call.run_spec_id in set(todo)]
    subjects = _subjects(ctx, todo, mine)
    renders = sorted({call.render_id for call in mine})
    rubrics = {_render_id(a): a.rubric for unit in todo for a in judging.annotators[unit]}
    known = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    tasks = ctx.lake.query(TASKS, subjects=subjects, prompts=known)
    ctx.lake.append("prompts", map_rows(tasks, AskJudges(rubrics), JudgeTask, Prompt), write_id)
    known = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    frame = F.broadcast(ctx.lake.frame(mine, JudgeCall))
    linked = ctx.lake.query(LINKED, subjects=subjects, calls=frame, prompts=known)
    append_requests(ctx.lake, linked, write_id)
    ctx.record(PLAN, {unit: prints[unit] for unit in todo}, write_id, started_at)


def _read_verdicts(
    ctx: Context,
    specs: Sequence[RunSpec],
    judging: Judging,
    answered: Mapping[str, str],
    calls: Sequence[JudgeCall],
) -> None:
    started_at, write_id = now(), new_write_id()
    replies = inputs_of(ctx, list(answered), PLAN, Purpose.JUDGE)
    prints = {
        unit: content_id(value, replies[unit].fingerprint if unit in replies else "")
        for unit, value in answered.items()
    }
    todo = _todo(ctx, STAGE, prints)
    if todo:
        mine = [call for call in calls if call.run_spec_id in set(todo)]
        tasks = ctx.lake.query(
            VERDICTS,
            subjects=_subjects(ctx, todo, mine),
            calls=F.broadcast(ctx.lake.frame(mine, JudgeCall)),
            judge_links=links_of(ctx, todo, PLAN, Purpose.JUDGE),
            results=ctx.lake.query(CURRENT_RESULTS),
        )
        rubrics = {(u, a.spec.name): a.rubric for u in todo for a in judging.annotators[u]}
        levels = {spec.run_spec_id: spec.access_level for spec in specs}
        made = map_rows(tasks, ReadVerdicts(rubrics, levels), VerdictTask, Annotation)
        ctx.lake.append("annotations", made, write_id)
        counts = {unit: replies[unit].counts for unit in todo if unit in replies}
        ctx.record(STAGE, {unit: prints[unit] for unit in todo}, write_id, started_at, counts)
    ctx.say(f"{STAGE}: {len(todo)} of {len(prints)} run specs judged anew")
