"""Turns parsed configuration into frozen dataclasses, or into an error of one sentence.

Values are checked strictly: text is not read as a number, `true` is not 1, and a key that no field
has is refused with the nearest field that exists. A document without any key of ours may be data,
passed by mistake: errors quote only its type and size.
"""

import json
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from medhelm_spark.config.yaml_text import parse_yaml, read_text
from medhelm_spark.domain.names import RULE, unprintable
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import ConfigError

ALLOWED = {
    "string_type": "text (put it in quotes)",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "dataclass_type": "a mapping of keys to values",
}
SECRET_KEYS = frozenset({"args", "client_spec", "window_service_spec", "spark"})
UNKNOWN_KEY = "unexpected_keyword_argument"
KEY_PART = "[key]"
RESEMBLES = 0.8
"""From this likeness on (difflib's) an unknown key is a known one misspelled, not data."""

T = TypeVar("T")


def _as_written(data: Any) -> Any:
    return data


def load_yaml(path: Path, type_: type[T], prepare: Callable[[Any], Any] = _as_written) -> T:
    """Reads a YAML file into `type_`, a frozen dataclass; `prepare` spells out short forms first.

    Raises:
        ConfigError: If the file is absent, broken, or does not fit.
    """
    return validate(prepare(parse_yaml(read_text(path), str(path))), type_, str(path))


def validate(data: object, type_: type[T], where: str) -> T:
    """Fits parsed data into `type_`; `where` names the file in errors.

    Raises:
        ConfigError: With the dotted key, what was received and what is allowed.
    """
    try:
        result: T = _adapter(cast(Hashable, type_)).validate_json(json.dumps([data]))[0]
    except ValidationError as error:
        if strange := _without_a_known_key(data, type_):
            raise ConfigError(f"{where}: {strange}.") from None
        raise ConfigError(_sentence(error.errors(include_url=False), type_, where)) from None
    except TypeError as error:
        raise ConfigError(
            f"{where}: has a value that is no plain text or number: {error}."
        ) from None
    for key_path, name in unprintable(result):
        raise ConfigError(f"{where}: {key_path} is {described(name)}; allowed: {RULE}.")
    return result


STRICTLY = ConfigDict(extra="forbid", strict=True)


@cache
def _adapter(type_: Hashable) -> TypeAdapter[Any]:
    # Inside a tuple the strict settings reach plain dataclasses, which cannot carry their own.
    return TypeAdapter(cast(Any, types.GenericAlias(tuple, (type_,))), config=STRICTLY)


def json_schema(type_: type) -> dict[str, Any]:
    """The JSON Schema of what `validate` accepts as `type_`: a `$ref` into its `$defs`."""
    # Descriptions are read from source files, which only a schema has time for.
    config = ConfigDict(**STRICTLY, use_attribute_docstrings=True)
    of_tuple = TypeAdapter(
        cast(Any, types.GenericAlias(tuple, (type_,))), config=config
    ).json_schema()
    (of_type,) = of_tuple["prefixItems"]
    return {**of_type, "$defs": of_tuple["$defs"]}


def _without_a_known_key(data: object, type_: type) -> str | None:
    """The problem of a document without any key of the type; None of any other document."""
    known = [each.name for each in fields(type_)]
    if isinstance(data, Mapping) and data:
        if any(get_close_matches(str(key), known, n=1, cutoff=RESEMBLES) for key in data):
            return None
        size = counted(len(data), "key")
        return f"the document has no known key ({size}); allowed: {', '.join(known)}"
    if isinstance(data, Mapping):
        return None
    return f"the document is {size_of(data)}; allowed: {ALLOWED['mapping_type']}"


def _sentence(errors: Sequence[ErrorDetails], type_: type, where: str) -> str:
    first = min(errors, key=lambda error: error["type"] != UNKNOWN_KEY)
    more = f" ({len(errors) - 1} more in this file)" if len(errors) > 1 else ""
    return f"{where}: {_describe(first, type_)}.{more}"


def _describe(error: ErrorDetails, type_: type) -> str:
    loc = [part for part in error["loc"][1:] if part != KEY_PART]
    key = _dotted(loc)
    if error["type"] == "missing":
        return f"{key} is missing"
    if error["type"] == UNKNOWN_KEY:
        return f"unknown key {key}{_hint(str(loc[-1]), type_, loc[:-1])}"
    expected = error.get("ctx", {}).get("expected")
    allowed = expected or ALLOWED.get(error["type"]) or error["msg"]
    return f"{key} is {_received(error)}; allowed: {allowed}"


def _received(error: ErrorDetails) -> str:
    """What was received; only its type and size where keys of servers are configured.

    So, too, where the whole document is a text: then it is no configuration, but may be a key file.
    """
    received, loc = error["input"], error["loc"]
    is_hidden = len(loc) == 1 or not SECRET_KEYS.isdisjoint(loc)
    return size_of(received) if is_hidden else described(received)


def _dotted(loc: Sequence[int | str]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).removeprefix(".")


def _hint(name: str, type_: type, loc: Sequence[int | str]) -> str:
    known = [field.name for field in fields(_type_at(type_, loc))]
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"; {guess}allowed: {', '.join(known)}"


def _type_at(type_: Any, loc: Sequence[int | str]) -> Any:
    """The dataclass with the key path `loc` of `type_`."""
    for part in loc:
        if is_dataclass(type_):
            type_ = typing.get_type_hints(type_)[str(part)]
        else:
            type_ = next(arg for arg in reversed(typing.get_args(type_)) if arg is not Ellipsis)
        if isinstance(type_, types.UnionType):
            type_ = next(arg for arg in typing.get_args(type_) if arg is not types.NoneType)
    return type_


def size_of(value: object) -> str:
    """The type and the size of a value, for errors that must not show it."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return f"a text of {counted(len(value), 'character')}"
    if isinstance(value, Mapping):
        return f"a mapping of {counted(len(value), 'key')}"
    return described(value)


def described(value: object) -> str:
    """A received value for an error; of a container only keys or length: it may have a secret."""
    if isinstance(value, Mapping):
        return f"a mapping with keys {', '.join(map(str, value)) or '(none)'}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def refuse_misnamed(path: Path) -> None:
    """Refuse a file beside `path` that somebody took for it: another ending, or other capitals.

    Raises:
        ConfigError: There is one.
    """
    if not path.parent.is_dir():
        return
    names = {f"{path.stem}{ending}" for ending in (".yaml", ".yml", ".json")}
    for other in sorted(path.parent.iterdir()):
        if other.name.lower() in names and other.name != path.name:
            raise ConfigError(f"{other}: is not read; its name must be {path.name}.")
