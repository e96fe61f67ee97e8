"""Regular expressions that a card or a run entry configures: they end, whatever text they meet.

Python's own `re` tries every way to match and cannot be stopped: `(a|a)*$` hangs on 41 characters
that a model wrote. The package `regex` reads the same patterns, takes most of these without trying
them all, and is stopped after `SECONDS`. (RE2 needs no clock, but has no lookaround, which
patterns in use need.) Patterns of this package itself are literal, and bounded in the code.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import regex

SECONDS = 1.0
"""For all matches of a pattern in one text; a pattern that reads an answer takes microseconds."""
MAX_COPIES = 100_000
"""`(a{1000}){1000}` is laid out a million times when it is compiled."""
_PROBED = 41
_OTHER_CHARACTERS = "aA0 \n.,()"
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class SlowPatternError(Exception):
    """A pattern was stopped after SECONDS."""


def check(pattern: str) -> None:
    """Refuse what is no pattern, what cannot be laid out, and what hangs on a short text.

    A pattern that hangs on other texts than these is stopped where it does.

    Raises:
        ValueError: Why the pattern cannot be used, as the end of a sentence.
    """
    try:
        copies = _copies(_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"no regular expression: {error}") from None
    if copies > MAX_COPIES:
        raise ValueError(f"repeated {copies} times inside itself; {MAX_COPIES} is the most")
    for character in dict.fromkeys(_OTHER_CHARACTERS + pattern):
        try:
            # After the run there may be what a match needs, or not; neither continues the run.
            last_match(pattern, character * _PROBED + "\0")
            last_match(pattern, character * _PROBED + "\0" + pattern + "\0")
        except regex.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        except SlowPatternError:
            raise ValueError(
                f"over {SECONDS:g} s at work on {_PROBED} characters; write it without a repeat "
                "inside a repeat"
            ) from None


def first_match(pattern: str, text: str) -> str | None:
    """What a pattern matches first: its last group that matched, else all of the match.

    Raises:
        SlowPatternError: It was stopped.
    """
    try:
        return _captured(_compiled(pattern).search(text, timeout=SECONDS))
    except TimeoutError:
        raise SlowPatternError from None


def last_match(pattern: str, text: str) -> str | None:
    """The same of what a pattern matches last, read from the left.

    Raises:
        SlowPatternError: It was stopped.
    """
    last = None
    try:
        for match in _compiled(pattern).finditer(text, timeout=SECONDS):
            last = match
    except TimeoutError:
        raise SlowPatternError from None
    return _captured(last)


def _captured(match: Any) -> str | None:
    return None if match is None else str(match.group(match.lastindex or 0))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)


def _copies(parts: Iterable[Any]) -> int:
    """How often the innermost repeat is laid out: the product of least counts around it."""
    most = 1
    for operator, argument in parts:
        times = max(1, int(argument[0])) if str(operator) in _REPEATS else 1
        most = max(most, times * max(map(_copies, _inside(argument)), default=1))
    return most


def _inside(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _inside(part)
