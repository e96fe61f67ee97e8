"""The JSON objects in a text that a model wrote: prose and code fences around them do not matter.

One pass over the text finds where objects begin and end, and the number of parsing attempts is
bounded.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

MAX_ATTEMPTS = 64
MAX_BITS = 1024
"""An integer of more is no value; Python would refuse to write one of 4,300 digits."""


class Number(float):
    """A decimal number as it was written: 7.50 is not 7.5 where texts are compared."""

    def __new__(cls, written: str) -> "Number":
        number = super().__new__(cls, written)
        number.written = written
        return number

    written: str

    def __neg__(self) -> "Number":
        return Number(f"-{self.written}")


DECODER = json.JSONDecoder(strict=False, parse_float=Number)
_NO_JSON = object()
_DECIMAL = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?", re.IGNORECASE)
_LONGEST_OF_PYTHON = 16_000
_ANEW = re.compile(r"\n(?=\{)")
_BEGIN = re.compile(r"\{\s{0,80}([\"'}])")
_DOUBLE_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_SINGLE_QUOTED = r"'(?:[^'\\]|\\.|'(?!\s{0,20}[,:}\]]))*+'"
_SIGN = re.compile(rf'{_DOUBLE_QUOTED}|[{{}}"]', re.DOTALL)
_SIGN_OF_PYTHON = re.compile(rf"{_DOUBLE_QUOTED}|{_SINGLE_QUOTED}|[{{}}\"']", re.DOTALL)


def objects(text: str) -> list[tuple[int, int, Any]]:
    """Begin, end and value of the outermost objects of a text, in order: of many the last.

    An object is JSON, or in single quotes, as Python prints it. What is no object as a whole, or
    does not end, gives none: what is in it is a part of something else.
    """
    spans = list(_spans(text))[-MAX_ATTEMPTS:]
    parsed = ((begin, end, _parsed(text[begin:end])) for begin, end in spans)
    return [(begin, end, value) for begin, end, value in parsed if value is not _NO_JSON]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the outermost objects begin and end; quotes have a meaning in objects alone."""
    at = broken = 0
    while begin := _BEGIN.search(text, at):
        end = _end(text, begin.start(), _SIGN_OF_PYTHON if begin[1] == "'" else _SIGN)
        if end:
            at = end
            yield begin.start(), end
            continue
        # It does not end. What begins a line is written anew; all else may be a part of it.
        broken += 1
        anew = _ANEW.search(text, begin.end())
        if not anew or broken > MAX_ATTEMPTS:
            return
        at = anew.end()


def _end(text: str, begin: int, sign: re.Pattern[str]) -> int:
    """Where the object ends that begins there; 0 for one that does not."""
    depth = 0
    for match in sign.finditer(text, begin):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if not depth:
                return match.end()
        elif len(match[0]) == 1:  # a text that does not end
            return 0
    return 0


def _parsed(text: str) -> Any:
    """The value of an object's text; `_NO_JSON` where it has none."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        pass
    if not text[1:].lstrip().startswith("'") or len(text) > _LONGEST_OF_PYTHON:
        return _NO_JSON
    try:
        return _as_json(ast.literal_eval(_with_digits(text)))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_JSON


def _with_digits(text: str) -> ast.Expression:
    """A value in Python's notation, its decimal numbers as they are written."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            written = ast.get_source_segment(text, node) or ""
            node.value = Number(written) if _DECIMAL.fullmatch(written) else node.value
    return tree


def written(value: Any) -> str:
    """A value as JSON, its decimal numbers as they were written."""
    if isinstance(value, Number):
        return value.written
    if isinstance(value, dict):
        members = (f"{json.dumps(k, ensure_ascii=False)}: {written(v)}" for k, v in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return json.dumps(value, ensure_ascii=False)


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
