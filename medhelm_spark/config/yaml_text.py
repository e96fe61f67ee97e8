"""Reads YAML by version 1.2: `no` and `007` stay text, and a key may be written once.

PyYAML follows YAML 1.1, where `no` is false, `12:30` is 750 and `2024-05-13` a date, and where the
second of two equal keys wins silently. This loader resolves scalars by YAML 1.2's core rules and
refuses duplicate keys.
"""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from medhelm_spark.errors import ConfigError
from medhelm_spark.local_files import open_file

NULL, BOOL, INT, FLOAT = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))


MAX_BYTES = 16 << 20
"""The longest prompt template in use has some thousand."""
MAX_NODES = 1_000_000
"""Nine anchors of nine aliases each unfold to a billion values."""
MAX_DEPTH = 100
"""Levels inside one another: some thousands end the process in libyaml, without a word."""
SHALLOW = 2_000
"""A text of fewer characters cannot be so deep that the process ends."""


QUOTING = (
    "found undefined alias",
    "found undefined tag handle",
    "duplicate tag handle",
    "could not determine a constructor for the tag",
)
"""PyYAML's words before it quotes the document; elsewhere it quotes at most one character."""


if TYPE_CHECKING:
    _Safe = yaml.SafeLoader
else:  # what ships is read in half the time in C; PyYAML is built without where libyaml is not
    _Safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):
    """SafeLoader with YAML 1.2 scalars, no merge keys and no duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys are plain texts, each there once."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key must be plain text"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            if key.value in seen:
                problem = "a key is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(NULL, re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(
    BOOL, re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(INT, re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    FLOAT,
    re.compile(r"^[-+]?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)$"),
    list("-+0123456789"),
)


def parse_yaml(text: str, where: str) -> Any:
    """The document in `text`; `where` names it in errors.

    Raises:
        ConfigError: If it is not YAML, with line and column.
    """
    try:
        if len(text) > SHALLOW:
            _check_depth(text, where)
        value = yaml.load(text, _Loader)
        if _size(value, {}) > MAX_NODES:
            raise ConfigError(
                f"{where}: its anchors unfold to more than {MAX_NODES} values; write them out."
            )
        return value
    except RecursionError:
        raise ConfigError(f"{where}: nested too deeply, or an anchor inside itself.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{where}{position}: not valid YAML: {_problem(error)}.") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{where}: not valid YAML: {str(error).splitlines()[0]}.") from None


def _check_depth(text: str, where: str) -> None:
    """Refuse a text of too many levels, by its events: those are read one after the other."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise ConfigError(f"{where}: nested more than {MAX_DEPTH} levels deep.")


def _problem(error: yaml.MarkedYAMLError) -> str:
    """What is wrong, without words of the document: it may be data, passed by mistake."""
    problem = str(error.problem)
    return next((each for each in QUOTING if problem.startswith(each)), problem)


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values a document has where each anchor is written out."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in inner)
    return known[id(value)]


def read_text(path: Path) -> str:
    """The text of a configuration file, UTF-8 with or without a byte order mark.

    Raises:
        ConfigError: If it is absent, no file, longer than any configuration, or not UTF-8.
    """
    try:
        with open_file(path) as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"{path}: longer than {MAX_BYTES} bytes, so no configuration.")
        text = content.decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8; save the file as UTF-8"
        raise ConfigError(f"{path}: {problem}.") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from None
