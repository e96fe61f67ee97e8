"""Answers as text for a terminal: the end of each prompt, the answer, references and score."""

from collections.abc import Iterable, Sequence

from medhelm_spark.domain.names import printable

MOST_OF_PROMPT = 400
MOST_OF_TEXT = 1_000
"""Characters that are shown: of a prompt its end, of all else its beginning."""

_LABEL = 11


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
    """The last characters of a text, marked where more comes before.

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


def answers_text(blocks: Sequence[str], notes: Sequence[str]) -> str:
    """All of them with an empty line between, then the notes."""
    return "\n\n".join([*blocks, "\n".join(map(printable, notes))])
