"""Error correction: numbered sentences, of which one or none is wrong."""

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import correct
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    required_text,
)

REQUIRED = ("input", "flag", "sentence_id", "correction")
OPTIONAL = ()
RIGHT = "CORRECT"


def parse_error_correction(record: Record, card: ScenarioCard) -> ParsedInput:
    """The sentences, stripped; the reference is CORRECT or `<sentence id> <corrected sentence>`."""
    text = required_text(record, card, "input", BadReason.EMPTY_INPUT).strip()
    flag = required_text(record, card, "flag", BadReason.EMPTY_ANSWER).strip()
    if flag == "0":
        return ParsedInput(input=text, references=(correct(RIGHT),))
    if flag != "1":
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    place = required_text(record, card, "sentence_id", BadReason.EMPTY_ANSWER).strip()
    if not place.isdecimal():
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    mended = required_text(record, card, "correction", BadReason.EMPTY_ANSWER)
    return ParsedInput(input=text, references=(correct(f"{place} {mended}"),))
