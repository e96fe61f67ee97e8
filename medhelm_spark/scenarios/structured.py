"""Structured: a passage and a question with one right answer; facts for the metric go beside it."""

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import correct, passage_question
from medhelm_spark.scenarios.records import BadReason, ParsedInput, Record, required_text

REQUIRED = ("context", "question", "reference")
OPTIONAL = ()
OPTIONS = ("passage_prefix", "question_prefix")


def parse_structured(record: Record, card: ScenarioCard) -> ParsedInput:
    """The passage with its question; the card's roles `extra.NAME` become `extra_data[NAME]`."""
    passage = required_text(record, card, "context", BadReason.EMPTY_INPUT)
    question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    reference = required_text(record, card, "reference", BadReason.EMPTY_ANSWER)
    return ParsedInput(
        input=passage_question(passage, question, card), references=(correct(reference),)
    )
