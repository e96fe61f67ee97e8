"""The JSON objects in a text that a model wrote: prose and code fences around them do not matter.

The number of parsing attempts is bounded.
"""

import ast
import json
import re
from typing import Any

MAX_ATTEMPTS = 64
MAX_BITS = 1024
"""An integer of more is no value; Python would refuse to write one of 4,300 digits."""
DECODER = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"\{\s{0,80}[\"'}]")
_NO_JSON = object()
_FLAT = re.compile(r"\{'[^{}]{1,4000}\}")


def objects(text: str) -> list[tuple[int, int, Any]]:
    """Begin, end and value of the outermost JSON objects of a text, in order."""
    decoded, end = [], 0
    for match in list(_OBJECT.finditer(text))[-MAX_ATTEMPTS:] if "{" in text else ():
        if match.start() < end:
            continue
        try:
            value, end = DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        decoded.append((match.start(), end, value))
    return decoded or _single_quoted(text)


def _single_quoted(text: str) -> list[tuple[int, int, Any]]:
    """Objects without objects in them, in single quotes, as Python prints them."""
    decoded = []
    for match in list(_FLAT.finditer(text))[-MAX_ATTEMPTS:] if "{'" in text else ():
        try:
            value = ast.literal_eval(match[0])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if (taken := _as_json(value)) is not _NO_JSON:
            decoded.append((match.start(), match.end(), taken))
    return decoded


def _as_json(value: Any) -> Any:
    """A value of Python's notation as JSON would have it; `_NO_JSON` for what JSON has not.

    That is bytes, sets, complex numbers, `...`, and integers that are no number of anything.
    """
    if isinstance(value, dict):
        members = {str(name): _as_json(inner) for name, inner in value.items()}
        are_names = all(isinstance(name, str | int | float) for name in value)
        return members if are_names and _NO_JSON not in members.values() else _NO_JSON
    if isinstance(value, list):
        items = list(map(_as_json, value))
        return _NO_JSON if _NO_JSON in items else items
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return _NO_JSON
    return value if value is None or isinstance(value, str | int | float) else _NO_JSON
