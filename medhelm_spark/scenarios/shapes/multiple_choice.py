"""Multiple choice: a question, its options in order, and which of them is right.

A patient's notes with a question over them are a multiple choice with a template of their own.
"""

import re
import string
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_lines,
    optional_text,
    optional_value,
    required_text,
    texts,
)
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.template import TEMPLATE, correct, filled, passage_question

OPTION = "option."
EMBEDDED = "embedded"
CHOICE_OPTIONS = (
    "choices",
    "answer_form",
    "answers",
    "trim",
    "option_key",
    "option_text",
    EMBEDDED,
    TEMPLATE,
    "passage_prefix",
    "question_prefix",
)
Choices = tuple[Sequence[str], tuple[str, ...]]
EMBEDDED_LETTER = re.compile(r"'([A-Z])'\s*+:")
EMBEDDED_TEXT = re.compile(r"'([A-Z])'\s*+:\s*+(['\"])")
EMBEDDED_END = re.compile(r"(['\"])(?=\s*+,?+\s*+(?:'[A-Z]'\s*+:|\}?+\s*+\Z))")
"""The quote that ends an option: another option follows it, or nothing does."""
NOTES_COLUMNS = ("notes", "note_count", "current_date")
"""Columns that this shape makes, for the template."""
BORDER = re.compile(r"^[ \t]*\*{100}[ \t]*$", re.MULTILINE)
DATE = re.compile(r"Record date:\s*(\d{4}-\d{2}-\d{2})")
BETWEEN = f"\n{'*' * 50}\n"


def parse_multiple_choice(record: Record, card: ScenarioCard) -> ParsedInput:
    """The instance with one reference for each option, in order.

    The input is the role `question`, after the role `context` if there is one, or the card's
    template. Options come from the card (`choices: a|b`), from the roles `option.A`, `option.B`
    and so on, from the role `options` (a list, an object of letter to text, a list of objects whose
    fields the options `option_key` and `option_text` name, or one of these as JSON text), or with
    `embedded` from the end of the question. Characters of `trim` and white space are taken off an
    option's end. `answers: 1=yes|0=no` says what a written answer means, and
    `answer_form` how it then names an option: `text` (the default), `letter`, `index` (from 0) or
    `number` (from 1).
    """
    question = None
    if TEMPLATE not in card.options:
        question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    if question is not None and EMBEDDED in card.options:
        question, letters, choices = choices_inside(question)
    else:
        letters, choices = _trimmed(_choices(record, card), card.options.get("trim"))
    right = ANSWER_FORMS[card.options.get("answer_form", "text")](
        _answer(record, card), letters, choices
    )
    return ParsedInput(
        input=filled(record, card)
        if question is None
        else passage_question(_passage(record, card), question, card),
        references=tuple(
            correct(text) if position == right else Reference(text=text)
            for position, text in enumerate(choices)
        ),
    )


def _answer(record: Record, card: ScenarioCard) -> str:
    value = optional_value(record, card, "answer")
    if isinstance(value, bool):
        answer = str(value)
    else:
        answer = required_text(record, card, "answer", BadReason.EMPTY_ANSWER)
    if "answers" not in card.options:
        return answer
    meaning = meanings(card.options["answers"]).get(answer.strip())
    if meaning is None:
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    return meaning


@lru_cache(maxsize=64)
def meanings(answers: str) -> Mapping[str, str]:
    """What each written answer means.

    >>> meanings("1=yes|0=no")
    {'1': 'yes', '0': 'no'}
    """
    pairs = (part.partition("=") for part in answers.split("|"))
    return {written: meant for written, _, meant in pairs}


def _passage(record: Record, card: ScenarioCard) -> str | None:
    value = optional_value(record, card, "context")
    if value is None or isinstance(value, str) or "labels" not in card.fields:
        return as_lines(value)
    sections = texts(value)
    labels = texts(optional_value(record, card, "labels"))
    if len(labels) != len(sections):
        raise BadRecord(BadReason.UNEVEN_LISTS)
    lines = (f"{label.title()}. {text}" for label, text in zip(labels, sections, strict=True))
    return "\n".join(lines)


def _choices(record: Record, card: ScenarioCard) -> Choices:
    if "choices" in card.options:
        return string.ascii_uppercase, tuple(card.options["choices"].split("|"))
    if "options" not in card.fields:
        return _named_choices(record, card)
    value = optional_value(record, card, "options")
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            raise BadRecord(BadReason.NOT_A_LIST) from None
    if isinstance(value, Mapping):
        return tuple(value), texts(tuple(value.values()))
    if "option_key" in card.options and isinstance(value, Sequence):
        return _keyed_choices(value, card)
    return string.ascii_uppercase, texts(value)


def _trimmed(choices: Choices, ending: str | None) -> Choices:
    letters, options = choices
    if ending is None:
        return choices
    return letters, tuple(text.rstrip(ending + string.whitespace) for text in options)


def _keyed_choices(value: Sequence[object], card: ScenarioCard) -> Choices:
    """The options of a list of objects, in its order."""
    options = [option for option in value if isinstance(option, Mapping)]
    if len(options) < len(value):
        raise BadRecord(BadReason.NOT_A_LIST)
    letters = texts([option.get(card.options["option_key"]) for option in options])
    return letters, texts([option.get(card.options["option_text"]) for option in options])


def _named_choices(record: Record, card: ScenarioCard) -> Choices:
    roles = [role for role in card.fields if role.startswith(OPTION)]
    options = [optional_text(record, card, role) for role in roles]
    if None in options:
        raise BadRecord(BadReason.MISSING_FIELD)
    letters = [role.removeprefix(OPTION) for role in roles]
    return letters, tuple(text for text in options if text is not None)


def _position(names: Sequence[str], answer: str) -> int:
    for position, name in enumerate(names):
        if name == answer:
            return position
    raise BadRecord(BadReason.UNKNOWN_ANSWER)


def _counted(first: int) -> "AnswerForm":
    def find(answer: str, _: Sequence[str], choices: Sequence[str]) -> int:
        numbers = [str(number) for number in range(first, first + len(choices))]
        return _position(numbers, answer.strip())

    return find


AnswerForm = Callable[[str, Sequence[str], Sequence[str]], int]
ANSWER_FORMS: Mapping[str, AnswerForm] = {
    "text": lambda answer, _, choices: _position(choices, answer),
    "letter": lambda answer, letters, choices: _position(letters[: len(choices)], answer.strip()),
    "index": _counted(0),
    "number": _counted(1),
}


def choices_inside(question: str) -> tuple[str, Sequence[str], tuple[str, ...]]:
    """The stem, the letters and texts of options written at the question's end.

    They follow the stem on a new line as `'A': 'first', 'B': 'second'`; an apostrophe inside an
    option is text.

    Raises:
        BadRecord: no option follows the stem.
    """
    start = _embedded_start(question)
    options = [] if start is None else list(_embedded(question, start))
    if start is None or not options:
        raise BadRecord(BadReason.NOT_A_LIST)
    stem = question[:start]
    if not stem.strip():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return stem, tuple(letter for letter, _ in options), tuple(text for _, text in options)


def _embedded_start(question: str) -> int | None:
    """The line end before the first option, with white space and one brace at most between them.

    It goes back from each letter, so that the time is linear: a pattern that begins at every line
    end would take its cube in a question of empty lines.
    """
    for letter in EMBEDDED_LETTER.finditer(question):
        begin = _space_before(question, letter.start())
        if begin and question[begin - 1] == "{":
            brace = begin - 1
            begin = _space_before(question, brace)
            before = question.find("\n", begin, brace)
            begin = begin if before >= 0 else brace
        start = question.find("\n", begin, letter.start())
        if start >= 0:
            return start
    return None


def _space_before(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _embedded(question: str, start: int) -> Iterator[tuple[str, str]]:
    """Letter and text of each option; a text goes up to the first quote that can end it."""
    ends: dict[str, list[int]] = {"'": [], '"': []}
    for end in EMBEDDED_END.finditer(question, start):
        ends[end[1]].append(end.start())
    at = start
    while option := EMBEDDED_TEXT.search(question, at):
        closing = ends[option[2]]
        number = bisect_left(closing, option.end())
        if number == len(closing):
            at = option.start() + 1
            continue
        yield option[1], question[option.end() : closing[number]]
        at = closing[number] + 1


def parse_patient_notes(record: Record, card: ScenarioCard) -> ParsedInput:
    """A choice whose template has `{notes}`, `{note_count}` and `{current_date}`.

    The notes are between lines of 100 asterisks. Each gets its number and its date; the current
    date is that of the last note that has one.
    """
    text = required_text(record, card, "notes", BadReason.EMPTY_INPUT).replace("\n\n\n", "\n")
    notes = [part.strip() for part in BORDER.split(text) if part.strip()]
    if not notes:
        raise BadRecord(BadReason.EMPTY_INPUT)
    dates = [match[1] if (match := DATE.search(note)) else None for note in notes]
    known = [date for date in dates if date]
    numbered = [
        f"Note {number}\nRecord date: {date or 'unknown'}\n{DATE.sub('', note, count=1).strip()}"
        for number, (note, date) in enumerate(zip(notes, dates, strict=True), 1)
    ]
    columns = {
        "notes": BETWEEN.join(numbered),
        "note_count": str(len(notes)),
        "current_date": known[-1] if known else "unknown",
    }
    return parse_multiple_choice(replace(record, fields={**record.fields, **columns}), card)


PARSERS = {
    "multiple_choice": Parser(
        parse=parse_multiple_choice,
        required=("answer",),
        optional=("question", "context", "labels", "options"),
        untemplated=("question",),
        family=OPTION,
        options=CHOICE_OPTIONS,
    ),
    "patient_notes": Parser(
        parse=parse_patient_notes,
        required=("notes", "answer"),
        options=CHOICE_OPTIONS,
        needed_options=(TEMPLATE, "choices"),
        made=NOTES_COLUMNS,
    ),
}
