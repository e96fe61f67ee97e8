"""Free text: one text in, one reference text out."""

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.scenarios.compose import correct
from medhelm_spark.scenarios.records import BadReason, ParsedInput, Record, required_text

REQUIRED = ("input",)
OPTIONAL = ("reference",)
OPTIONS = ("heading",)


def parse_free_text(record: Record, card: ScenarioCard) -> ParsedInput:
    """The text under the card's `heading`, and its reference where the card names one."""
    text = required_text(record, card, "input", BadReason.EMPTY_INPUT)
    heading = card.options.get("heading")
    references: tuple[Reference, ...] = ()
    if "reference" in card.fields:
        references = (correct(required_text(record, card, "reference", BadReason.EMPTY_ANSWER)),)
    return ParsedInput(
        input=text if heading is None else f"{heading}\n\n{text}", references=references
    )
