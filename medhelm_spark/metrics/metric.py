"""Metric: a pure function from a batch of RequestStates to Scores, with what it needs and emits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.request import Completion, RequestState
from medhelm_spark.domain.run import MEDHELM_08
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus

MEDHELM = f"@{MEDHELM_08}"
"""Suffix of a stat that keeps MedHELM 0.8.0's own rule beside a corrected one."""

READ_AS = "read_as"
"""The param by which a metric looks at another reading of the answers; the only one is MedHELM's.

A metric that takes it names its stats with the suffix `MEDHELM` then.
"""

Params = Mapping[str, str]
ScoreRow = tuple[Score, ...]
MetricFn = Callable[[Sequence[RequestState], Params], Sequence[ScoreRow]]


def _accept(params: Params) -> None:
    """Accept any params."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One entry of `METRICS`.

    `fn` gives one tuple of Scores per state, in the order of the states; every tuple names the
    same stats, those of `emitted(params)`. `needs` are the RequestState fields it reads beyond the
    evaluation key. A changed `version` means that stored answers are scored again. `extra` is the
    pip extra whose packages it imports. `renamed` gives the stats where params change their names
    and `aliases` lists such names that are known beforehand. `preflight` raises a ConfigError or
    SetupError for params or an environment that cannot work; it is asked before any model call.
    `takes_readings` says whether the param READ_AS is one of its own.
    """

    fn: MetricFn
    needs: frozenset[str]
    emits: tuple[MetricInfo, ...]
    version: str
    extra: str | None = None
    renamed: Callable[[Params], tuple[MetricInfo, ...]] | None = None
    aliases: tuple[MetricInfo, ...] = ()
    preflight: Callable[[Params], None] = _accept
    takes_readings: bool = False

    def emitted(self, params: Params) -> tuple[MetricInfo, ...]:
        """The stats that `fn` gives under these params, in its order."""
        return self.renamed(params) if self.renamed else self.emits


def unscored(names: Sequence[str], status: ScoreStatus) -> ScoreRow:
    """The row of a state on which none of these stats has a value."""
    return tuple(Score(name=name, value=None, status=status) for name in names)


def scored(names: Sequence[str], values: Sequence[float]) -> ScoreRow:
    """The row of a state on which all of these stats have a value."""
    return tuple(Score(name=name, value=value) for name, value in zip(names, values, strict=True))


def first_text(state: RequestState) -> str | None:
    """The first completion, stripped; None where there is no answer. Empty text is an answer."""
    return state.completions[0].text.strip() if state.completions else None


def likeliest_text(completions: Sequence[Completion]) -> str:
    """The text HELM's text-match metrics read: the completion of highest log-probability, stripped.

    The first one wins ties, and stands where the engine gave no log-probabilities.
    """
    best = completions[0]
    for other in completions[1:]:
        if best.logprob is not None and other.logprob is not None and other.logprob > best.logprob:
            best = other
    return best.text.strip()
