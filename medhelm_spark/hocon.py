"""Reads HOCON into plain dicts and lists: run entries, and the keys of `credentials.conf`.

Beside `errors`, because configuration reads it on the driver and the engines on the executors.
A file may include others of its own folder, and substitute what it says itself. The environment and
addresses are out of its reach: a run entry is sent to a model, and a key in it would be too.
"""

import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from medhelm_spark.errors import ConfigError

PLACE = re.compile(r"\(line: ?(\d+), col: ?(\d+)\)")
"""How the parser's messages end that name a variable, which may itself look like this."""

_FOLDER: ContextVar[Path] = ContextVar("folder of the file that is read")


class _NoEnvironment(Mapping[str, str]):
    """Stands for the parser's `os.environ`: empty, and refuses what would be there."""

    def __getitem__(self, name: str) -> str:
        if name in os.environ:
            raise ConfigError(
                f"${{{name}}} is a variable of the environment, which is not read here; write the "
                "value, or in a deployment api_key: env:NAME"
            )
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _no_address(*_: Any, **__: Any) -> Any:
    raise ConfigError("an include of an address or package; allowed: a file of the same folder")


@cache
def _parser() -> ModuleType:
    """Pyhocon's parser in a copy of ours, whose names for the outside are replaced.

    A copy, so that nobody else's use of pyhocon changes, and no form of writing gets around it.
    """
    spec = find_spec("pyhocon.config_parser")
    if spec is None or spec.loader is None:
        raise ImportError("pyhocon")
    parser: Any = module_from_spec(spec)
    spec.loader.exec_module(parser)
    parse_file = parser.ConfigFactory.parse_file

    def parse_own(filename: str, *args: Any, **options: Any) -> Any:
        if not Path(filename).resolve().is_relative_to(_FOLDER.get()):
            raise ConfigError("an include of a file elsewhere; allowed: a file of the same folder")
        return parse_file(filename, *args, **options)

    parser.os = SimpleNamespace(environ=_NoEnvironment(), path=os.path)
    parser.urlopen = parser.find_package_dirs = _no_address
    parser.ConfigFactory.parse_URL = parser.ConfigParser.resolve_package_path = _no_address
    parser.ConfigFactory.parse_file = parse_own
    own: ModuleType = parser
    return own


def parse_hocon(text: str, path: Path) -> dict[str, Any]:
    """The tree in `text`, includes and substitutions resolved; `path` names it in errors.

    Raises:
        ConfigError: If it is not HOCON, with line and column where the parser knows them, or names
            the environment, an address or a file elsewhere.
    """
    from pyhocon import ConfigTree  # slow to import; most commands read no HOCON
    from pyhocon.exceptions import ConfigSubstitutionException
    from pyparsing import ParseBaseException

    parser = _parser()
    folder = _FOLDER.set(path.parent.resolve())
    try:
        with _warnings(parser.logger) as warnings:
            tree = parser.ConfigFactory.parse_string(text, basedir=str(path.parent))
    except ConfigError as error:
        raise ConfigError(f"{path}: {str(error).rstrip('.')}.") from None
    except ParseBaseException as error:
        place = f"line {error.lineno}, column {error.column}"
        raise ConfigError(
            f"{path}, {place}: not valid HOCON; is a bracket, comma or quote missing?"
        ) from None
    except ConfigSubstitutionException as error:
        raise ConfigError(f"{path}: not valid HOCON: {_unresolved(error)}.") from None
    except Exception as error:
        # The parser leaks its own TypeError, IndexError and RecursionError on broken input, and its
        # other messages show values, which may be keys.
        raise ConfigError(f"{path}: not valid HOCON ({type(error).__name__}).") from None
    finally:
        _FOLDER.reset(folder)
    if warnings:
        raise ConfigError(f"{path}: {warnings[0].rstrip('.')}.")
    if not isinstance(tree, ConfigTree):
        raise ConfigError(f"{path}: is a list; allowed: keys and values.")
    return dict(_plain(tree))


@contextmanager
def _warnings(logger: logging.Logger) -> Iterator[list[str]]:
    """Collects what the parser logs and carries on after, such as an include that is not there."""
    messages: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            messages.append(record.getMessage())
        return record.levelno < logging.WARNING

    logger.addFilter(keep)
    try:
        yield messages
    finally:
        logger.removeFilter(keep)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key).strip('"'): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _unresolved(error: Exception) -> str:
    """Where a substitution names nothing, without the name: the file may be data."""
    places = [f"line {line}, column {column}" for line, column in PLACE.findall(str(error))]
    at = f" ({'; '.join(places)})" if places else ""
    return f"a substitution names nothing, or itself{at}"
