"""What suites and releases may be called, and names that must be known."""

import re
from collections.abc import Iterable

from medhelm_spark.errors import ConfigError, UnknownNameError

MOST = 200
NAME = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?")
RULE = f"text of 1 to {MOST} characters in one line, with no space at either end"


def check_name(kind: str, name: object) -> str:
    """The name of a suite or release, refused before anything is written under it.

    >>> check_name("suite", "2026 first")
    '2026 first'

    Raises:
        ConfigError: it is no text, empty, too long, or not in one line.
    """
    if not isinstance(name, str) or len(name) > MOST or not NAME.fullmatch(name):
        shown = repr(name) if isinstance(name, str) else type(name).__name__
        raise ConfigError(f"{kind} is {shown[:MOST]}; allowed: {RULE}.")
    return name


def check_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is none of those.

    Raises:
        UnknownNameError: names what is known.
    """
    names = sorted(known)
    if name not in names:
        raise UnknownNameError(kind, str(name), names)
