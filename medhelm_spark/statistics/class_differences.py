"""What two models differ by in 1,000 cases at a prevalence: missed cases, false alarms, cost.

A difference within a class, first model less second on the same cases, has the interval of
`statistics.paired`. At a prevalence p the differences of 1,000 cases are

    missed         1000 p (mean of m1 - m2 over the positive cases), m = 1 where a model missed one
    false alarms   1000 (1 - p) (mean of f1 - f2 over the negative cases), f = 1 for a false alarm
    cost           1000 (p D1 + (1 - p) D0), D the mean difference of the declared costs in a class

The interval of the sum has MOVER's form (Zou and Donner 2008), which takes the cases of the two
classes as independent.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import SHARE, MetricInfo
from medhelm_spark.statistics.paired import PairedDifference, paired_difference
from medhelm_spark.statistics.two_by_two import (
    CASES,
    POSITIVE,
    ClassAnswers,
    Estimated,
    scale_of_costs,
    summed,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassDifference:
    """What a first model has more of than a second, in CASES cases; None of what has no value."""

    num_positive: int
    """The positive cases that both answered, of which `missed` is the mean."""
    num_negative: int
    missed: Estimated | None
    false_alarms: Estimated | None
    cost: Estimated | None
    """None without declared costs."""

    def turned(self) -> "ClassDifference":
        """What the second model has more of than the first."""
        return replace(
            self,
            missed=self.missed and self.missed.less_from(0.0),
            false_alarms=self.false_alarms and self.false_alarms.less_from(0.0),
            cost=self.cost and self.cost.less_from(0.0),
        )


def difference_at(
    first: ClassAnswers, second: ClassAnswers, prevalence: float
) -> ClassDifference | None:
    """The differences of two models that answered the same cases; None without a common case.

    Args:
        first: the answers of one model, one for each case.
        second: those of the other one, with the same cases in the same order.
        prevalence: between 0 and 1, taken as known.
    """
    is_positive = first.is_positive
    if not len(is_positive) or not np.array_equal(is_positive, second.is_positive):
        return None
    found, missing = CASES * prevalence, CASES * (1 - prevalence)
    alarms = [(each.predicted == POSITIVE).astype(np.float64) for each in (first, second)]
    missed = [1 - each for each in alarms]
    return ClassDifference(
        num_positive=int(is_positive.sum()),
        num_negative=int((~is_positive).sum()),
        missed=_within(first, is_positive, missed, SHARE, found),
        false_alarms=_within(first, ~is_positive, alarms, SHARE, missing),
        cost=_cost(first, second, found, missing),
    )


def missed_difference(first: ClassAnswers, second: ClassAnswers) -> PairedDifference:
    """The share of the positive cases that the first model missed, less that of the second.

    Arguments as in `difference_at`.
    """
    missed = [(each.predicted != POSITIVE).astype(np.float64) for each in (first, second)]
    return _paired(first, first.is_positive, missed, SHARE)


def _cost(
    first: ClassAnswers, second: ClassAnswers, found: float, missing: float
) -> Estimated | None:
    if first.costs is None or second.costs is None:
        return None
    values = [first.costs.of_answers, second.costs.of_answers]
    scales = [
        scale_of_costs(is_positive, first.costs, second.costs) for is_positive in (True, False)
    ]
    positive = _within(first, first.is_positive, values, scales[0], found)
    negative = _within(first, ~first.is_positive, values, scales[1], missing)
    return summed(positive, negative) if positive and negative else None


def _within(
    answers: ClassAnswers,
    is_counted: NDArray[np.bool_],
    values: Iterable[NDArray[np.float64]],
    scale: MetricInfo,
    factor: float,
) -> Estimated | None:
    """The mean difference over the counted cases, times a factor; None without one."""
    difference = _paired(answers, is_counted, values, scale)
    if difference.mean_difference is None:
        return None
    return Estimated(difference.mean_difference, difference.ci_low, difference.ci_high).times(
        factor
    )


def _paired(
    answers: ClassAnswers,
    is_counted: NDArray[np.bool_],
    values: Iterable[NDArray[np.float64]],
    scale: MetricInfo,
) -> PairedDifference:
    """The paired difference over the counted cases."""
    ours, theirs = (each[is_counted] for each in values)
    labels = None if answers.clusters is None else answers.clusters[is_counted]
    return paired_difference(ours, theirs, scale, labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """The cost of CASES cases as a line over the prevalence.

    A model, or a rule that gives every case the same answer, costs
    CASES (p `in_positive` + (1 - p) `in_negative`).
    """

    name: str
    in_positive: float
    """The mean cost of an answer to a positive case."""
    in_negative: float

    def at(self, prevalence: float) -> float:
        """The mean cost of an answer at a prevalence."""
        return prevalence * self.in_positive + (1 - prevalence) * self.in_negative


@dataclass(frozen=True, slots=True, kw_only=True)
class CheapestRange:
    """The prevalences from `low` to `high`, shares of 1, between which a line is the lowest."""

    name: str
    low: float
    high: float


def cheapest_ranges(lines: Sequence[CostLine]) -> list[CheapestRange]:
    """Which line is the lowest at which prevalence, from 0 to 1; of equal lines the first given.

    >>> model = CostLine(name="model", in_positive=1.0, in_negative=0.1)
    >>> never = CostLine(name="always negative", in_positive=10.0, in_negative=0.0)
    >>> [(each.name, round(each.high, 4)) for each in cheapest_ranges([model, never])]
    [('always negative', 0.011), ('model', 1.0)]
    """
    turns = sorted({0.0, 1.0, *_crossings(lines)})
    found: list[CheapestRange] = []
    for low, high in pairwise(turns):
        name = min(lines, key=lambda line: line.at((low + high) / 2)).name
        if found and found[-1].name == name:
            low = found.pop().low
        found.append(CheapestRange(name=name, low=low, high=high))
    return found


def _crossings(lines: Sequence[CostLine]) -> Iterator[float]:
    """The prevalences between 0 and 1 at which two lines meet."""
    for one, other in combinations(lines, 2):
        at_none = one.in_negative - other.in_negative
        at_all = one.in_positive - other.in_positive
        if at_none * at_all < 0:
            yield at_none / (at_none - at_all)
