"""The input text: a template filled from the columns of a record, or a passage with a question.

A template has `{column}` in Python's format syntax, doubled braces for literal ones. Only column
names are understood, no attribute, index, conversion or format: a value is put in as it is and
never looked at again, so braces, dollars and backslashes in clinical text stay text.
"""

import string
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from medhelm_spark.domain.scenario import CORRECT_TAG, Reference, ScenarioCard
from medhelm_spark.errors import ConfigError
from medhelm_spark.scenarios.records import BadReason, BadRecord, Record, as_lines, value_of

Piece = tuple[str, str | None]
TEMPLATE = "template"


@lru_cache(maxsize=64)
def compile_template(template: str) -> tuple[Piece, ...]:
    """Pairs of literal text and the column that follows it (None at the end).

    Raises:
        ConfigError: a lone brace, an empty field, or a conversion or format in a field.
    """
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(
            f"prompt template: {error}; write {{{{ and }}}} for braces that are text."
        ) from None
    for _, name, spec, conversion in parsed:
        if name == "" or spec or conversion:
            raise ConfigError(
                f"prompt template: field number {_number(parsed, name)} is no plain {{column}}; "
                "only names of columns are allowed, without conversion or format."
            )
    return tuple((literal, name) for literal, name, _, _ in parsed)


def _number(parsed: list[Any], name: str | None) -> int:
    return [field for _, field, _, _ in parsed if field is not None].index(name) + 1


def template_columns(template: str) -> tuple[str, ...]:
    """The columns a template needs, each once, in order.

    >>> template_columns("{age}, {sex}, {age} {{json}}")
    ('age', 'sex')
    """
    return tuple(dict.fromkeys(name for _, name in compile_template(template) if name is not None))


def render(template: str, fields: Mapping[str, Any]) -> str:
    """The template with the record's values in place, each unchanged, a list as lines.

    Raises:
        BadRecord: a column is absent or null in this record, or is no text.
    """
    parts: list[str] = []
    for literal, column in compile_template(template):
        parts.append(literal)
        if column is not None:
            text = as_lines(value_of(fields, column))
            if text is None:
                raise BadRecord(BadReason.MISSING_FIELD)
            parts.append(text)
    return "".join(parts)


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
