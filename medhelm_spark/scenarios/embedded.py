"""Options written at the end of a question: `stem`, a new line, `'A': 'first', 'B': 'second'`."""

import re
from collections.abc import Sequence

from medhelm_spark.scenarios.records import BadReason, BadRecord

START = re.compile(r"\n\s*\{?\s*(?='[A-Z]'\s*:)")
CHOICE = re.compile(
    r"'(?P<letter>[A-Z])'\s*:\s*(?P<quote>['\"])(?P<text>.*?)(?P=quote)"
    r"(?=\s*,?\s*'[A-Z]'\s*:|\s*,?\s*\}?\s*\Z)",
    re.DOTALL,
)


def choices_inside(question: str) -> tuple[str, Sequence[str], tuple[str, ...]]:
    """The stem, the letters and the options' texts; an apostrophe inside an option is text.

    Raises:
        BadRecord: no option follows the stem.
    """
    start = START.search(question)
    found = list(CHOICE.finditer(question, start.end())) if start else []
    if start is None or not found:
        raise BadRecord(BadReason.NOT_A_LIST)
    stem = question[: start.start()]
    if not stem.strip():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return stem, tuple(one["letter"] for one in found), tuple(one["text"] for one in found)
