"""Conversation: turns of user and assistant, of which the model is to answer the last.

Each instance may bring its own rubric, HealthBench's form: a list of objects with a criterion,
points (negative for what should not be there) and tags.
"""

import math
from collections.abc import Mapping, Sequence

from medhelm_spark.domain.annotation import RUBRIC_ITEMS, TAGS, RubricItem, items_text
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.scenario import Message, ScenarioCard
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    column_of,
    optional_text,
    optional_value,
    texts,
)
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.template import correct

ROLES = frozenset({"system", "user", "assistant"})


def parse_conversation(record: Record, card: ScenarioCard) -> ParsedInput:
    """The turns as messages, the last of them as input; the rubric and tags in `extra_data`.

    `messages` is a list of objects with `role` and `content`, or an object with such a list
    under `messages`. The card's option `criterion` names the field with a rubric item's text
    ("criterion" where it is left out). A reference, where the card names one, is a right answer.
    """
    messages = messages_of(optional_value(record, card, "messages"))
    extra: dict[str, str] = {}
    if "rubric" in card.fields:
        name = card.options.get("criterion", "criterion")
        extra[RUBRIC_ITEMS] = items_text(rubric_of(optional_value(record, card, "rubric"), name))
    if tags := optional_value(record, card, "tags"):
        extra[TAGS] = canonical_json(texts(tags))
    reference = optional_text(record, card, "reference")
    return ParsedInput(
        input=messages[-1].content,
        messages=messages,
        references=(correct(reference),) if reference and reference.strip() else (),
        extra_data=extra,
    )


def messages_of(value: object) -> tuple[Message, ...]:
    """The turns of a conversation; a record whose last one is not the user's is bad."""
    if isinstance(value, Mapping):
        value = value.get("messages")
    if value is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    messages = tuple(
        Message(role=_text(turn, "role"), content=_text(turn, "content"))
        for turn in _objects(value, BadReason.BROKEN_CONVERSATION)
    )
    roles = [message.role for message in messages]
    if not roles or roles[-1] != "user" or set(roles) - ROLES:
        raise BadRecord(BadReason.BROKEN_CONVERSATION)
    if not messages[-1].content.strip():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return messages


def _text(turn: Mapping[str, object], name: str) -> str:
    text = as_text(turn.get(name))
    if text is None:
        raise BadRecord(BadReason.BROKEN_CONVERSATION)
    return text


def rubric_of(value: object, name: str) -> list[RubricItem]:
    """The items of a rubric whose text is in the field `name` (`a|b`: the first there)."""
    if value is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    items = [_item(item, name) for item in _objects(value, BadReason.BROKEN_RUBRIC)]
    if not items:
        raise BadRecord(BadReason.BROKEN_RUBRIC)
    return items


def _item(value: Mapping[str, object], name: str) -> RubricItem:
    column = column_of(value, name)
    criterion = as_text(value.get(column)) if column else None
    points = _number(value.get("points"))
    if criterion is None or not criterion.strip() or points is None:
        raise BadRecord(BadReason.BROKEN_RUBRIC)
    tags = value.get("tags")
    return RubricItem(criterion=criterion, points=points, tags=texts(tags) if tags else ())


def _number(value: object) -> float | None:
    """A finite number; readers give the numbers of JSON as text."""
    try:
        number = float(as_text(value) or "nan")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _objects(value: object, if_not: BadReason) -> Sequence[Mapping[str, object]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise BadRecord(BadReason.NOT_A_LIST)
    if not all(isinstance(item, Mapping) for item in value):
        raise BadRecord(if_not)
    return value


PARSERS = {
    "conversation": Parser(
        parse=parse_conversation,
        required=("messages",),
        optional=("rubric", "tags", "reference"),
        options=("criterion",),
    ),
}
