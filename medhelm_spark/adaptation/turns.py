"""The reply's own turn, where a base model goes on with a next question or the user's next words.

A mark of a chat template before the user's turn ends the reply, and so does a question that begins
as the asked one does and goes on in another way. The text before a heading ("Question:"), or
before a question with a list of options, is the reply if it answers.
"""

import re

_MARK = re.compile(
    r"(?:<\|[a-z_]{2,20}\|>|</s>|<end_of_turn>)\s{0,3}(?:<[|a-z_]{2,24}>)?\s?"
    r"(?:user|human|\[INST\])(?![a-z])",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\n\n?(?:#{1,6} ?)?(?:(?:next |new |another )?question|q|input|human|user|passage|context"
    r"|patient note|instruction)s?(?: ?\d{1,4})? ?:"
    r"|\n\n[^\n]{12,400}\?\n{1,2}\(?A[.):]\)? [^\n]{1,200}\n\(?B[.):]"
    r"|\n(?:user|human)\n",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\n\n([^\n?]{12,400}\?)(?=\n+\S)")
_WORDS_ALIKE = 3
"""Words with which two questions of one kind begin."""


def until_mark(text: str) -> str:
    """The text up to a mark of a chat template that begins the user's turn."""
    mark = _MARK.search(text) if "<" in text else None
    return text[: mark.start()] if mark and text[: mark.start()].strip() else text


def until_like_question(reply: str, question: str) -> str:
    """The plain text up to a question of the asked one's kind: "Which nerve moves the tongue?"."""
    for match in _QUESTION.finditer(reply) if "?\n" in reply else ():
        other, own = match[1].lower().split(), question.lower().split()
        is_alike = other[:_WORDS_ALIKE] == own[:_WORDS_ALIKE] and len(own) > _WORDS_ALIKE
        if is_alike and other != own[: len(other)]:
            return reply[: match.start()]
    return reply


def first_turn(reply: str) -> str:
    """The plain text before the next question or turn; empty where none follows."""
    turn = _NEXT.search(reply) if "\n" in reply else None
    return reply[: turn.start()] if turn else ""
