"""Sections: a document whose part under a heading is the reference, and whose rest is the input."""

import re
from functools import lru_cache

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import correct
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    required_text,
)

REQUIRED = ("input",)
NEEDED = ("cut_at", "reference_after")
OPTIONS = NEEDED


def parse_sections(record: Record, card: ScenarioCard) -> ParsedInput:
    """The document up to the first of the headings `cut_at`; a reference of one line.

    The reference is the rest of the line after the first heading of `reference_after` (in the
    card's order) that has one. Headings are written `PLAN:|SUMMARY:` and matched as written.
    """
    text = required_text(record, card, "input", BadReason.EMPTY_INPUT)
    for heading in card.options["reference_after"].split("|"):
        reference = text.partition(heading)[2].split("\n", 1)[0].strip()
        if reference:
            break
    else:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    before = _pattern(card.options["cut_at"]).split(text, maxsplit=1)[0]
    if not before.strip():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return ParsedInput(input=before, references=(correct(reference),))


@lru_cache(maxsize=16)
def _pattern(headings: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, headings.split("|"))))
