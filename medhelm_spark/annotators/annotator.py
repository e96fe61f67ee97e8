"""The interface of a kind of rubric: the questions to a judge, and the reading of a reply."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.annotators.enclosed import enclosed
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import NOTES, TARGET_SPECIALTY, Rubric
from medhelm_spark.domain.request import CriterionScore
from medhelm_spark.domain.scenario import Message

Question = tuple[int | None, str]
"""Index of the rubric item that the question is about (None for the whole rubric), and its text."""

_HEADINGS = "SYSTEM:\nUSER:\nASSISTANT:"
_PLACEHOLDER = re.compile(
    r"\{(CONVERSATION|QUESTION|RESPONSE|GOLD_RESPONSE|CRITERION|NOTES|TARGET_SPECIALTY)\}"
)
NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInput:
    """One answer with its context, as values for a rubric's template.

    `question` is the instance's input without adapter instructions, `messages` the conversation
    that ends with it (empty where there is none), `gold` the reference answer or empty.
    `access_level` is the strictest of all these.
    """

    question: str
    response: str
    access_level: AccessLevel
    gold: str = ""
    messages: tuple[Message, ...] = ()
    extra_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """One entry of `ANNOTATORS`, which a rubric names as its `kind`.

    `ask` returns the questions to each judge about an answer, `schema` the JSON Schema of a reply,
    and `read` the scores in a reply, or None where it has none. Empty answers are judged only with
    `judges_empty`. If `version` changes, answers are judged again.
    """

    ask: Callable[[Rubric, JudgeInput], Iterable[Question]]
    schema: Callable[[Rubric], str | None]
    read: Callable[[str, Rubric], tuple[CriterionScore, ...] | None]
    judges_empty: bool = False
    version: str = ""


def filled(rubric: Rubric, shown: JudgeInput, criterion: str = "") -> str:
    """The rubric's template for one answer.

    All placeholders are replaced in one pass, so that a placeholder, `$` or backslash inside a
    value is left unchanged, and the rest of the template is sent as written (MedHELM reads `$` in a
    template as a variable and fails). No value can end the block that encloses it: text that
    repeats a tag or a line of the template is escaped, see `annotators.enclosed`.
    """
    values = {
        "CONVERSATION": conversation_text(shown.messages, shown.question),
        "QUESTION": shown.question,
        "RESPONSE": shown.response,
        "GOLD_RESPONSE": shown.gold,
        "CRITERION": criterion,
        "NOTES": notes_text(shown.extra_data.get(NOTES) or shown.question),
        "TARGET_SPECIALTY": shown.extra_data.get(TARGET_SPECIALTY) or NOT_STATED,
    }
    template = rubric.template
    return _PLACEHOLDER.sub(lambda match: enclosed(values[match[1]], template), template)


def conversation_text(messages: Sequence[Message], question: str) -> str:
    """All turns in order, each under a heading with its role; a question alone is a user turn.

    A line of a turn that equals such a heading is escaped.
    """
    turns = messages or (Message(role="user", content=question),)
    return "\n\n".join(
        f"{turn.role.upper()}:\n{enclosed(turn.content, _HEADINGS)}" for turn in turns
    )


def notes_text(notes: str) -> str:
    """Each note under a heading with its number; a text that is no JSON list is one note.

    A line of a note that equals such a heading is escaped.

    >>> notes_text('["Seen for cough.", "Cough gone."]').splitlines()
    ['Note 1:', 'Seen for cough.', '', 'Note 2:', 'Cough gone.']
    """
    texts = _texts(notes)
    headings = "\n".join(f"Note {number}:" for number in range(1, len(texts) + 1))
    return "\n\n".join(
        f"Note {number}:\n{enclosed(note, headings)}" for number, note in enumerate(texts, start=1)
    )


def _texts(notes: str) -> Sequence[str]:
    """The texts of a JSON list of texts; else the text itself."""
    try:
        decoded = json.loads(notes, strict=False) if notes.lstrip().startswith("[") else None
    except ValueError:
        decoded = None
    is_list = (
        isinstance(decoded, list) and decoded and all(isinstance(each, str) for each in decoded)
    )
    return decoded if is_list and isinstance(decoded, list) else [notes]
