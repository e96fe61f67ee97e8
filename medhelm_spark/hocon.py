"""Reads HOCON into plain dicts and lists: run entries, and the keys of `credentials.conf`.

Beside `errors`, because configuration reads it on the driver and the engines on the executors.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from medhelm_spark.errors import ConfigError


def parse_hocon(text: str, path: Path) -> dict[str, Any]:
    """The tree in `text`, includes and substitutions resolved; `path` names it in errors.

    Raises:
        ConfigError: If it is not HOCON, with line and column where the parser knows them.
    """
    from pyhocon import ConfigFactory, ConfigTree  # slow to import; most commands read no HOCON
    from pyhocon.exceptions import ConfigSubstitutionException
    from pyparsing import ParseBaseException

    try:
        with _warnings() as warnings:
            tree = ConfigFactory.parse_string(text, basedir=str(path.parent))
    except ParseBaseException as error:
        place = f"line {error.lineno}, column {error.column}"
        raise ConfigError(
            f"{path}, {place}: not valid HOCON; is a bracket, comma or quote missing?"
        ) from None
    except ConfigSubstitutionException as error:
        raise ConfigError(f"{path}: not valid HOCON: {_first_line(error)}.") from None
    except Exception as error:
        # The parser leaks its own TypeError, IndexError and RecursionError on broken input, and its
        # other messages show values, which may be keys.
        raise ConfigError(f"{path}: not valid HOCON ({type(error).__name__}).") from None
    if warnings:
        raise ConfigError(f"{path}: {warnings[0].rstrip('.')}.")
    if not isinstance(tree, ConfigTree):
        raise ConfigError(f"{path}: is a list; allowed: keys and values.")
    return dict(_plain(tree))


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collects what the parser logs and carries on after, such as an include that is not there."""
    messages: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            messages.append(record.getMessage())
        return record.levelno < logging.WARNING

    logger = logging.getLogger("pyhocon.config_parser")
    logger.addFilter(keep)
    try:
        yield messages
    finally:
        logger.removeFilter(keep)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key).strip('"'): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
