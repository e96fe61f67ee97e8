"""The form of an answer that an engine enforces: one of the labels, bare or in a JSON object."""

import json
from collections.abc import Sequence
from functools import lru_cache

from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.run import AnswerExtraction, AnswerForm, ExtractionMethod

FIELD = "answer"
"""The member of the JSON object that has the answer."""

READ_AS_JSON = AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field=FIELD)
"""How an answer of the form json is read where its benchmark reads no field of its own."""


def answer_schema(form: AnswerForm, labels: Sequence[str]) -> str | None:
    """The JSON schema of answers of a form, as text; None where the form is free.

    >>> answer_schema(AnswerForm.CHOICE, ["A", "B"])
    '{"enum":["A","B"]}'
    """
    one_of = {"enum": list(labels)}
    if form is AnswerForm.FREE:
        return None
    if form is AnswerForm.CHOICE:
        return canonical_json(one_of)
    return canonical_json(
        {
            "type": "object",
            "properties": {FIELD: one_of},
            "required": [FIELD],
            "additionalProperties": False,
        }
    )


@lru_cache(maxsize=64)
def choices_of(schema: str | None) -> tuple[str, ...]:
    """The labels that a reply may be, bare; empty for a schema of another form."""
    document = json.loads(schema) if schema else {}
    return tuple(document["enum"]) if set(document) == {"enum"} else ()
