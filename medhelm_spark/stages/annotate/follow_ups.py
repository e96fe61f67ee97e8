"""Judges' requests about one answer: the same requests that the stage plans."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.decoding import estimated_tokens, request_id
from medhelm_spark.annotators.jury import judge_decoding
from medhelm_spark.domain.access import strictest
from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.request import RequestResult
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.rows import Frame
from medhelm_spark.stages.annotate.judges import (
    AskJudges,
    JudgeCall,
    JudgeTask,
    Judging,
    ask_judges,
    judge_calls,
    subjects_of,
)
from medhelm_spark.stages.annotate.stage import judges_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.follow_ups import FollowUps
from medhelm_spark.stages.infer.order import OrderedRequest

JUDGED_INSTANCES = """
SELECT DISTINCT s.judged_request_id, s.run_spec_id, s.annotator, s.subject_id, s.data_version,
       s.instance_id, s.perturbation
FROM {subjects} s
"""

WITH_TEXT = """
SELECT s.judged_request_id AS request_id, s.run_spec_id, s.annotator, s.subject_id,
       i.input AS question, i.messages, i.references, i.extra_data, i.access_level
FROM {judged} s JOIN {instances_now} i
  ON i.data_version = s.data_version AND i.instance_id = s.instance_id
 AND i.perturbation = s.perturbation
"""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The requests to the judges about an answer (`infer.follow_ups.FollowAnswer`)."""

    asking: AskJudges
    calls: Mapping[tuple[str, str], Sequence[JudgeCall]]
    """By run_spec_id and annotator."""

    def __call__(
        self, result: RequestResult, judged: Sequence[JudgedInstance]
    ) -> Iterator[OrderedRequest]:
        for instance in judged:
            calls = self.calls.get((instance.run_spec_id, instance.annotator), ())
            if not calls:
                continue
            task = JudgeTask(
                subject_id=instance.subject_id,
                render_id=calls[0].render_id,
                question=instance.question,
                messages=instance.messages,
                references=instance.references,
                extra_data=instance.extra_data,
                completions=result.completions,
                access_level=strictest((instance.access_level, result.access_level)),
            )
            for prompt in self.asking([task]):
                for call in calls:
                    yield OrderedRequest(
                        request_id=request_id(prompt.prompt_id, call.call_id),
                        model_deployment=call.model_deployment,
                        messages=prompt.messages,
                        text=prompt.text,
                        decoding=call.decoding,
                        access_level=prompt.access_level,
                        estimated_tokens=estimated_tokens(prompt.num_characters, call.decoding),
                        tries=0,
                        together=result.request_id,
                    )


def follow_ups(specs: Sequence[RunSpec], judging: Judging) -> FollowUps | None:
    """The judges' requests that the answers of these RunSpecs bring; None if none are judged."""
    judged = [spec for spec in specs if judging.annotators.get(spec.run_spec_id)]
    judges = {each.name: each for each in judges_of(judging).to_infer}
    if not judged or not judges:
        return None
    calls: dict[tuple[str, str], list[JudgeCall]] = {}
    for call in judge_calls(judging, judged):
        if call.model_deployment in judges:
            calls.setdefault((call.run_spec_id, call.annotator), []).append(call)

    tokens = {
        each.name: max(
            estimated_tokens(len(annotator.rubric.template), judge_decoding(annotator.rubric))
            for spec in judged
            for annotator in judging.annotators[spec.run_spec_id]
            if each in annotator.deployments
        )
        for each in judges.values()
    }

    def rows(ctx: Context) -> Frame:
        every = [call for group in calls.values() for call in group]
        versions = {spec.data_version for spec in judged}
        return ctx.lake.query(
            WITH_TEXT,
            judged=ctx.lake.query(JUDGED_INSTANCES, subjects=subjects_of(ctx, every)),
            instances_now=ctx.current("instances", INGEST, versions, "data_version"),
        )

    return FollowUps(
        deployments=judges,
        judged=rows,
        requests=JudgeAnswer(ask_judges(judging, judged), calls),
        tokens=tokens,
    )
