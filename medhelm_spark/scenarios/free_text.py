"""Free text: one text in, one reference text out."""

from dataclasses import replace

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.scenarios.compose import TEMPLATE, correct, filled
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    optional_value,
    required_text,
    texts,
)

OPTIONAL = ("input", "reference")
OPTIONS = ("heading", TEMPLATE, "reference_text", "reference_join", "cut_reference")


def parse_free_text(record: Record, card: ScenarioCard) -> ParsedInput:
    """The text under the card's `heading`, or its template; and its reference where there is one.

    The reference is the role `reference`, a list in it joined by the option `reference_join`, or
    the option `reference_text`. The option `cut_reference` names a column that holds the reference
    somewhere: it is taken out of it before the template is filled.
    """
    reference = _reference(record, card)
    if TEMPLATE in card.options:
        text = filled(_without(reference, record, card), card)
    else:
        text = required_text(record, card, "input", BadReason.EMPTY_INPUT)
        heading = card.options.get("heading")
        text = text if heading is None else f"{heading}\n\n{text}"
    references: tuple[Reference, ...] = () if reference is None else (correct(reference),)
    return ParsedInput(input=text, references=references)


def _reference(record: Record, card: ScenarioCard) -> str | None:
    if "reference" not in card.fields:
        return card.options.get("reference_text")
    value = optional_value(record, card, "reference")
    if "reference_join" not in card.options or isinstance(value, str):
        return required_text(record, card, "reference", BadReason.EMPTY_ANSWER)
    found = card.options["reference_join"].join(texts(value))
    if not found:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    return found


def _without(reference: str | None, record: Record, card: ScenarioCard) -> Record:
    column = card.options.get("cut_reference")
    if column is None or reference is None:
        return record
    value = record.fields.get(column)
    if not isinstance(value, str):
        raise BadRecord(BadReason.MISSING_FIELD)
    return replace(record, fields={**record.fields, column: value.replace(reference, "")})
