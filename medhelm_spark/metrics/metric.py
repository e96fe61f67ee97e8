"""Metrics: pure functions from RequestStates to Scores, and from columns of Scores to run stats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.request import Completion, RequestState
from medhelm_spark.domain.run import MEDHELM_08
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus

MEDHELM = f"@{MEDHELM_08}"
"""Suffix of a stat by MedHELM 0.8.0's own rule, where a metric also has a corrected one."""

READ_AS = "read_as"
"""The param by which a metric scores other texts of the answers; its only value is MEDHELM_08.

The metric's stats then have the suffix `MEDHELM`.
"""

Params = Mapping[str, str]
ScoreRow = tuple[Score, ...]
MetricFn = Callable[[Sequence[RequestState], Params], Sequence[ScoreRow]]
Columns = NDArray[np.float64]
Weights = NDArray[np.int64]
RunFn = Callable[[Columns, Weights, Params], Sequence[float | None]]
Shares = Sequence[tuple[int, int]]
"""Shares of instances, each as (how many, of how many), no instance in two of them."""
SharesFn = Callable[[Columns, Weights, Params], Sequence[Shares]]


def accept(params: Params) -> None:
    """Accept any params."""


def _no_model(params: Params) -> str | None:
    return None


class About(StrEnum):
    """What a metric is about.

    WORDING: the text of the answer. CHOICE: which answer was given, however it was worded, or how
    sure. REQUEST: how it was asked for and came; it compares with no right answer.
    """

    WORDING = "wording"
    CHOICE = "choice"
    REQUEST = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One entry of `METRICS`.

    `fn` returns one tuple of Scores per state, in the order of the states; every tuple has the
    stats of `emitted(params)`. `needs` are the RequestState fields it reads beyond the evaluation
    key. With a changed `version` stored answers are scored again. `extra` is the pip extra whose
    packages it imports. `renamed` gives the stats where params change their names, and `aliases`
    lists such names that are known beforehand. `preflight` raises a ConfigError or SetupError for
    params or an environment that cannot work; it runs before any model is asked. `takes_readings`:
    the metric has the param READ_AS. `loads` names the model that it reads answers with, in the
    process that scores; the policy is asked about it as about a judge. `about` decides whether a
    benchmark that does not say how answers are read may have an option read out of them.
    `data_set` names the only data whose columns it reads, empty for a metric of any.
    `reads_tokens`: log-probabilities are asked for. A stat in `stems` is not given itself, but as
    NAME[criterion] for each criterion that a state's verdicts have.
    """

    fn: MetricFn
    needs: frozenset[str]
    emits: tuple[MetricInfo, ...]
    version: str
    extra: str | None = None
    renamed: Callable[[Params], tuple[MetricInfo, ...]] | None = None
    aliases: tuple[MetricInfo, ...] = ()
    preflight: Callable[[Params], None] = accept
    takes_readings: bool = False
    loads: Callable[[Params], str | None] = _no_model
    about: About = About.WORDING
    data_set: str = ""
    reads_tokens: bool = False
    stems: frozenset[str] = frozenset()

    def emitted(self, params: Params) -> tuple[MetricInfo, ...]:
        """The stats that `fn` gives under these params, in its order."""
        return self.renamed(params) if self.renamed else self.emits

    @property
    def compares(self) -> bool:
        """Whether it needs a right answer."""
        return "references" in self.needs and self.about is not About.REQUEST


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetric:
    """One entry of `RUN_METRICS`: stats of a whole run that are no mean over its instances.

    `reads(params)` names the per-instance stats it needs; the metric of `METRICS` that gives one is
    run too, with the same params unless the RunSpec names it itself. `fn` gets the distinct
    combinations of their values, shape (rows, stats) in the order of `reads`, and how many
    instances have each, shape (rows,): at least one in all, but a row may count 0, and all of them
    ten times. It returns one
    value per stat of `emitted(params)`, None for no value. An instance that lacks one of the values
    is left out and counted. `more` gives the stats that params add to `emits`.

    With a changed `version` runs are summarised again, from stored scores. `shares` gives, for each
    stat, the shares of instances whose mean it is, and nothing for a stat that is no such mean: its
    interval follows from how many instances each rests on. `overlaps` gives the same for a stat
    that is a mean of F1s: of each class (tp, tp + fp + fn). Both add up over rows. All other stats
    get their interval from pseudo-values (`statistics.jackknife`); `rests_on` names stats that rest
    on a part of the answers alone, with the share that it is. A stat in `biased` gets no interval.
    `is_right` returns for each row whether its answer is right; it is None where answers are
    neither. `aliases` and `preflight` are as in Metric. `needed` are the
    arguments that it cannot do without, `example` a set of arguments with which it works.
    """

    fn: RunFn
    reads: Callable[[Params], tuple[str, ...]]
    emits: tuple[MetricInfo, ...]
    version: str
    biased: frozenset[str] = frozenset()
    shares: SharesFn | None = None
    overlaps: SharesFn | None = None
    rests_on: Mapping[str, float] = field(default_factory=dict)
    more: Callable[[Params], tuple[MetricInfo, ...]] | None = None
    is_right: Callable[[Columns], NDArray[np.bool_]] | None = None
    aliases: tuple[MetricInfo, ...] = ()
    preflight: Callable[[Params], None] = accept
    needed: tuple[str, ...] = ()
    example: Params = field(default_factory=dict)

    def emitted(self, params: Params) -> tuple[MetricInfo, ...]:
        """The stats that `fn` gives under these params, in its order."""
        return (*self.emits, *(self.more(params) if self.more else ()))


def unscored(names: Sequence[str], status: ScoreStatus) -> ScoreRow:
    """The Scores of a state in which none of these stats has a value."""
    return tuple(Score(name=name, value=None, status=status) for name in names)


def scored(names: Sequence[str], values: Sequence[float]) -> ScoreRow:
    """The Scores of a state in which all of these stats have a value."""
    return tuple(Score(name=name, value=value) for name, value in zip(names, values, strict=True))


def first_text(state: RequestState) -> str | None:
    """The first completion, stripped; None where there is no answer. Empty text is an answer."""
    return state.completions[0].text.strip() if state.completions else None


def likeliest_text(completions: Sequence[Completion]) -> str:
    """The text that HELM's text-match metrics read: the completion of highest log-probability.

    Stripped; the first one of equals, and where the engine gave no log-probabilities.
    """
    best = completions[0]
    for other in completions[1:]:
        if best.logprob is not None and other.logprob is not None and other.logprob > best.logprob:
            best = other
    return best.text.strip()
