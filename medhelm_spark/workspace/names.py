"""Checks of the names of suites and releases, and of names that must be known."""

import re
from collections.abc import Iterable

from medhelm_spark.domain.names import is_name
from medhelm_spark.errors import ConfigError, UnknownNameError

MOST = 200
RULE = (
    f"text of 1 to {MOST} characters in one line, all of them printable, with no space at either "
    "end, that is no path to another folder, such as ../name"
)
_PARTS = re.compile(r"[/\\]")


def check_name(kind: str, name: object) -> str:
    """The name of a suite or release, refused before anything is written under it.

    MedHELM stores a suite in a folder of its name: a name that leads out of it is refused here too.

    >>> check_name("suite", "2026 first")
    '2026 first'

    Raises:
        ConfigError: it is no text, empty, too long, not in one line, or a path that leaves its
            folder.
    """
    is_text = isinstance(name, str) and 0 < len(name) <= MOST and is_name(name)
    if not isinstance(name, str) or not is_text or _leads(name):
        description = repr(name) if isinstance(name, str) else type(name).__name__
        raise ConfigError(f"{kind} is {description[:MOST]}; allowed: {RULE}.")
    return name


def _leads(name: str) -> bool:
    """Whether the name, taken for a path, leads to another folder."""
    return not {"", ".", ".."}.isdisjoint(_PARTS.split(name))


def check_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not in `known`.

    Raises:
        UnknownNameError: names the known names.
    """
    names = sorted(known)
    if name not in names:
        raise UnknownNameError(kind, str(name), names)
