"""RunMetric: a pure function from columns of per-instance values to stats of a whole run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics.metric import Params

Columns = NDArray[np.float64]
Weights = NDArray[np.int64]
RunFn = Callable[[Columns, Weights, Params], Sequence[float | None]]


def _accept(params: Params) -> None:
    """Accept any params."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetric:
    """One entry of `RUN_METRICS`: what no mean over instances can say.

    `reads(params)` names the per-instance stats it needs; whatever metric of `METRICS` gives one
    is run too, with the same params unless the RunSpec names it itself. `fn` gets one row for each
    distinct combination of their values, columns in the order of `reads`, and how many instances
    have it (at least one in all; a row may count 0); it gives one value per stat of
    `emitted(params)`, None where there is none. An instance that lacks one of the values is left
    out and counted. `more` gives the stats that params add to `emits`.

    A changed `version` means that runs are summarised again, from stored scores. A stat in `biased`
    gets no interval: resampling moves its centre. `aliases` and `preflight` are as a Metric's.
    """

    fn: RunFn
    reads: Callable[[Params], tuple[str, ...]]
    emits: tuple[MetricInfo, ...]
    version: str
    biased: frozenset[str] = frozenset()
    more: Callable[[Params], tuple[MetricInfo, ...]] | None = None
    aliases: tuple[MetricInfo, ...] = ()
    preflight: Callable[[Params], None] = _accept

    def emitted(self, params: Params) -> tuple[MetricInfo, ...]:
        """The stats that `fn` gives under these params, in its order."""
        return (*self.emits, *(self.more(params) if self.more else ()))
