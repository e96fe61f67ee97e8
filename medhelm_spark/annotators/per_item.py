"""The kind `rubric`: each judge is asked about every item of the instance's own rubric."""

from collections.abc import Iterable

from medhelm_spark.annotators.annotator import Annotator, JudgeInput, Question, filled
from medhelm_spark.annotators.verdict import met_schema, parse_met
from medhelm_spark.domain.annotation import PER_ITEM, Rubric, rubric_items


def _ask(rubric: Rubric, judge_input: JudgeInput) -> Iterable[Question]:
    for index, item in enumerate(rubric_items(judge_input.extra_data)):
        yield index, filled(rubric, judge_input, item.criterion)


ANNOTATORS = {
    PER_ITEM: Annotator(ask=_ask, schema=met_schema, read=parse_met, judges_empty=True),
}
