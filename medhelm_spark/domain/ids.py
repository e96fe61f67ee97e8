"""Content hashes: the only module that makes an id.

An id is 128 bits of BLAKE2b over canonical JSON, as 32 hexadecimal characters, so the same content
has the same id on every machine and in every release.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

ID_BYTES = 16


LATER = {"later": True}
"""Metadata of a dataclass's field that came after the first ids: at its default it is in none."""


def identity_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that count in its id, by name: later ones only where set."""
    always, later = _fields_of(value.__class__)
    identity = {name: getattr(value, name) for name in always}
    for name, default in later:
        if (item := getattr(value, name)) != default:
            identity[name] = item
    return identity


@cache
def _fields_of(kind: type) -> tuple[tuple[str, ...], tuple[tuple[str, Any], ...]]:
    """The names of a dataclass's fields, and its later ones with their defaults.

    Cached, since a release hashes millions of rows.
    """
    fields = dataclasses.fields(kind)
    later = [field for field in fields if field.metadata.get("later")]
    always = tuple(field.name for field in fields if field not in later)
    return always, tuple((field.name, field.default) for field in later)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return identity_of(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"no canonical form for {type(value).__name__}")


# One encoder for all: `json.dumps` with these arguments would build one per call.
_ENCODER = json.JSONEncoder(
    default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False
)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and no escapes; dataclasses and mappings become objects."""
    return _ENCODER.encode(value)


def digest(text: str) -> str:
    """The id of a text. Lone surrogates count, so that any Python string has an id."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).hexdigest()


def content_id(*parts: Any) -> str:
    """The id of a sequence of values.

    >>> content_id("pubmed_qa", "1") == content_id("pubmed_qa", "1")
    True
    >>> content_id("a", "b") == content_id("ab")
    False
    """
    return digest(canonical_json(parts))
