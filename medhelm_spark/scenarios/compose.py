"""The input text: a template filled from columns, or a passage with a question as HELM has it."""

from medhelm_spark.domain.scenario import CORRECT_TAG, Reference, ScenarioCard
from medhelm_spark.scenarios.records import BadReason, BadRecord, Record
from medhelm_spark.scenarios.template import render, template_columns

TEMPLATE = "template"


def passage_question(passage: str | None, question: str, card: ScenarioCard) -> str:
    """Passage, blank line, question; without a passage the question alone.

    The card's options `passage_prefix` and `question_prefix` go before each.
    """
    if passage is None:
        return question
    before_passage = card.options.get("passage_prefix", "")
    before_question = card.options.get("question_prefix", "Question: ")
    return f"{before_passage}{passage}\n\n{before_question}{question}\n"


def correct(text: str) -> Reference:
    """A right reference."""
    return Reference(text=text, tags=(CORRECT_TAG,))


def filled(record: Record, card: ScenarioCard) -> str:
    """The card's template with the record's columns in place."""
    text = render(card.options[TEMPLATE], record.fields)
    if not text or text.isspace():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return text


def columns_of_template(card: ScenarioCard) -> tuple[str, ...]:
    """The columns that the card's template needs; none without a template."""
    return template_columns(card.options[TEMPLATE]) if TEMPLATE in card.options else ()
