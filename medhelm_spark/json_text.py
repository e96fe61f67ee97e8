"""The JSON objects in a text that a model wrote: prose and code fences around them do not matter.

The number of parsing attempts is bounded.
"""

import ast
import json
import re
from typing import Any

MAX_ATTEMPTS = 64
DECODER = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"\{\s{0,80}[\"'}]")
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
            decoded.append((match.start(), match.end(), ast.literal_eval(match[0])))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return decoded
