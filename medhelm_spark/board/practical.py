"""What two models differ by beside the main metric: missed cases, alarms, cost, tokens, seconds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics
from medhelm_spark.board.class_answers import (
    CaseAnswers,
    answers_of,
    class_params,
    has_positive,
    in_common,
    needed_stats_of,
)
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import scores_of
from medhelm_spark.board.took import EachTook, each_took
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated, share_of
from medhelm_spark.domain.stats import UNBOUNDED
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics.diagnostic import costs_text
from medhelm_spark.statistics.class_differences import difference_at
from medhelm_spark.statistics.paired import Values, paired_difference
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.two_by_two import CASES, AtPrevalence, Estimated, at_prevalence


class ComparedQuantity(StrEnum):
    """What is compared; the first three in CASES cases, money in CASES answers, others in one."""

    MISSED = "missed"
    FALSE_ALARMS = "false alarms"
    COST = "declared cost"
    PROMPT_TOKENS = "prompt tokens"
    OUTPUT_TOKENS = "output tokens"
    SECONDS = "seconds"
    MONEY = "money"


OF_CLASSES = {
    ComparedQuantity.MISSED: "missed",
    ComparedQuantity.FALSE_ALARMS: "false_alarms",
    ComparedQuantity.COST: "cost",
}
"""The quantities that need a positive class, with the field of `AtPrevalence` that has them."""
_TOOK = {
    ComparedQuantity.PROMPT_TOKENS: "prompt_tokens",
    ComparedQuantity.OUTPUT_TOKENS: "completion_tokens",
    ComparedQuantity.SECONDS: "request_time",
}
"""The quantities of answers as they were given, with their fields in `EachTook`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticalDifference:
    """One quantity of two models on the answers that both have."""

    scenario_name: str
    display_name: str
    first_name: str
    second_name: str
    quantity: ComparedQuantity
    first: float
    second: float
    difference: Estimated
    """First less second, with the 95 % interval of a paired difference."""
    n: int
    """The number of answers of each model; of missed cases the positive ones."""
    prevalence: float | None = None
    """The share of positive cases that the quantity is computed at; None where it needs none."""
    is_stated: bool = False
    """Whether a reader stated the prevalence; else it is that of these cases."""
    costs: str = ""
    """What errors cost, in words; empty of other quantities."""
    currency: str = ""
    """Of money, where the prices state one."""


def practical_differences(
    reader: Reader,
    runs: Iterable[BoardRun],
    pairs: Iterable[BoardPair],
    *,
    stated: Stated = None,
    prices: Mapping[str, Prices],
) -> Iterator[PracticalDifference]:
    """The quantities that both models of each pair have.

    Args:
        reader: it has the scores of `runs`.
        runs: those behind the pairs.
        pairs: two models on a benchmark each.
        stated: the prevalence of positive cases; None: that of the cases in common.
        prices: of deployments by name.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    all_pairs = list(pairs)
    units = sorted({unit for pair in all_pairs for unit in pair.run_spec_ids})
    took = each_took(reader, units) if units else {}
    for pair in all_pairs:
        both = (by_id[pair.run_spec_ids[0]], by_id[pair.run_spec_ids[1]])
        if all(has_positive(run.run_spec) for run in both):
            split = both[0].cell.split if both[0].cell else both[0].run_spec.main_split
            needed = {name for run in both for name in needed_stats_of(run.run_spec)}
            scores = scores_of(reader, pair.run_spec_ids, needed, split)
            cases = [_of_run(run, scores) for run in both]
            yield from _of_classes(pair, both[0], cases, stated)
        if all(unit in took for unit in pair.run_spec_ids):
            answers = [took[unit] for unit in pair.run_spec_ids]
            yield from _of_answers(pair, both, answers, prices)


def class_differences(
    benchmarks: Iterable[BenchmarkMetrics], pairs: Iterable[BoardPair], stated: Stated = None
) -> Iterator[PracticalDifference]:
    """Missed cases, false alarms and cost of each pair whose runs are among those of `benchmarks`.

    Args:
        benchmarks: with the answers of their runs.
        pairs: two models on a benchmark each.
        stated: the prevalence of positive cases; None: that of the cases in common.
    """
    known = {run.run.run_spec.run_spec_id: run for one in benchmarks for run in one.runs}
    for pair in pairs:
        both = [known.get(unit) for unit in pair.run_spec_ids]
        if both[0] and both[1]:
            yield from _of_classes(pair, both[0].run, [both[0].by_case, both[1].by_case], stated)


def _of_run(run: BoardRun, scores: pa.Table) -> CaseAnswers | None:
    of_run = pc.equal(scores["run_spec_id"], run.run_spec.run_spec_id)
    return answers_of(run.run_spec, scores.filter(of_run))


def _of_classes(
    pair: BoardPair, run: BoardRun, cases: Sequence[CaseAnswers | None], stated: Stated
) -> Iterator[PracticalDifference]:
    """`cases` are the answers of both models, `run` is the run of the first."""
    if cases[0] is None or cases[1] is None:
        return
    first, second = in_common(cases[0], cases[1])
    share = share_of(stated, pair.scenario_name, *([run.cell.scenario_name] if run.cell else ()))
    prevalence = share or first.prevalence
    if prevalence is None:
        return
    less = difference_at(first, second, prevalence)
    ours, theirs = at_prevalence(first, prevalence), at_prevalence(second, prevalence)
    if not (less and ours and theirs):
        return
    sizes = {
        ComparedQuantity.MISSED: less.num_positive,
        ComparedQuantity.FALSE_ALARMS: less.num_negative,
        ComparedQuantity.COST: less.num_positive + less.num_negative,
    }
    for quantity, name in OF_CLASSES.items():
        difference: Estimated | None = getattr(less, name)
        if difference:
            yield PracticalDifference(
                scenario_name=pair.scenario_name,
                display_name=pair.display_name,
                first_name=pair.first,
                second_name=pair.second,
                quantity=quantity,
                first=_value(ours, name),
                second=_value(theirs, name),
                difference=difference,
                n=sizes[quantity],
                prevalence=prevalence,
                is_stated=share is not None,
                costs=costs_text(class_params(run.run_spec))
                if quantity is ComparedQuantity.COST
                else "",
            )


def _value(at: AtPrevalence, name: str) -> float:
    estimate: Estimated = getattr(at, name)
    return estimate.value


def _of_answers(
    pair: BoardPair,
    runs: tuple[BoardRun, BoardRun],
    took: Sequence[EachTook],
    prices: Mapping[str, Prices],
) -> Iterator[PracticalDifference]:
    """Tokens, seconds and money by instance, of several trials their mean."""
    instances = np.unique(np.concatenate([each.instances for each in took]))
    values = {
        quantity: np.stack(
            [_by_instance(each.instances, getattr(each, name), instances) for each in took]
        )
        for quantity, name in _TOOK.items()
    }
    priced = [prices.get(run.run_spec.model_deployment) for run in runs]
    currency = (priced[0].currency if priced[0] else None) or ""
    if priced[0] and priced[1] and priced[0].currency == priced[1].currency:
        values[ComparedQuantity.MONEY] = np.stack(
            [
                CASES
                * (
                    values[ComparedQuantity.PROMPT_TOKENS][index] * each.prompt
                    + values[ComparedQuantity.OUTPUT_TOKENS][index] * each.completion
                )
                / 1e6
                for index, each in enumerate((priced[0], priced[1]))
            ]
        )
    for quantity, both in values.items():
        if compared := _paired(pair, quantity, both[0], both[1]):
            is_money = quantity is ComparedQuantity.MONEY
            yield replace(compared, currency=currency) if is_money else compared


def _by_instance(instances: NDArray[np.int64], values: Values, names: NDArray[np.int64]) -> Values:
    """The mean of values by instance, NaN without a value; shape (names,)."""
    is_known = ~np.isnan(values)
    index, known = np.searchsorted(names, instances[is_known]), values[is_known]
    order = np.lexsort((known, index))  # sums depend on the order of floats
    sums = np.bincount(index[order], weights=known[order], minlength=len(names))
    counts = np.bincount(index, minlength=len(names))
    means: Values = np.divide(sums, counts, out=np.full(len(names), np.nan), where=counts > 0)
    return means


def _paired(
    pair: BoardPair, quantity: ComparedQuantity, ours: Values, theirs: Values
) -> PracticalDifference | None:
    difference = paired_difference(ours, theirs, UNBOUNDED)
    if difference.mean_difference is None:
        return None
    both = ~(np.isnan(ours) | np.isnan(theirs))
    return PracticalDifference(
        scenario_name=pair.scenario_name,
        display_name=pair.display_name,
        first_name=pair.first,
        second_name=pair.second,
        quantity=quantity,
        first=float(ours[both].mean()),
        second=float(theirs[both].mean()),
        difference=Estimated(difference.mean_difference, difference.ci_low, difference.ci_high),
        n=difference.n,
    )
