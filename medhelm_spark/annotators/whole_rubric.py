"""The kind `jury`: each judge is asked once about an answer, for all criteria of the rubric."""

from collections.abc import Iterable

from medhelm_spark.annotators.annotator import Annotator, JudgeInput, Question, filled
from medhelm_spark.annotators.verdict import parse_verdict, verdict_schema
from medhelm_spark.domain.annotation import JURY, Rubric


def _ask(rubric: Rubric, judge_input: JudgeInput) -> Iterable[Question]:
    return [(None, filled(rubric, judge_input))]


ANNOTATORS = {JURY: Annotator(ask=_ask, schema=verdict_schema, read=parse_verdict)}
