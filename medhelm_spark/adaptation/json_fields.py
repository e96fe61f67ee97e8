"""The JSON objects in a model's text, and the values under a name in them.

Prose and code fences around an object do not matter. An object that was cut off, or is not valid
JSON, still gives the values that are complete. The number of parsing attempts is bounded.
"""

import re
from collections.abc import Iterator
from typing import Any

from medhelm_spark.json_text import DECODER, MAX_ATTEMPTS, objects, written

_KEY = re.compile(r"[\"']([^\"'\n{}:,]{1,60})[\"']\s{0,20}:\s{0,20}")
_SINGLE_QUOTED = re.compile(r"'((?:[^'\n\\]|\\.|'(?!\s*[,}\]]))*)'")
_PLACEHOLDER = re.compile(
    r"\s*(?:<[^<>]*>|\[[a-z][\w ,./|-]*\]|\{\w*\}|\.{2,}|…|_+|\?+"
    r"|[a-z](?:\s?[/|]\s?[a-z]){2,25}|\w+(?:\s?\|\s?\w+)+|yes/no(?:/maybe)?"
    r"|(?:your|the|an?|insert) [\w ]{0,40}(?:answer|choice|letter|option|here)"
    r"|(?:answer|choice|letter|option|string)(?:[ _]here)?)\s*",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\bformat|\be\.g|\bexamples?|\bschema|\btemplate|\bsuch as|\blike this)"
    r"\b[^.!?\n{}]{0,60}(?:\n\s{0,4})?(?:```\w*\s{0,4})?\Z",
    re.IGNORECASE,
)


def field(text: str, path: str) -> str | None:
    """The value under the dotted path in the last JSON object that has it.

    Names match without case and without `_`, `-` and spaces; an exactly equal name goes first. A
    placeholder (`<answer>`, `...`, `A/B/C`) is no value. An object that the words before it call an
    example counts only where there is no other.
    """
    values = [
        (value, _is_example(text, at))
        for at, _, object_ in objects(text)
        if (value := _at_path(object_, path)) is not None
    ]
    if not values:
        name = _spelling(path.rpartition(".")[2])
        values = [
            (value, _is_example(text, at))
            for at, key, value in loose_values(text)
            if _spelling(key) == name
        ]
    values = [pair for pair in values if not _PLACEHOLDER.fullmatch(pair[0])]
    real = [value for value, is_example in values if not is_example]
    return real[-1] if real else values[-1][0] if values else None


def loose_values(text: str) -> Iterator[tuple[int, str, str]]:
    """Position, name and value of what looks like a member, for texts where no object parses."""
    for match in list(_KEY.finditer(text))[-MAX_ATTEMPTS:]:
        if (value := _value_at(text, match.end())) is not None:
            yield match.start(), match[1], value


def parsed_value(text: str) -> dict[str, Any] | list[Any] | None:
    """The value of a text that is a JSON list or object; None for any other text."""
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def without_examples(text: str, results: list[tuple[int, str]]) -> list[str]:
    """The results, by the position of their object, that are no examples; else all."""
    return [result for at, result in results if not _is_example(text, at)] or [
        result for _, result in results
    ]


def _is_example(text: str, at: int) -> bool:
    return _EXAMPLE.search(text[max(0, at - 120) : at]) is not None


def _spelling(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def _at_path(value: Any, path: str) -> str | None:
    if isinstance(value, dict) and path in value:
        return as_text(value[path])
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        same = [key for key in value if _spelling(key) == _spelling(name)]
        if not same:
            return None
        value = value[name if name in value else same[-1]]
    return as_text(value)


def _value_at(text: str, at: int) -> str | None:
    try:
        return as_text(DECODER.raw_decode(text, at)[0])
    except (ValueError, RecursionError):
        match = _SINGLE_QUOTED.match(text, at)
        return match[1] if match else None


def as_text(value: Any) -> str | None:
    """A JSON value as text; None for null, and for one that is nested too deeply."""
    if value is None or isinstance(value, str):
        return value
    try:
        return written(value)
    except RecursionError:
        return None
