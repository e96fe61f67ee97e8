"""Answers to a question with a positive class: two-by-two table, and what 1,000 cases come to.

An answer to a positive or negative case is positive, negative, or neither (an abstention). With P
positive cases, of which TP were answered as positive and FN as negative, and N negative ones, of
which FP were answered as positive and TN as negative:

    true positive rate  TPR = TP / P     false negative rate FNR = FN / P
    true negative rate  TNR = TN / N     false positive rate FPR = FP / N

TPR is the sensitivity, TNR the specificity (Altman and Bland 1994, BMJ 308:1552). Without
abstentions FNR = 1 - TPR and FPR = 1 - TNR. These four are of the model and of the cases within a
class, and not of how many cases are positive. At a prevalence p, which is taken as known:

    PPV = p TPR / (p TPR + (1 - p) FPR)        NPV = (1 - p) TNR / ((1 - p) TNR + p FNR)

by Bayes' theorem (Altman and Bland 1994, BMJ 309:102), and of 1,000 cases are

    missed              1000 p (1 - TPR), the positive that were not answered as positive
    false alarms        1000 (1 - p) FPR, the negative that were answered as positive
    without an answer   1000 (p (P - TP - FN) / P + (1 - p) (N - FP - TN) / N)
    cost                1000 (p C1 + (1 - p) C0), C1 and C0 the mean cost of an answer in a class

At the prevalence P / (P + N) of the data PPV is TP / (TP + FP) and NPV is TN / (TN + FN).

Intervals: Wilson's of a share of the cases of a class, a score interval of a mean cost, with a
cluster-robust standard error where answers are clustered (`statistics.intervals`). PPV and NPV
depend on a ratio of two shares, FPR / TPR and FNR / TNR, whose interval is MOVER-R's from those of
the shares (Donner and Zou 2012; Newcombe 2016); sums over both classes have MOVER's (Zou and Donner
2008). Both take the cases of the two classes as independent.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import SHARE, MetricInfo
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.summary import summarize

CASES = 1000
"""The number of cases of which the missed ones are counted."""

POSITIVE, NEGATIVE, NEITHER = 1, 0, -1
"""Answers."""

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimated:
    """A number with its 95 % interval, whose ends are None where it has none."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> "Estimated":
        """The same in another unit; `factor` is not negative."""
        return Estimated(
            self.value * factor,
            None if self.low is None else self.low * factor,
            None if self.high is None else self.high * factor,
        )

    def less_from(self, whole: float) -> "Estimated":
        """What is left of `whole`."""
        return Estimated(
            whole - self.value,
            None if self.high is None else whole - self.high,
            None if self.low is None else whole - self.low,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Declared costs: of each answer, shape (answers,), of the costliest error, and of rules.

    `costliest` is the cost of the costliest error in the positive and in the negative class: on the
    scale of missed cases the interval of what false alarms cost would be far too wide.
    `always` are, by the answer, the mean costs in the positive and in the negative class of giving
    every case one label that is POSITIVE, or NEGATIVE: a pair for each such label.
    """

    of_answers: NDArray[np.float64]
    costliest: tuple[float, float]
    always: Mapping[int, Sequence[tuple[float, float]]]


def scale_of_costs(is_positive: bool, *costs: Costs) -> MetricInfo:
    """The scale of a mean cost in a class, of the answers of one run or more.

    Where no error in the class costs anything, any scale contains its zeros: the other class's.
    """
    most = max(each.costliest[not is_positive] for each in costs)
    most = most or max(max(each.costliest) for each in costs) or 1.0
    return MetricInfo(name="cost", display_name="Cost", maximum=most)


@dataclass(frozen=True, kw_only=True)
class ClassAnswers:
    """The answers of one run.

    `is_positive` is the class of each case and `predicted` its answer (POSITIVE, NEGATIVE,
    NEITHER), both of shape (answers,). `clusters` has a label for each, None where no two belong
    together.
    """

    is_positive: NDArray[np.bool_]
    predicted: NDArray[np.int64]
    clusters: Labels | None = None
    costs: Costs | None = None

    def count(self, is_positive: bool, answer: int | None = None) -> int:
        """How many cases of a class there are, or got this answer."""
        in_class = self.is_positive == is_positive
        return int(
            in_class.sum() if answer is None else (in_class & (self.predicted == answer)).sum()
        )

    @property
    def prevalence(self) -> float | None:
        """The share of the cases that is positive; None where all are of one class."""
        share = float(self.is_positive.mean()) if len(self.is_positive) else 0.0
        return share if 0 < share < 1 else None

    def only(self, indices: NDArray[np.int64]) -> "ClassAnswers":
        """The answers at these indices, in the order of the indices."""
        costs = self.costs
        return replace(
            self,
            is_positive=self.is_positive[indices],
            predicted=self.predicted[indices],
            clusters=None if self.clusters is None else self.clusters[indices],
            costs=replace(costs, of_answers=costs.of_answers[indices]) if costs else None,
        )

    @cached_property
    def num_clusters(self) -> int | None:
        """How many clusters the answers make."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def clusters_of(self, is_positive: bool) -> int | None:
        """How many clusters the cases of a class are in."""
        in_class = self.is_positive == is_positive
        return None if self.clusters is None else len(np.unique(self.clusters[in_class]))

    def rate(self, is_positive: bool, answer: int) -> Estimated | None:
        """The share of a class that got this answer; None of a class without a case."""
        in_class = self.is_positive == is_positive
        return self._mean(in_class, (self.predicted == answer).astype(np.float64), SHARE)

    def cost(self, is_positive: bool) -> Estimated | None:
        """The mean declared cost of an answer in a class."""
        if self.costs is None:
            return None
        scale = scale_of_costs(is_positive, self.costs)
        return self._mean(self.is_positive == is_positive, self.costs.of_answers, scale)

    def _mean(
        self, in_class: NDArray[np.bool_], values: NDArray[np.float64], scale: MetricInfo
    ) -> Estimated | None:
        if not in_class.any():
            return None
        own = values[in_class]
        clusters = None if self.clusters is None else cluster_totals(self.clusters[in_class], own)
        found = summarize(list(Counter(own.tolist()).items()), 0, scale, clusters)
        return Estimated(float(own.mean()), found.ci_low, found.ci_high)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtPrevalence:
    """What answers come to where a share `prevalence` of the cases is positive.

    `ppv` and `npv` are shares, the others numbers in CASES cases; `cost` is None where no costs
    are declared, and `ppv` where nothing is answered as positive.
    """

    prevalence: float
    ppv: Estimated | None
    npv: Estimated | None
    missed: Estimated
    false_alarms: Estimated
    without_answer: Estimated
    cost: Estimated | None = None


def at_prevalence(answers: ClassAnswers, prevalence: float) -> AtPrevalence | None:
    """What the answers come to; None where one of the classes has no case.

    Args:
        answers: of one run.
        prevalence: between 0 and 1, taken as known.
    """
    shares = {
        (is_positive, answer): rate
        for is_positive in (True, False)
        for answer in (POSITIVE, NEGATIVE, NEITHER)
        if (rate := answers.rate(is_positive, answer))
    }
    if len(shares) < 6:
        return None
    found, missing = prevalence, 1 - prevalence
    return AtPrevalence(
        prevalence=prevalence,
        ppv=_predictive(shares[True, POSITIVE], shares[False, POSITIVE], missing / found),
        npv=_predictive(shares[False, NEGATIVE], shares[True, NEGATIVE], found / missing),
        missed=shares[True, POSITIVE].less_from(1.0).times(CASES * found),
        false_alarms=shares[False, POSITIVE].times(CASES * missing),
        without_answer=summed(
            shares[True, NEITHER].times(CASES * found),
            shares[False, NEITHER].times(CASES * missing),
        ),
        cost=_cost(answers, prevalence),
    )


def always(answers: ClassAnswers, prevalence: float, answer: int) -> AtPrevalence:
    """The same for one answer to every case, POSITIVE or NEGATIVE: what a model has to beat.

    Its cost is that of the cheapest label, None where none is declared.
    """
    says_positive = answer == POSITIVE
    pairs = answers.costs.always[answer] if answers.costs else ()
    costs = [CASES * (prevalence * pair[0] + (1 - prevalence) * pair[1]) for pair in pairs]
    return AtPrevalence(
        prevalence=prevalence,
        ppv=Estimated(prevalence) if says_positive else None,
        npv=None if says_positive else Estimated(1 - prevalence),
        missed=Estimated(0.0 if says_positive else CASES * prevalence),
        false_alarms=Estimated(CASES * (1 - prevalence) if says_positive else 0.0),
        without_answer=Estimated(0.0),
        cost=Estimated(min(costs)) if costs else None,
    )


def _cost(answers: ClassAnswers, prevalence: float) -> Estimated | None:
    positive, negative = answers.cost(True), answers.cost(False)
    if positive is None or negative is None:
        return None
    return summed(positive.times(CASES * prevalence), negative.times(CASES * (1 - prevalence)))


def summed(first: Estimated, second: Estimated) -> Estimated:
    """The sum of two independent numbers, with MOVER's interval."""
    value = first.value + second.value
    ends = (first.low, second.low, first.high, second.high)
    if None in ends:
        return Estimated(value)
    low, other_low, high, other_high = (end for end in ends if end is not None)
    return Estimated(
        value,
        value - math.hypot(first.value - low, second.value - other_low),
        value + math.hypot(high - first.value, other_high - second.value),
    )


def _predictive(right: Estimated, wrong: Estimated, odds: float) -> Estimated | None:
    """The share of the answers of one kind that is right; None where there is no such answer.

    `right` and `wrong` are the shares of the two classes that got it, `odds` those of the second
    class against the first.
    """
    if right.value == wrong.value == 0:
        return None
    value = right.value / (right.value + odds * wrong.value)
    ratio = ratio_interval(wrong, right)
    if ratio is None:
        return Estimated(value)
    low, high = ratio
    return Estimated(value, 1 / (1 + odds * high), 1 / (1 + odds * low))


def ratio_interval(first: Estimated, second: Estimated) -> tuple[float, float] | None:
    """MOVER-R's interval of first / second, two independent shares; None where one has none.

    With first t1 in l1 to u1 and second t2 in l2 to u2 its lower end is the smaller root R of

        (t1 - R t2)^2 = (t1 - l1)^2 + R^2 (u2 - t2)^2

    and its upper end the larger root with u1 and l2 in place of l1 and u2: infinite where the
    interval of the second share begins at 0.

    >>> low, high = ratio_interval(Estimated(0.2, 0.1, 0.4), Estimated(0.8, 0.6, 0.9))
    >>> round(low, 4), round(high, 4)
    (0.124, 0.5333)
    """
    ends = (first.low, first.high, second.low, second.high)
    if None in ends:
        return None
    low, high, other_low, other_high = (end for end in ends if end is not None)
    product = first.value * second.value
    below = low * (2 * first.value - low)
    root = math.sqrt(max(0.0, product**2 - below * other_high * (2 * second.value - other_high)))
    lower = below / (product + root) if below > 0 else 0.0
    scale = other_low * (2 * second.value - other_low)
    if scale <= 0:
        return lower, math.inf
    above = high * (2 * first.value - high)
    root = math.sqrt(max(0.0, product**2 - above * scale))
    return lower, (product + root) / scale
