"""Judge requests: which stored answers go before which judges, rendered and linked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.adaptation.decoding import REQUEST_ID_SQL, call_id
from medhelm_spark.annotators.jury import judge_decoding, judge_prompt, needs_judging
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import Completion, Decoding, Prompt, Purpose
from medhelm_spark.domain.scenario import AccessLevel, Reference
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.requests import ESTIMATED_TOKENS, append_requests
from medhelm_spark.stages.states import EVALUATION_KEY, links_of

STAGE = "plan_judges"
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
SELECT {", ".join(f"s.{name}" for name in EVALUATION_KEY)},
       s.judged_request_id, s.annotator, c.judge,
       {REQUEST_ID_SQL} AS request_id, k.prompt_id, c.model_deployment,
       c.decoding, k.access_level, {ESTIMATED_TOKENS} AS estimated_tokens,
       '{Purpose.JUDGE.value}' AS purpose
FROM {{subjects}} s JOIN {{calls}} c
  ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
JOIN (SELECT DISTINCT render_id, subject_id, prompt_id, num_characters, access_level
      FROM {{prompts}}) k
  ON k.render_id = s.render_id AND k.subject_id = s.subject_id
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


def _render_id(annotator: ResolvedAnnotator) -> str:
    return content_id("judge", VERSION, annotator.rubric.version)


def judge_calls(judging: Judging, units: Sequence[str]) -> list[JudgeCall]:
    """One call per RunSpec, annotator and judge."""
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


def subjects_of(ctx: Context, units: Sequence[str], calls: Sequence[JudgeCall]) -> DataFrame:
    """The answers of these RunSpecs, once per annotator that has them judged."""
    frame = ctx.lake.frame(calls, JudgeCall).select("run_spec_id", "annotator", "render_id")
    links = links_of(ctx, units, "plan", Purpose.EVALUATE)
    return ctx.lake.query(SUBJECTS, links=links, annotators=F.broadcast(frame.distinct()))


def outdated(ctx: Context, stage: str, prints: Mapping[str, str]) -> list[str]:
    """The units whose last finished fingerprint is not the present one."""
    done = ctx.finished(stage, list(prints))
    return [
        unit
        for unit, value in prints.items()
        if unit not in done or done[unit].fingerprint != value
    ]


def plan_judges(
    ctx: Context, judging: Judging, prints: Mapping[str, str], calls: Sequence[JudgeCall]
) -> None:
    """Render and link judge requests for the RunSpecs whose answers, rubric or jury changed."""
    started_at, write_id = now(), new_write_id()
    todo = outdated(ctx, STAGE, prints)
    if not todo:
        return
    mine = [call for call in calls if call.run_spec_id in set(todo)]
    subjects = subjects_of(ctx, todo, mine)
    renders = sorted({call.render_id for call in mine})
    rubrics = {_render_id(a): a.rubric for unit in todo for a in judging.annotators[unit]}
    known = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    tasks = ctx.lake.query(TASKS, subjects=subjects, prompts=known)
    ctx.lake.append("prompts", map_rows(tasks, AskJudges(rubrics), JudgeTask, Prompt), write_id)
    known = ctx.lake.read("prompts").where(F.col("render_id").isin(renders))
    frame = F.broadcast(ctx.lake.frame(mine, JudgeCall))
    linked = ctx.lake.query(LINKED, subjects=subjects, calls=frame, prompts=known)
    append_requests(ctx.lake, linked, write_id)
    ctx.record(STAGE, {unit: prints[unit] for unit in todo}, write_id, started_at)
