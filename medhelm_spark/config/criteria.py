"""The criteria of a rubric's front matter: scales of numbers, or classes with a table of scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.domain.criterion import ELSE, Anchor, ClassScores, Criterion, Direction
from medhelm_spark.errors import ConfigError, UnknownNameError

SCORE, CLASS = "score", "class"
"""The key of a verdict for the number, or the class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionEntry:
    """A criterion as a file states it."""

    name: str
    keys: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    direction: Direction = Direction.HIGHER
    weight: float = 1.0
    low: float | None = None
    question: str = ""
    anchors: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    scored_by: str = ""
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


def criterion_of(entry: CriterionEntry, where: str) -> Criterion:
    """The criterion that an entry states.

    Raises:
        ConfigError: a key does not fit the others.
    """
    where = f"{where}: criterion {entry.name!r}"
    _check_weight(entry, where)
    return _of_classes(entry, where) if _names_classes(entry) else _of_numbers(entry)


def _names_classes(entry: CriterionEntry) -> bool:
    return bool(entry.classes or entry.scored_by or entry.scores)


def _of_numbers(entry: CriterionEntry) -> Criterion:
    usual = Criterion(name=entry.name)
    return Criterion(
        name=entry.name,
        keys=entry.keys or usual.keys,
        minimum=usual.minimum if entry.minimum is None else entry.minimum,
        maximum=usual.maximum if entry.maximum is None else entry.maximum,
        whole=entry.whole,
        direction=entry.direction,
        weight=entry.weight,
        low=entry.low,
        question=entry.question.strip(),
        anchors=_anchors(entry.anchors),
    )


def _of_classes(entry: CriterionEntry, where: str) -> Criterion:
    """A criterion with classes; its scale is that of its table, 0 to 1 where none is stated."""
    for key, is_given in {
        "whole": entry.whole,
        "direction": entry.direction is not Direction.HIGHER,
        "anchors": bool(entry.anchors),
    }.items():
        if is_given:
            raise ConfigError(
                f"{where}: {key} is for a scale of numbers; the table `scores` has the score of "
                "each class, and `classes` its meaning."
            )
    if len(entry.classes) < 2:
        raise ConfigError(f"{where}: classes has {len(entry.classes)}; allowed: two or more.")
    names = tuple(entry.classes)
    if len({name.casefold() for name in names}) < len(names):
        raise ConfigError(f"{where}: two classes differ in letter case alone: {', '.join(names)}.")
    low, high = entry.minimum or 0.0, 1.0 if entry.maximum is None else entry.maximum
    return Criterion(
        name=entry.name,
        keys=entry.keys or (CLASS, "explanation"),
        minimum=low,
        maximum=high,
        weight=entry.weight,
        low=entry.low,
        question=entry.question.strip(),
        anchors=_anchors(entry.classes),
        classes=names,
        scored_by=entry.scored_by,
        table=_table(entry, names, (low, high), where),
    )


def _anchors(meanings: Mapping[str, str]) -> tuple[Anchor, ...]:
    return tuple(Anchor(value=value, meaning=meaning) for value, meaning in meanings.items())


def _table(
    entry: CriterionEntry, names: Sequence[str], scale: tuple[float, float], where: str
) -> tuple[ClassScores, ...]:
    rows = tuple(entry.scores)
    if not rows:
        raise ConfigError(
            f"{where}: scores is missing; allowed: a row of scores for each value of the "
            f"instance's field `scored_by`, or one row {ELSE!r}."
        )
    if not entry.scored_by and set(rows) != {ELSE}:
        raise ConfigError(
            f"{where}: scored_by is missing: it names the instance's field whose values are "
            f"{', '.join(rows)}; allowed without it: one row {ELSE!r}."
        )
    if entry.scored_by and set(rows) == {ELSE}:
        raise ConfigError(
            f"{where}: scored_by is {entry.scored_by!r}, and no row of scores is of one of its "
            "values."
        )
    return tuple(
        ClassScores(when=when, scores=_row(row, names, scale, f"{where}: scores.{when}"))
        for when, row in entry.scores.items()
    )


def _row(
    row: Mapping[str, float | None], names: Sequence[str], scale: tuple[float, float], where: str
) -> tuple[float | None, ...]:
    for name in row:
        if name not in names:
            raise UnknownNameError("class", name, names, where=where)
    if lacking := [name for name in names if name not in row]:
        raise ConfigError(
            f"{where} lacks {', '.join(lacking)}; allowed: a score for each class, null for one "
            "that leaves an answer unscored."
        )
    low, high = scale
    for name, score in row.items():
        if score is not None and not low <= score <= high:
            raise ConfigError(
                f"{where}.{name} is {score:g}; allowed: {low:g} to {high:g}, or null."
            )
    return tuple(row[name] for name in names)


def _check_weight(entry: CriterionEntry, where: str) -> None:
    if not (math.isfinite(entry.weight) and entry.weight > 0):
        raise ConfigError(f"{where}: weight is {entry.weight:g}; allowed: more than 0.")


def check_scale(criterion: Criterion, where: str) -> None:
    """Refuse keys, a scale, `low` or anchors that do not fit each other.

    Raises:
        ConfigError: it begins with `where`.
    """
    key = CLASS if criterion.classes else SCORE
    if key not in criterion.keys:
        raise ConfigError(f"{where} has no key {key!r} (keys: {', '.join(criterion.keys)}).")
    low, high = criterion.minimum, criterion.maximum
    if not low < high:
        raise ConfigError(
            f"{where} has the scale {low:g} to {high:g}; the minimum must be the smaller."
        )
    if criterion.low is not None and not (
        low <= criterion.low <= high
        and criterion.is_low(criterion.worst)
        and criterion.low != (low if criterion.direction is Direction.LOWER else high)
    ):
        raise ConfigError(
            f"{where}: low is {criterion.low:g}; allowed: a value of the scale {low:g} to {high:g} "
            "that is not its good end."
        )
    for anchor in () if criterion.classes else criterion.anchors:
        if not _is_on(anchor.value, criterion):
            kind = "whole numbers" if criterion.whole else "numbers"
            raise ConfigError(
                f"{where}: anchors has {anchor.value!r}; allowed: {kind}, {low:g} to {high:g}."
            )


def _is_on(value: str, criterion: Criterion) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    is_whole = number.is_integer() or not criterion.whole
    return criterion.minimum <= number <= criterion.maximum and is_whole


def shown_to_judges(criteria: Sequence[Criterion]) -> str:
    """The criteria as a prompt has them: name, question, and a line for each anchor or class."""
    return "\n\n".join(_paragraph(each) for each in criteria)


def _paragraph(criterion: Criterion) -> str:
    if criterion.classes:
        scale = f"one of {', '.join(criterion.classes)}"
    else:
        kind = "whole number" if criterion.whole else "number"
        scale = f"{kind} from {criterion.minimum:g} to {criterion.maximum:g}"
        scale += ", lower is better" if criterion.direction is Direction.LOWER else ""
    head = f"{criterion.name}: {criterion.question} ({scale})".replace(":  (", ": (")
    return "\n".join([head, *(f"{each.value}: {each.meaning}" for each in criterion.anchors)])
