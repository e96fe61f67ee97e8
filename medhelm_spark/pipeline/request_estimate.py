"""The cost of the remaining requests of a plan, counted from its prompts without a request.

Every number is an upper bound: it assumes that a model uses all of its `max_tokens`, and that a
judge reads an answer of that length. Settled requests cost nothing and are not counted, unless
other judges, another rubric or further answers may have them planned again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from medhelm_spark.adaptation.decoding import estimate_text_tokens
from medhelm_spark.domain.annotation import RUBRIC_ITEMS, rubric_items
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST, PLAN_JUDGES
from medhelm_spark.engines.tokens import token_counter
from medhelm_spark.lake.rows import Frame, map_rows, rows_of, united
from medhelm_spark.stages.annotate.judges import (
    JudgeCall,
    JudgedAnswers,
    Judging,
    judge_calls,
    subjects_of,
)
from medhelm_spark.stages.annotate.stage import judged_answers, judges_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.pending import InferenceTargets, pending_of, tallies_of
from medhelm_spark.stages.run_stage import outdated

TO_ASK = """
SELECT q.model_deployment, concat_ws(' ', k.text, transform(k.messages, m -> m.content)) AS text,
       CAST(NULL AS STRING) AS items, 0 AS answer_tokens,
       q.decoding.max_tokens * q.decoding.num_completions AS output_tokens
FROM {pending} q
JOIN (SELECT DISTINCT prompt_id, text, messages FROM {prompts}) k ON k.prompt_id = q.prompt_id
"""

# There is no answer yet: the maximum length is counted.
TO_JUDGE = f"""
SELECT c.model_deployment,
       concat_ws(' ', c.template, i.input, transform(i.messages, m -> m.content),
                 get(i.references, 0).text) AS text,
       CASE WHEN c.is_per_item THEN coalesce(i.extra_data['{RUBRIC_ITEMS}'], '[]') END AS items,
       c.answer_tokens, c.decoding.max_tokens * c.decoding.num_completions AS output_tokens
FROM {{subjects}} s JOIN {{calls}} c ON c.run_spec_id = s.run_spec_id AND c.annotator = s.annotator
JOIN {{instances_now}} i ON i.data_version = s.data_version AND i.instance_id = s.instance_id
 AND i.perturbation = s.perturbation
"""

SUMS = """
SELECT model_deployment, count(*) AS requests,
       CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
       CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
       max(prompt_tokens + output_tokens) AS longest_request
FROM {counted} GROUP BY model_deployment
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToCount:
    """A request to be sent; `answer_tokens` is the length of an answer that does not exist yet.

    `items` are an instance's rubric items as it stores them, if a judge is asked about each.
    """

    model_deployment: str
    text: str
    items: str | None
    answer_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A request in tokens."""

    model_deployment: str
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The requests to a deployment and their tokens; `output_tokens` is a maximum.

    `longest_request` is the largest sum of a prompt's and its answers' tokens.
    """

    model_deployment: str
    requests: int
    prompt_tokens: int
    output_tokens: int
    longest_request: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCost(JudgeCall):
    """A judge's call with the parts of its prompt that are known before the answer."""

    template: str
    answer_tokens: int
    is_per_item: bool


@dataclass(frozen=True, slots=True)
class CountTokens:
    """Texts in, tokens out, each by its deployment's own tokenizer if there is one."""

    deployments: Mapping[str, Deployment]

    def __call__(self, rows: Iterable[ToCount]) -> Iterator[Counted]:
        counters: dict[str, Callable[[str], int]] = {}
        for row in rows:
            name = row.model_deployment
            if name not in counters:
                counters[name] = token_counter(self.deployments[name]) or estimate_text_tokens
            for text in _texts(row):
                yield Counted(
                    model_deployment=name,
                    prompt_tokens=counters[name](text) + row.answer_tokens,
                    output_tokens=row.output_tokens,
                )


def _texts(row: ToCount) -> list[str]:
    if row.items is None:
        return [row.text]
    return [f"{row.text} {item.criterion}" for item in rubric_items({RUBRIC_ITEMS: row.items})]


def costs(
    ctx: Context, specs: Sequence[RunSpec], recipients: InferenceTargets, judging: Judging
) -> dict[str, Cost]:
    """The cost of the remaining requests of these planned RunSpecs, by deployment."""
    deployments = {**recipients.deployments, **judging.deployments}
    frames = [*_to_ask(ctx, specs, recipients), *_to_judge(ctx, specs, recipients, judging)]
    if not frames:
        return {}
    counted = map_rows(united(frames), CountTokens(deployments), ToCount, Counted)
    sums = rows_of(ctx.lake.query(SUMS, counted=counted), Cost)
    return {row.model_deployment: row for row in sorted(sums, key=attrgetter("model_deployment"))}


def _to_ask(
    ctx: Context, specs: Sequence[RunSpec], recipients: InferenceTargets
) -> Iterator[Frame]:
    to_infer = recipients.to_infer
    if to_infer:
        left = pending_of(ctx, [spec.run_spec_id for spec in specs], recipients, to_infer)
        yield ctx.lake.query(TO_ASK, pending=left)


def _to_judge(
    ctx: Context, specs: Sequence[RunSpec], recipients: InferenceTargets, judging: Judging
) -> Iterator[Frame]:
    """The requests to judges: those that are planned and not settled, and all that may be planned.

    They are planned again where the judges, their rubric or the answers have changed.
    """
    judged = {spec.run_spec_id: spec for spec in specs if judging.annotators.get(spec.run_spec_id)}
    if not judged:
        return
    answers = judged_answers(ctx, judged, judging)
    fingerprints = {unit: each.fingerprint for unit, each in answers.items()}
    unplanned = {*outdated(ctx, PLAN_JUDGES, fingerprints)}
    unplanned |= _with_open_requests(ctx, judged, recipients, answers)
    planned = [spec for unit, spec in judged.items() if unit not in unplanned]
    if planned:
        yield from _to_ask(ctx, planned, judges_of(judging))
    todo = [spec for unit, spec in judged.items() if unit in unplanned]
    if not todo:
        return
    versions = {spec.data_version for spec in todo}
    yield ctx.lake.query(
        TO_JUDGE,
        subjects=subjects_of(ctx, judge_calls(judging, todo)),
        calls=ctx.lake.frame(_judge_costs(judging, todo), JudgeCost),
        instances_now=ctx.current("instances", INGEST, versions, "data_version"),
    )


def _with_open_requests(
    ctx: Context,
    specs: Mapping[str, RunSpec],
    recipients: InferenceTargets,
    answers: Mapping[str, JudgedAnswers],
) -> set[str]:
    """The RunSpecs whose model may give further answers, which judges read then."""
    lacking = [unit for unit in specs if answers[unit].unanswered]
    may_ask = {
        name
        for name, tally in tallies_of(ctx, lacking, recipients).items()
        if tally.is_open(retry_failed=recipients.retry_failed)
    }
    return {unit for unit in lacking if specs[unit].model_deployment in may_ask}


def _judge_costs(judging: Judging, specs: Iterable[RunSpec]) -> Iterator[JudgeCost]:
    for spec in specs:
        annotators = judging.annotators[spec.run_spec_id]
        rubrics = {annotator.spec.name: annotator.rubric for annotator in annotators}
        for call in judge_calls(judging, [spec]):
            yield JudgeCost(
                **{field.name: getattr(call, field.name) for field in fields(call)},
                template=rubrics[call.annotator].template,
                answer_tokens=spec.adapter_spec.max_tokens,
                is_per_item=rubrics[call.annotator].is_per_item,
            )
