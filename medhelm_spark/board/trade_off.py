"""Quality against cost: which models no other model beats at both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics, RunMetrics
from medhelm_spark.board.took import money
from medhelm_spark.domain.deployment import Prices

MONEY, TOKENS, SECONDS = "Money for 1,000", "Output tokens", "Seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOff:
    """One model's main metric beside what an answer of it takes."""

    name: str
    mean: float
    low: float | None
    """Lower end of the mean's 95 % interval."""
    high: float | None
    takes: float
    """Money for 1,000 answers, or tokens or seconds of one."""
    is_undominated: bool
    """Whether no other model is at least as good and takes no more, one of them strictly."""
    currency: str = ""
    """Of money, where the prices state one."""


def trade_offs(
    metrics: BenchmarkMetrics, prices: Mapping[str, Prices]
) -> dict[str, tuple[TradeOff, ...]]:
    """By what an answer takes, the models of a benchmark; of two models or more with both numbers.

    The means alone decide: chance may explain the difference of two that are near.

    Args:
        metrics: of the benchmark.
        prices: of deployments by name.
    """

    def currencies_of(runs: Iterable[RunMetrics]) -> set[str]:
        own = (prices.get(run.run.run_spec.model_deployment) for run in runs)
        return {each.currency or "" for each in own if each}

    made = {}
    for quantity in (MONEY, TOKENS, SECONDS):
        points = []
        for run in metrics.runs:
            takes = _takes(run, quantity, prices)
            if run.run.cell and run.run.cell.mean is not None and takes is not None:
                points.append((run, takes))
        currencies = currencies_of(run for run, _ in points) if quantity == MONEY else {""}
        # Sums in two currencies are not compared.
        if len({takes for _, takes in points}) > 1 and len(currencies) == 1:
            made[quantity] = _of(points, currencies.pop())
    return made


def _takes(run: RunMetrics, quantity: str, prices: Mapping[str, Prices]) -> float | None:
    if run.took is None:
        return None
    if quantity == MONEY:
        return money(run.took, prices.get(run.run.run_spec.model_deployment))
    return run.took.completion_tokens if quantity == TOKENS else run.took.seconds


def _of(points: Sequence[tuple[RunMetrics, float]], currency: str) -> tuple[TradeOff, ...]:
    made = []
    for run, takes in points:
        cell = run.run.cell
        if cell is None or cell.mean is None:
            continue
        sign = -1 if cell.lower_is_better else 1
        others = [
            (sign * (other.run.cell.mean or 0.0), other_takes)
            for other, other_takes in points
            if other.run.cell and other is not run
        ]
        own = sign * cell.mean
        is_beaten = any(
            mean >= own and taken <= takes and (mean, taken) != (own, takes)
            for mean, taken in others
        )
        made.append(
            TradeOff(
                name=run.name,
                mean=cell.mean,
                low=cell.ci_low,
                high=cell.ci_high,
                takes=takes,
                is_undominated=not is_beaten,
                currency=currency,
            )
        )
    return tuple(made)
