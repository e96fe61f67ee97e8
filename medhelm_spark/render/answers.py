"""Answers as text for a terminal: the end of each prompt, the answer, references and score."""

import unicodedata
from collections.abc import Iterable, Sequence

MOST_OF_PROMPT = 400
MOST_OF_TEXT = 1_000
"""Characters that are shown: of a prompt its end, of all else its beginning."""

_LABEL = 11
_KEPT = "\n\t"
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def answer_text(title: str, parts: Iterable[tuple[str, str]]) -> str:
    r"""A heading, and below it labels with texts, each text indented as a whole.

    >>> print(answer_text("#1", [("answer", "Yes.\nUrgent.")]))
    #1
      answer     Yes.
                 Urgent.
    """
    lines = [printable(title)]
    for label, text in parts:
        first, *others = printable(text).expandtabs().split("\n")
        lines.append(f"  {label:<{_LABEL}}{first}".rstrip())
        lines += [f"{' ' * (_LABEL + 2)}{line}".rstrip() for line in others]
    return "\n".join(lines)


def end_of(text: str, most: int = MOST_OF_PROMPT) -> str:
    """The last characters of a text, marked where more stands before.

    >>> end_of("abcdef", 3)
    '... def'
    """
    text = text.strip()
    return text if len(text) <= most else f"... {text[-most:].lstrip()}"


def start_of(text: str, most: int = MOST_OF_TEXT) -> str:
    """The first characters of a text, with its length where more follows.

    >>> start_of("abcdef", 3)
    'abc ... (6 characters)'
    """
    text = text.strip()
    return text if len(text) <= most else f"{text[:most].rstrip()} ... ({len(text):,} characters)"


def printable(text: str) -> str:
    r"""A text that a terminal shows and does not obey: control characters are written out.

    >>> printable("a\x1b[2Jb\u202ec")
    'a\\x1b[2Jb\\u202ec'
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    is_control = unicodedata.category(character) in _CONTROL and character not in _KEPT
    return character.encode("unicode_escape").decode() if is_control else character


def answers_text(blocks: Sequence[str], notes: Sequence[str]) -> str:
    """All of them with an empty line between, then the notes."""
    return "\n\n".join([*blocks, "\n".join(map(printable, notes))])
