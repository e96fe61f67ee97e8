"""How right a JSON object calls each option: `{"A": false, "B": true}`, or a list of objects."""

import re
from typing import Any

from medhelm_spark.adaptation.json_names import ANSWER, EXPLAINING, words_of
from medhelm_spark.adaptation.options import Options, option_text

CALLED = re.compile(r"\A(?:option|choice|answer|statement)[ _-]", re.I)
_RIGHT = re.compile(
    r"\W*(?:correct|right|yes|true|best|selected|chosen|accepted?|s[ií]|oui|ja)\b|\W*[✓✔✅☑]", re.I
)
_JUDGED = re.compile(rf"{_RIGHT.pattern}|\W*(?:in|not )?correct|\W*(?:wrong|false|no)\b", re.I)
_HIGHEST = 1e300
"""A whole number in JSON may be larger than any float."""
_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,12})?|\.\d{1,12})\s*(%?)\s*")
_TITLE = frozenset({"option", "letter", "label", "choice", "answer", "id", "key", "text", "name"})
_JUDGING = frozenset(
    {
        "correct",
        "right",
        "selected",
        "chosen",
        "answer",
        "verdict",
        "probability",
        "best",
        "score",
        "prob",
        "likelihood",
    }
)


def marks_of(value: dict[str, Any], options: Options) -> dict[str, float]:
    """How right an object calls each option that its names are; empty where they are others."""
    results = {name: options.whole(name) or options.whole(CALLED.sub("", name)) for name in value}
    if not value or None in results.values():
        return {}
    if len(value) == 1:
        ((name, only),) = value.items()
        if isinstance(only, str) and option_text(only) == _own_text(name, options):
            return {results[name] or "": 1.0}
    elif all(
        isinstance(inner, str) and option_text(inner) == _own_text(name, options)
        for name, inner in value.items()
    ):
        return dict.fromkeys((result or "" for result in results.values()), 0.0)
    return _weighed([(results[name] or "", inner) for name, inner in value.items()])


def marks_all(value: dict[str, Any], options: Options) -> bool:
    """Whether an object's names are all options, and one of them is true, whatever it is called."""
    are_marks = all(isinstance(inner, bool) for inner in value.values())
    results = {options.whole(name) for name in value}
    every = {*options.labels.values()} or {*options.texts.values()}
    return are_marks and results == every and sum(value.values()) == 1


def _own_text(name: str, options: Options) -> str | None:
    return options.text_by_label.get(name.strip(" .()").upper())


def marks_of_list(values: list[Any], options: Options) -> dict[str, float]:
    """The same of a list of objects, each with an option and a mark."""
    pairs = []
    for value in values:
        if not isinstance(value, dict) or len(value) < 2:
            return {}
        title = [
            (name, result)
            for name, inner in value.items()
            if name.lower() in _TITLE
            and isinstance(inner, str)
            and (result := options.whole(inner))
        ]
        if not title:
            return {}
        name, result = title[0]
        others = {key: inner for key, inner in value.items() if key != name}
        if _mark(others) is None:
            return {}
        pairs.append((result, others))
    return _weighed(pairs)


def is_judged(value: dict[str, Any]) -> bool:
    """Whether an object is about one option and calls it right or wrong."""
    has_title = any(name.lower() in _TITLE - ANSWER for name in value)
    return has_title and any(
        set(words_of(name)) & (_JUDGING - ANSWER)
        and (isinstance(inner, bool) or (isinstance(inner, str) and _JUDGED.match(inner)))
        for name, inner in value.items()
    )


def _weighed(pairs: list[tuple[str, Any]]) -> dict[str, float]:
    marks = {result: _mark(inner) for result, inner in pairs}
    numbers = [mark for mark in marks.values() if mark is not None]
    if sum(numbers) > 1.01 and max(numbers) > 1 and not 99 <= sum(numbers) <= 101:
        return dict.fromkeys(marks, 0.0)  # scores, and not probabilities
    return {result: mark or 0.0 for result, mark in marks.items()}


def _mark(value: Any) -> float | None:
    """A mark as a number, the higher the more right; None for what is no mark."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(min(value, _HIGHEST)) if value >= 0 else None
    if isinstance(value, str):
        if number := _NUMBER.fullmatch(value):
            return float(number[1]) / (100 if number[2] else 1)
        return 1.0 if _RIGHT.match(value) else 0.0
    if isinstance(value, dict):
        judged = [
            mark
            for name, inner in value.items()
            if not EXPLAINING.search(name.lower())
            and (isinstance(inner, str) or set(words_of(name)) & _JUDGING)
            and (mark := _mark(inner)) is not None
        ]
        return max(judged) if judged else None
    return None


def only_right(marks: dict[str, float]) -> str | None:
    """The only option with the highest mark."""
    highest = max(marks.values())
    right = [result for result, mark in marks.items() if mark == highest and mark > 0]
    return right[0] if len(right) == 1 else None
