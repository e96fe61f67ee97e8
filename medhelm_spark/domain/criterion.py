"""Criterion: one thing that a rubric asks of an answer, and what a judge's verdict on it is worth.

A criterion has a scale of numbers or a list of classes. A verdict on classes is stored as the index
of the class in the list; its score is in a table, by the class and by a field of the instance:
a refusal is right for a harmful request and wrong for a harmless one.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from medhelm_spark.domain.ids import LATER, canonical_json

ELSE = "else"
"""The row of a table of scores for every value of the field that has no row of its own."""

SHARE_OF_LOW = 0.25
"""The share of a scale, from its bad end, that is low where a criterion has no share of its own."""


class Direction(StrEnum):
    """Which end of a criterion's scale is good."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A value of the scale, or a class, and what it means."""

    value: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """A row of a criterion's table: the scores of its classes, in their order.

    `when` is the value of the instance's field, or ELSE; a score is None where the class leaves an
    answer unscored.
    """

    when: str
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion of a rubric; `keys` are the fields a verdict must give for it.

    With `whole` the rubric asks for whole numbers, and a verdict with another one is none. With
    `classes` the scale is that of `table`, whose rows are chosen by the field `scored_by` of the
    instance's extra data.
    """

    name: str
    keys: tuple[str, ...] = ("score", "explanation")
    minimum: float = 1.0
    maximum: float = 5.0
    whole: bool = False
    direction: Direction = field(default=Direction.HIGHER, metadata=LATER)
    weight: float = field(default=1.0, metadata=LATER)
    low: float | None = field(default=None, metadata=LATER)
    """From here to the bad end a verdict is low; None: the last quarter of the scale."""
    question: str = field(default="", metadata=LATER)
    anchors: tuple[Anchor, ...] = field(default=(), metadata=LATER)
    classes: tuple[str, ...] = field(default=(), metadata=LATER)
    scored_by: str = field(default="", metadata=LATER)
    table: tuple[ClassScores, ...] = field(default=(), metadata=LATER)

    @property
    def is_typed(self) -> bool:
        """Whether it states more of a verdict's score than a scale."""
        stated = (self.direction is Direction.LOWER, self.weight != 1.0, self.low is not None)
        return any(stated) or bool(self.classes)

    @property
    def worst(self) -> float:
        """The bad end of the scale."""
        return self.maximum if self.direction is Direction.LOWER else self.minimum

    @property
    def low_at(self) -> float:
        """The value from which on, towards the bad end, a verdict is low."""
        if self.low is not None:
            return self.low
        width = SHARE_OF_LOW * (self.maximum - self.minimum)
        return self.maximum - width if self.direction is Direction.LOWER else self.minimum + width

    def is_low(self, score: float) -> bool:
        """Whether a score lies between `low_at` and the bad end."""
        return score >= self.low_at if self.direction is Direction.LOWER else score <= self.low_at

    def score(self, verdict: float, fields: Mapping[str, str]) -> float | None:
        """The score of a verdict on the criterion's own scale; None where a class leaves it open.

        Args:
            verdict: the number, or the index of the class.
            fields: the instance's extra data.
        """
        if not self.classes:
            return verdict
        rows = {row.when: row.scores for row in self.table}
        row = rows.get(fields.get(self.scored_by, ""), rows.get(ELSE))
        return None if row is None else row[int(verdict)]

    def upwards(self, score: float) -> float:
        """The score on the same scale with its good end at the top."""
        if self.direction is Direction.LOWER:
            return self.minimum + self.maximum - score
        return score


def scale_of(criteria: Sequence[Criterion]) -> tuple[float, float]:
    """The scale of a mean of criteria: their own where all have the same, else 0 to 1."""
    scales = {(each.minimum, each.maximum) for each in criteria}
    return scales.pop() if len(scales) == 1 else (0.0, 1.0)


def mean_of_criteria(
    criteria: Sequence[Criterion], verdict: Mapping[str, float], fields: Mapping[str, str]
) -> float | None:
    """The weighted mean of one verdict's criteria, high for good; None where one has no score.

    >>> plain = [Criterion(name="accuracy"), Criterion(name="clarity")]
    >>> mean_of_criteria(plain, {"accuracy": 1.0, "clarity": 5.0}, {})
    3.0
    """
    low, high = scale_of(criteria)
    parts = []
    for each in criteria:
        score = each.score(verdict[each.name], fields) if each.name in verdict else None
        if score is None:
            return None
        share = each.upwards(score)
        if (each.minimum, each.maximum) != (low, high):
            share = (share - each.minimum) / (each.maximum - each.minimum)
        parts.append(each.weight * share)
    return math.fsum(parts) / math.fsum(each.weight for each in criteria)


def criteria_text(criteria: Iterable[Criterion]) -> str:
    """The criteria as an argument of a metric: what their scores follow from, without the texts."""
    return canonical_json(
        [
            {
                "name": each.name,
                "minimum": each.minimum,
                "maximum": each.maximum,
                "direction": each.direction,
                "weight": each.weight,
                "low": each.low,
                "classes": each.classes,
                "scored_by": each.scored_by,
                "table": [[row.when, row.scores] for row in each.table],
            }
            for each in criteria
        ]
    )


def criteria_of(text: str) -> tuple[Criterion, ...]:
    """The criteria in what `criteria_text` made; none of an empty text."""
    return tuple(
        Criterion(
            name=each["name"],
            minimum=each["minimum"],
            maximum=each["maximum"],
            direction=Direction(each["direction"]),
            weight=each["weight"],
            low=each["low"],
            classes=tuple(each["classes"]),
            scored_by=each["scored_by"],
            table=tuple(
                ClassScores(when=when, scores=tuple(scores)) for when, scores in each["table"]
            ),
        )
        for each in json.loads(text or "[]")
    )
