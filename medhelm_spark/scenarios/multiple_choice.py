"""Multiple choice: a question, perhaps a passage, options and which of them is right."""

import string
from collections.abc import Callable, Mapping, Sequence

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.scenarios.compose import correct, passage_question
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    optional_value,
    required_text,
    texts,
)

REQUIRED = ("question", "answer")
OPTIONAL = ("context", "labels", "options")
OPTIONS = ("choices", "answer_form", "passage_prefix", "question_prefix")


def parse_multiple_choice(record: Record, card: ScenarioCard) -> ParsedInput:
    """The instance with one reference for each option, in order.

    Options come from the card (`choices: a|b|c`) or from the role `options`: a list, an object of
    letter to text, or either as JSON text. `answer_form` says how the answer names one: `text` (the
    default), `letter`, `index` (from 0) or `number` (from 1).
    """
    question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    answer = required_text(record, card, "answer", BadReason.EMPTY_ANSWER)
    letters, choices = _choices(record, card)
    right = ANSWER_FORMS[card.options.get("answer_form", "text")](answer, letters, choices)
    return ParsedInput(
        input=passage_question(_passage(record, card), question, card),
        references=tuple(
            correct(text) if place == right else Reference(text=text)
            for place, text in enumerate(choices)
        ),
    )


def _passage(record: Record, card: ScenarioCard) -> str | None:
    value = optional_value(record, card, "context")
    if value is None or isinstance(value, str):
        return as_text(value)
    sections = texts(value)
    if "labels" not in card.fields:
        return "\n".join(sections)
    labels = texts(optional_value(record, card, "labels"))
    if len(labels) != len(sections):
        raise BadRecord(BadReason.UNEVEN_LISTS)
    lines = (f"{label.title()}. {text}" for label, text in zip(labels, sections, strict=True))
    return "\n".join(lines)


def _choices(record: Record, card: ScenarioCard) -> tuple[Sequence[str], tuple[str, ...]]:
    if "choices" in card.options:
        return string.ascii_uppercase, tuple(card.options["choices"].split("|"))
    value = optional_value(record, card, "options")
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            raise BadRecord(BadReason.NOT_A_LIST) from None
    if isinstance(value, Mapping):
        return tuple(value), texts(tuple(value.values()))
    return string.ascii_uppercase, texts(value)


def _position(of: Sequence[str], wanted: str) -> int:
    for place, each in enumerate(of):
        if each == wanted:
            return place
    raise BadRecord(BadReason.UNKNOWN_ANSWER)


def _counted(first: int) -> "AnswerForm":
    def find(answer: str, _: Sequence[str], choices: Sequence[str]) -> int:
        places = [str(number) for number in range(first, first + len(choices))]
        return _position(places, answer.strip())

    return find


AnswerForm = Callable[[str, Sequence[str], Sequence[str]], int]
ANSWER_FORMS: Mapping[str, AnswerForm] = {
    "text": lambda answer, _, choices: _position(choices, answer),
    "letter": lambda answer, letters, choices: _position(letters[: len(choices)], answer.strip()),
    "index": _counted(0),
    "number": _counted(1),
}
