"""Reads HOCON into plain dicts and lists: run entries, and the keys of `credentials.conf`.

Beside `errors`, because configuration reads it on the driver and the engines on the executors.
A file is complete in itself: substitutions and includes are refused before the parser sees them, so
that the environment, addresses and other files are out of its reach (a run entry is sent to a
model, and a key in it would be too), and some lines do not unfold to gigabytes.
"""

import re
from pathlib import Path
from typing import Any

from medhelm_spark.errors import ConfigError

OUTWARD = re.compile(
    r"(?P<substitution>\$\{)"
    r'|(?<![\w$])include(?![\w$])[^\w:="]*(?:"|url|file|package|required|classpath)',
    re.IGNORECASE,
)
"""What would be replaced by something else; in quotes and comments too, which hide nothing then."""


def parse_hocon(text: str, path: Path) -> dict[str, Any]:
    """The tree in `text`; `path` names it in errors.

    Raises:
        ConfigError: If it is not HOCON, with line and column where the parser has them, or contains
            a substitution or an include.
    """
    from pyhocon import ConfigFactory, ConfigTree  # slow to import; most commands read no HOCON
    from pyparsing import ParseBaseException

    if found := OUTWARD.search(text):
        line = text.count("\n", 0, found.start()) + 1
        what = "a substitution, ${...}" if found["substitution"] else "an include"
        raise ConfigError(
            f"{path}, line {line}: {what}, is not read here; write the value itself, or in a "
            "deployment api_key: env:NAME."
        )
    try:
        tree = ConfigFactory.parse_string(text)
    except ParseBaseException as error:
        position = f"line {error.lineno}, column {error.column}"
        raise ConfigError(
            f"{path}, {position}: not valid HOCON; is a bracket, comma or quote missing?"
        ) from None
    except Exception as error:
        # The parser leaks its own TypeError, IndexError and RecursionError on broken input, and its
        # other messages show values, which may be keys.
        raise ConfigError(f"{path}: not valid HOCON ({type(error).__name__}).") from None
    if not isinstance(tree, ConfigTree):
        raise ConfigError(f"{path}: is a list; allowed: keys and values.")
    return dict(_plain(tree))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key).strip('"'): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
