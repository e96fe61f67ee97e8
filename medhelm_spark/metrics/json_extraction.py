"""JSON extraction: the fields of an object that a model was asked for, against the reference's.

The reference is a JSON object; of the answer its last outermost JSON object counts, prose and code
fences around it do not matter. An object that is broken or cut off does not count.
Compared are the fields that params["fields"] names, as `drug|dose`, else the reference's; all
others of the answer are ignored. Names of fields are compared without case, spaces, `_` and `-`.

A field has items: the members of a list, the fields of an object, or its one value. Null, an
empty text and an absent field have none. Texts are compared without case and runs of white space,
numbers by value, `5` in quotes or not. The order of a list does not matter.

Per instance, of all compared fields and of each that params name (`json_exact_match[drug]`):

- `json_exact_match`: 1 where all items are the same, else 0.
- `json_unreadable`: 1 where the answer has no JSON object; it is wrong in every field then.

Of a run, with the items of all instances together, w wanted by the references, g given by the
answers, and r of them right (micro average; Manning, Raghavan and Schuetze 2008, chapter 13):

    json_precision = r / g        json_recall = r / w        json_f1 = 2 r / (g + w)

without a value where the denominator is 0. Intervals rest on pseudo-values.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.json_text import objects
from medhelm_spark.metrics.metric import (
    Columns,
    Metric,
    Params,
    RunMetric,
    ScoreRow,
    Weights,
    likeliest_text,
    scored,
    unscored,
)
from medhelm_spark.metrics.quantity import MINUS

MAX_FIELDS = 50
_ARGS = ("fields",)
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,20})?(?:e[-+]?[0-9]{1,2})?")
"""A text that is a number, and no code: `007` is not 7."""

Items = Counter[str]
_NONE: Items = Counter()


def _fields(params: Params) -> list[str]:
    """The fields that params name, as they are given."""
    return [name.strip() for name in params.get("fields", "").split("|") if name.strip()]


def _check(params: Params) -> None:
    for name in params:
        if name not in _ARGS:
            raise UnknownNameError("argument", name, _ARGS, where="json_extraction")
    names = list(map(_spelling, _fields(params)))
    is_empty = "fields" in params and not names
    if is_empty or "" in names or len(set(names)) < len(names) or len(names) > MAX_FIELDS:
        raise ConfigError(
            f"json_extraction: fields is {params['fields']!r}; allowed: up to {MAX_FIELDS} names "
            "parted by |, each unlike the others without case, spaces, _ and -."
        )


def _spelling(name: object) -> str:
    """A field's name as names are compared; what is read in Python's notation may be no text."""
    return re.sub(r"[\s_-]", "", str(name)).casefold()


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # A number's own digits may be more than those of its value.
    text = " ".join(str(float(value) if isinstance(value, float) else value).split()).casefold()
    signed = text.translate(MINUS)
    if not _NUMBER.fullmatch(signed):
        return text
    number = Decimal(signed)
    return f"{number.normalize():f}" if number else "0"


def _items(value: Any, path: str = "") -> Iterator[str]:
    """The items of a field's value, those of an object's fields with their names before them.

    Each is hashed, and none is longer than its path and a hash: lists of objects in lists of
    objects would double at every level.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _items(inner, f"{path}{_spelling(name)}.")
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):  # one item: its fields belong together
                yield digest(path + json.dumps(sorted(_items(inner))))
            else:
                yield from _items(inner, path)
    elif value is not None and str(value).strip():
        yield digest(path + _scalar(value))


@lru_cache(maxsize=4096)
def _reference(text: str) -> Mapping[str, Items] | None:
    """The items of a reference by field; None where it is no JSON object."""
    try:
        value = json.loads(text)
        return _by_field(value) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _by_field(value: Mapping[str, Any]) -> dict[str, Items]:
    return {_spelling(name): Counter(_items(inner)) for name, inner in value.items()}


def _answer(text: str) -> Mapping[str, Items] | None:
    """The items of an answer by field; None where it has no object, or one nested too deeply."""
    read = [value for _, _, value in objects(text) if isinstance(value, dict)]
    try:
        return _by_field(read[-1]) if read else None
    except RecursionError:
        return None


def _counts(predicted: Items, expected: Items) -> tuple[float, float, float]:
    return float((predicted & expected).total()), float(predicted.total()), float(expected.total())


def _row(state: RequestState, names: Sequence[str], stats: Sequence[str]) -> ScoreRow:
    if not state.completions:
        return unscored(stats, ScoreStatus.NO_ANSWER)
    right = next((ref.text for ref in state.references if ref.is_correct), None)
    reference = None if right is None else _reference(right)
    if reference is None:
        return unscored(stats, ScoreStatus.NO_REFERENCE)
    answer = _answer(likeliest_text(state.completions))
    is_read, fields = answer is not None, answer or {}
    compared = [
        (fields.get(name, _NONE), reference.get(name, _NONE)) for name in names or reference
    ]
    # Items of two fields are two items, whatever their values.
    totals = (
        sum(part)
        for part in zip((0.0, 0.0, 0.0), *(_counts(*pair) for pair in compared), strict=True)
    )
    is_same = is_read and all(predicted == expected for predicted, expected in compared)
    values = [float(is_same), float(not is_read), *totals]
    for predicted, expected in compared if names else ():
        values += [float(is_read and predicted == expected), *_counts(predicted, expected)]
    return scored(stats, values)


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    names = list(map(_spelling, _fields(params)))
    stats = [info.name for info in JSON_FIELDS.emitted(params)]
    return [_row(state, names, stats) for state in states]


_MATCH = MetricInfo(
    name="json_exact_match",
    display_name="JSON exact match",
    description="Share of answers in which all compared fields are the reference's.",
)
_UNREADABLE = MetricInfo(
    name="json_unreadable",
    display_name="No JSON",
    lower_is_better=True,
    description="Share of answers without a JSON object.",
)
_CODES = tuple(
    MetricInfo(
        name=f"json_items_{kind}",
        display_name=f"Items {kind}",
        lower_is_better=None,
        maximum=None,
        has_mean=False,
        description="Items of the compared fields.",
    )
    for kind in ("right", "given", "wanted")
)


def _of(info: MetricInfo, field: str) -> MetricInfo:
    """The stat of one field."""
    name, title = f"{info.name}[{field}]", f"{info.display_name} of {field}"
    return replace(info, name=name, display_name=title)


def _per_instance(params: Params) -> tuple[MetricInfo, ...]:
    own = [_of(info, field) for field in _fields(params) for info in (_MATCH, *_CODES)]
    return (_MATCH, _UNREADABLE, *_CODES, *own)


JSON_FIELDS = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(_MATCH, _UNREADABLE, *_CODES),
    version="3",
    renamed=_per_instance,
    preflight=_check,
)


def _reads(params: Params) -> tuple[str, ...]:
    names = [_of(info, field).name for field in _fields(params) for info in _CODES]
    return (*(info.name for info in _CODES), *names)


def _is_right(columns: Columns) -> NDArray[np.bool_]:
    """Whether all predicted items are right, and no expected item is missing."""
    right, others = columns[:, :1], columns[:, 1 : len(_CODES)]
    is_all: NDArray[np.bool_] = (others == right).all(axis=1)
    return is_all


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _measured(columns: Columns, weights: Weights, params: Params) -> list[float | None]:
    totals = [float(total) for total in weights @ columns]
    values: list[float | None] = []
    for start in range(0, len(totals), len(_CODES)):
        right, predicted, expected = totals[start : start + len(_CODES)]
        values += [
            _ratio(right, predicted),
            _ratio(right, expected),
            _ratio(2 * right, predicted + expected),
        ]
    return values


_SCORES = (
    MetricInfo(
        name="json_precision",
        display_name="JSON precision",
        description="Share of the given items that are right.",
    ),
    MetricInfo(
        name="json_recall",
        display_name="JSON recall",
        description="Share of the reference's items that were given.",
    ),
    MetricInfo(
        name="json_f1",
        display_name="JSON F1",
        description="Harmonic mean of precision and recall of items.",
    ),
)

JSON_EXTRACTION = RunMetric(
    fn=_measured,
    reads=_reads,
    emits=_SCORES,
    version="1",
    is_right=_is_right,
    more=lambda params: tuple(_of(info, field) for field in _fields(params) for info in _SCORES),
    preflight=_check,
)

METRICS = {"json_fields": JSON_FIELDS}

RUN_METRICS = {"json_extraction": JSON_EXTRACTION}
