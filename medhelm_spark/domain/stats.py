"""Score, PerInstanceStats and Stat: absent is not zero."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from medhelm_spark.domain.request import EvaluationKey

UNREADABLE_STAT = "answer_unreadable"
"""The stat that is 1 for an answer that could not be read: a metric of this name gives it."""

REFUSAL_STAT = "finish_reason_refusal"
"""The stat that is 1 for an answer that the engine reports as a refusal: `general_information`
gives it."""

LARGEST = sys.float_info.max
ROUNDING = 1e-9
"""How far off its end, in widths of a scale, a value may be put by the rounding of floats."""


class ScoreStatus(StrEnum):
    """Why a score is there, or why it is not.

    TOO_LONG: the prompt did not fit the model's own window. NO_ANSWER: any other failure, which
    is no property of the model. INVALID: the metric gave no finite number, or one off its scale.
    """

    OK = "ok"
    NO_ANSWER = "no_answer"
    TOO_LONG = "too_long"
    NO_REFERENCE = "no_reference"
    NO_VERDICT = "no_verdict"
    UNREADABLE = "unreadable"
    NOT_APPLICABLE = "not_applicable"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One value of one stat on one instance; `value` is None unless the status is OK."""

    name: str
    value: float | None
    status: ScoreStatus = ScoreStatus.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class PerInstanceStats(EvaluationKey):
    """Row of `per_instance_stats`: all stats of one evaluation key, as HELM keeps them.

    `cluster_id` is the instance's: rows that share it are no independent tries.
    """

    split: str
    stats: tuple[Score, ...]
    cluster_id: str | None = None


class IntervalMethod(StrEnum):
    """How a 95 % interval was made, by `statistics.intervals` and `statistics.paired`.

    WILSON: of a share of 0/1 values. MOVER: of a mean of independent shares, from Wilson's
    of each. BOUNDED_SCORE: of a mean on a scale with two ends. T: Student's, where an end is open.
    CLUSTERED: of a mean of clustered answers on a scale with two ends, from its cluster-robust
    standard error; CLUSTERED_T the same where an end is open, and of clustered differences.
    BONETT_PRICE: of a paired difference of 0/1 values. CONDITIONAL: the same with the end next to
    0 from the mid-p interval of McNemar's test, where Bonett and Price's would disagree with the
    test. BOOTSTRAP: percentiles of a run-level stat
    with an open end, and of means in lakes that are older than BOUNDED_SCORE. NONE: there is no
    interval.
    """

    WILSON = "wilson"
    MOVER = "mover"
    BOUNDED_SCORE = "bounded_score"
    T = "t"
    CLUSTERED = "clustered"
    CLUSTERED_T = "clustered_t"
    BONETT_PRICE = "bonett_price"
    CONDITIONAL = "conditional"
    BOOTSTRAP = "bootstrap"
    NONE = "none"

    @property
    def label(self) -> str:
        """What it is called below a table."""
        return _LABELS[self]


_LABELS = {
    IntervalMethod.WILSON: "Wilson's score interval of a share",
    IntervalMethod.MOVER: "MOVER over independent parts",
    IntervalMethod.BOUNDED_SCORE: "score interval of a mean on a bounded scale",
    IntervalMethod.T: "Student's t",
    IntervalMethod.CLUSTERED: "score interval with a cluster-robust standard error",
    IntervalMethod.CLUSTERED_T: "t with a cluster-robust standard error",
    IntervalMethod.BONETT_PRICE: "Bonett and Price's of paired 0/1 values",
    IntervalMethod.CONDITIONAL: "the same, its end next to 0 from the mid-p McNemar test",
    IntervalMethod.BOOTSTRAP: "percentiles of a bootstrap",
    IntervalMethod.NONE: "no interval",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % confidence interval of a mean."""

    low: float
    high: float
    method: IntervalMethod


class ComputedOn(StrEnum):
    """What a stat with a perturbation is computed on; the first three are HELM's.

    ORIGINAL: the unperturbed instances of which there is a perturbed copy. PERTURBED: the copies.
    WORST: the worst of both, instance by instance. INVARIANCE: the share of instances whose value
    is the same on both. MEAN and SPREAD: mean, and largest less smallest, of the means of prompts
    or repeats. What these are of a stat of a whole run is defined in `stages.summarize.run_level`.
    """

    ORIGINAL = "original"
    PERTURBED = "perturbed"
    WORST = "worst"
    INVARIANCE = "invariance"
    MEAN = "mean"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean, and what boards and exports show beside it: a field here is theirs too.

    The line under a field is its meaning in `docs/tables.md` and `docs/exports.md`.
    """

    count: int
    """Answers with a score."""

    num_unscored: int
    """Answers without a score."""

    mean: float | None
    """The mean, in the metric's unit; none where no answer has a score."""

    ci_low: float | None
    """Lower end of the 95 % interval of the mean."""

    ci_high: float | None
    """Upper end of that interval."""

    ci_method: str
    """How the interval was computed."""

    num_clusters: int | None = None
    """Clusters of answers that the interval counts; none where it counts answers."""

    num_effective_clusters: float | None = None
    """The number of clusters of equal size that would give the same precision."""

    denominator: int | None = None
    """Of the answers with a score, those that a share of a part of them rests on, such as the
    positives of a sensitivity; none where the mean rests on all."""

    @property
    def num_counted(self) -> int:
        """The number of answers that the mean rests on: the positives of a sensitivity."""
        return self.count if self.denominator is None else self.denominator


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Mean):
    """A mean with the spread of the values that it is of."""

    ci_method: IntervalMethod
    stddev: float | None
    minimum: float | None
    maximum: float | None
    standard_error: float | None = None


def values_of(row: Any, kind: type) -> dict[str, Any]:
    """The values of a row, by name, that a dataclass has fields for."""
    return {field.name: getattr(row, field.name) for field in fields(kind)}


@dataclass(frozen=True, kw_only=True)
class StatKey:
    """What a stat is of; without slots, so that its columns precede those of a Summary."""

    run_spec_id: str
    name: str
    split: str
    perturbation: str
    computed_on: ComputedOn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat(Summary, StatKey):
    """Row of `stats`: the summary of one stat of one RunSpec on one split.

    `mean`, `minimum`, `maximum` and the interval are None where count is 0. `stddev` is the
    population's, as in HELM. `perturbation` is empty, a perturbation, or one of the collections
    `robustness`, `fairness`, `prompt_variants` and `repeats`; `computed_on` is None where it is
    empty. The interval counts all trials of an instance as one answer.

    `comparability` is what has to be equal before two means are compared: a hash or a word for each
    of `domain.comparability.PARTS`. None where the lake is older than it.

    Of the rows without a value, `num_model_failures` are the model's own doing (TOO_LONG) and
    `num_unscorable` the data's: there is no reference, or the stat does not apply. None where it is
    not counted: in older lakes, of whole runs, of comparisons with perturbed copies.

    `num_clusters` is how many clusters the scored rows make, or those of them that `denominator`
    counts, None where the card names no cluster column; `num_effective_clusters` is Bell and
    McCaffrey's degrees of freedom and one. `standard_error` is the mean's, cluster-robust where
    there are clusters; None of a single answer or cluster, of whole runs, and in older lakes.
    `draws` are bootstrap means of the run's main metric (`statistics.bootstrap`): the same index is
    the same resample in all runs over the same instances, so that ranks rest on paired differences.
    """

    comparability: Mapping[str, str] | None = None
    num_model_failures: int | None = None
    num_unscorable: int | None = None
    draws: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """How a stat is read: its direction and its scale, used by boards and summaries.

    `has_mean` is false for a code that only stats of a whole run are made of. `traded_against` is
    the stat that a model can give up for this one, as specificity for sensitivity; empty without.
    With `clips_mean` single values may lie off the scale, and only their mean is brought onto it.
    """

    name: str
    display_name: str
    lower_is_better: bool | None = False
    minimum: float | None = 0.0
    maximum: float | None = 1.0
    description: str = ""
    has_mean: bool = True
    clips_mean: bool = False
    traded_against: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the mean of values that are all 0 or 1 is a share of them."""
        return (self.minimum, self.maximum) == (0.0, 1.0) and not self.clips_mean

    def accepted(self, value: float) -> float | None:
        """The value; None for one that is not finite or is off the scale.

        What rounding alone puts beyond an end is that end.

        >>> scale = MetricInfo(name="f1", display_name="F1")
        >>> scale.accepted(0.1 + 0.2), scale.accepted(1 + 2**-52), scale.accepted(5)
        (0.30000000000000004, 1.0, None)
        >>> UNBOUNDED.accepted(float("nan")), UNBOUNDED.accepted(float("-inf"))
        (None, None)
        """
        low, high = (None, None) if self.clips_mean else (self.minimum, self.maximum)
        low, high = -LARGEST if low is None else low, LARGEST if high is None else high
        if low <= value <= high:
            return value
        if not math.isfinite(value):
            return None
        slack = ROUNDING * min(high - low, 1.0 + abs(value))
        return min(max(value, low), high) if low - slack <= value <= high + slack else None


SHARE = MetricInfo(name="share", display_name="Share")
"""The scale of a share of instances, whatever stat it is the share of."""

UNBOUNDED = MetricInfo(name="unbounded", display_name="Unbounded", minimum=None, maximum=None)
"""The scale of a stat that this installation does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenStat(Stat):
    """A Stat and the id of its write."""

    write_id: str
