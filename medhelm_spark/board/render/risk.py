"""What models come to at a prevalence: missed cases, false alarms, declared cost."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics, RunMetrics
from medhelm_spark.board.class_answers import in_common
from medhelm_spark.board.took import money
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.pluralize import counted_by, first_of
from medhelm_spark.domain.stated_prevalence import Stated, share_of
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.statistics.class_differences import (
    ClassDifference,
    CostLine,
    cheapest_range,
    difference_at,
)
from medhelm_spark.statistics.two_by_two import (
    CASES,
    NEGATIVE,
    POSITIVE,
    AtPrevalence,
    Estimated,
    always,
    at_prevalence,
)

RULES: Mapping[int, str] = {POSITIVE: "always positive", NEGATIVE: "always negative"}
"""The rules that give one answer to every case, by this answer: a model has to beat them."""
COSTS_LEAST, OF_NO_USE, NOT_SHOWN = (
    "lowest declared cost",
    "of no use here",
    "not shown to be of use here",
)
VERDICTS = (COSTS_LEAST, OF_NO_USE, NOT_SHOWN)
"""What is printed of a model by the declared costs; bold where a form can be."""
MISSED_NOTE = (
    "Missed: positive cases that were not answered as positive; positive cases whose answer could "
    "not be read count as missed. False alarms: negative cases that were answered as positive; a "
    "negative case whose answer could not be read is no false alarm, though specificity counts it "
    "as wrong."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """The share of cases that is positive, and whether a reader stated it."""

    share: float
    is_stated: bool

    def __str__(self) -> str:
        return f"{100 * self.share:.3g} % ({'as stated' if self.is_stated else 'as in the data'})"


def check_stated(stated: Stated, known: Collection[str]) -> None:
    """Refuse a prevalence that is none, or is stated of what is not shown.

    Args:
        stated: the prevalence.
        known: the scenarios that have a positive class.

    Raises:
        ConfigError: It is not between 0 and 1.
        UnknownNameError: No benchmark with a positive class has the name.
    """
    by_name = stated if isinstance(stated, Mapping) else {"": stated}
    for name, share in by_name.items():
        if share is not None and not 0 < share < 1:
            of = f" of {name!r}" if name else ""
            raise ConfigError(f"prevalence{of} is {share!r}; allowed: a number between 0 and 1.")
    for name in filter(None, by_name):
        if name not in known:
            raise UnknownNameError("scenario", name, known, where="prevalence")


def prevalence_of(held: BenchmarkMetrics, stated: Stated = None) -> Prevalence | None:
    """The prevalence that a benchmark is read at; None where it has no positive class."""
    own = held.prevalence
    if own is None:
        return None
    share = share_of(stated, held.benchmark.scenario_name)
    return Prevalence(share=own if share is None else share, is_stated=share is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """What a model, or a rule, comes to at the prevalence; `run` is None of a rule."""

    name: str
    run: RunMetrics | None
    at: AtPrevalence


def risks_of(held: BenchmarkMetrics, prevalence: Prevalence) -> list[Risk]:
    """The models that answered cases of both classes, then the two rules."""
    known = [run for run in held.runs if run.answers]
    risks = [
        Risk(name=run.name, run=run, at=at)
        for run in known
        if run.answers and (at := at_prevalence(run.answers, prevalence.share))
    ]
    most = max((run.answers for run in known if run.answers), key=lambda each: len(each.given))
    rules = (
        Risk(name=name, run=None, at=always(most, prevalence.share, given))
        for given, name in RULES.items()
    )
    return [*risks, *rules]


def lead(
    held: BenchmarkMetrics, prevalence: Prevalence, prices: Mapping[str, Prices]
) -> Iterator[str]:
    """What the numbers come to: who misses least, who costs least, by how many cases.

    Args:
        held: a benchmark with a positive class.
        prevalence: what it is read at.
        prices: of deployments by name.
    """
    yield from _said_of_risks(held, prevalence)
    if money_known := _money(held, prices):
        yield money_known
    yield _evidence(held)


def _money(held: BenchmarkMetrics, prices: Mapping[str, Prices]) -> str:
    """What 1,000 answers cost in money; empty where no price is declared."""
    said = []
    for run in held.runs:
        own = prices.get(run.run.run_spec.model_deployment)
        if run.took and own and (cost := money(run.took, own)) is not None:
            said.append(f"{run.name} {cost:,.2f} {own.currency or ''}".strip())
    return f"Money for {CASES:,} answers: {first_of(said, 8)}." if said else ""


def _evidence(held: BenchmarkMetrics) -> str:
    """How many cases, and of how many patients, say so."""
    runs = [run for run in held.runs if run.answers]
    most = max(runs, key=lambda run: len(run.answers.given) if run.answers else 0)
    answers, column = most.answers, most.run.cell and most.run.cell.cluster_column
    if answers is None:
        return ""
    total = len(answers.given)

    def of(clusters: int | None) -> str:
        return f" of {counted_by(clusters, column)}" if column and clusters else ""

    most_of = (
        "" if all(len(run.answers.given) == total for run in runs if run.answers) else "at most "
    )
    named = f" ({column})" if column else ""
    positive, negative = (
        f"{answers.count(kind):,} {name}{of(answers.clusters_of(kind))}"
        for kind, name in ((True, "positive"), (False, "negative"))
    )
    in_both = (answers.clusters_of(True) or 0) + (answers.clusters_of(False) or 0)
    both = in_both - (answers.num_clusters or 0)
    with_both = f"; {counted_by(both, column)} with both" if column and both > 0 else ""
    return (
        f"Evidence: {most_of}{total:,} answers{of(answers.num_clusters)}{named} by each model, "
        f"{positive} and {negative}{with_both}."
    )


def _said_of_risks(held: BenchmarkMetrics, prevalence: Prevalence) -> Iterator[str]:
    risks = risks_of(held, prevalence)
    models = [risk for risk in risks if risk.run]
    if not models:
        return
    yield (
        f"At a prevalence of {prevalence}, in {CASES:,} cases: "
        f"{_least(models, 'missed')}; {_least(models, 'false_alarms')}."
    )
    costs = [risk for risk in models if risk.at.cost]
    if not costs:
        yield (
            "What an error costs is not declared (`costs` of diagnostic_accuracy), so that missed "
            "cases and false alarms are not weighed against each other."
        )
        return
    yield f"Of the models, {_least(costs, 'cost')}{_beside_models(held, prevalence)}."
    yield _beside_rule(costs, _cheaper_rule(risks))
    yield from _where_cheapest(costs)


def _beside_models(held: BenchmarkMetrics, prevalence: Prevalence) -> str:
    """Which models the one with the lowest cost is shown to beat, by paired intervals."""
    sides: dict[str, list[str]] = {"shown to cost less than": [], "not shown to cost less than": []}
    for other in differences_of(held, prevalence):
        low = _low(other.less_reference.cost)
        side = "shown to cost less than" if low > 0 else "not shown to cost less than"
        sides[side].append(other.name)
    said = [f"{side} {first_of(names, 8)}" for side, names in sides.items() if names]
    return "".join(f"; {part}" for part in said)


_COSTS_LESS = "shown to cost less"


def _beside_rule(costs: Sequence[Risk], rule: Risk) -> str:
    """Which models cost less or more than the cheaper rule, by their own intervals."""
    sides: dict[str, list[str]] = {_COSTS_LESS: [], OF_NO_USE: [], NOT_SHOWN: []}
    for risk in costs:
        sides[_side(risk, rule)].append(risk.name)
    said = [f"{side}: {first_of(names, 8)}" for side, names in sides.items() if names]
    return f"Beside {rule.name}, which costs {_value(rule, 'cost'):.1f}: {'; '.join(said)}."


def _side(risk: Risk, rule: Risk) -> str:
    limit = _value(rule, "cost")
    if _high(risk.at.cost) < limit:
        return _COSTS_LESS
    return OF_NO_USE if _low(risk.at.cost) > limit else NOT_SHOWN


def _cheaper_rule(risks: Sequence[Risk]) -> Risk:
    return min((risk for risk in risks if not risk.run), key=lambda each: _value(each, "cost"))


def verdicts_of(risks: Sequence[Risk]) -> dict[str, str]:
    """By model, whether it costs least and whether it is of use; empty without declared costs."""
    costs = [risk for risk in risks if risk.run and risk.at.cost]
    if not costs:
        return {}
    rule, least = _cheaper_rule(risks), min(_value(risk, "cost") for risk in costs)
    said = {
        risk.name: (COSTS_LEAST * (_value(risk, "cost") == least), _side(risk, rule))
        for risk in costs
    }
    return {
        name: ", ".join(each for each in words if each in VERDICTS) for name, words in said.items()
    }


def _where_cheapest(costs: Sequence[Risk]) -> Iterator[str]:
    """The prevalences between which the model with the lowest cost keeps the lowest cost."""
    cheapest = min(costs, key=lambda risk: _value(risk, "cost"))
    lines = {risk.name: line for risk in costs if (line := _line(risk))}
    answers = cheapest.run.answers if cheapest.run else None
    if answers is None or answers.costs is None:
        return
    rules = [
        CostLine(name=RULES[given], in_positive=positive, in_negative=negative)
        for given, pairs in answers.costs.always.items()
        for positive, negative in pairs
    ]
    others = [line for name, line in lines.items() if name != cheapest.name]
    held = cheapest_range(lines[cheapest.name], [*others, *rules])
    if held is None:
        yield f"At no prevalence does {cheapest.name} cost less than every other model and rule."
        return
    ends = [
        f"{way} {100 * share:.3g} % {name} costs less"
        for way, share, name in (("below", held.low, held.below), ("above", held.high, held.above))
        if name
    ]
    if ends:
        yield (
            f"{cheapest.name} costs least only in a range of prevalences: {', and '.join(ends)} "
            "(point estimates)."
        )


def _line(risk: Risk) -> CostLine | None:
    """The cost of a model as a line over the prevalence."""
    answers = risk.run.answers if risk.run else None
    positive = answers.cost(True) if answers else None
    negative = answers.cost(False) if answers else None
    if positive is None or negative is None:
        return None
    return CostLine(name=risk.name, in_positive=positive.value, in_negative=negative.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskDifference:
    """A model less the reference, on the cases that both answered."""

    name: str
    reference: str
    less_reference: ClassDifference


def differences_of(held: BenchmarkMetrics, prevalence: Prevalence) -> list[RiskDifference]:
    """Each model against the one with the lowest declared cost; without costs, fewest missed."""
    risks = [risk for risk in risks_of(held, prevalence) if risk.run]
    priced = [risk for risk in risks if risk.at.cost]
    if len(risks) < 2:
        return []
    by = "cost" if priced else "missed"
    reference = min(priced or risks, key=lambda risk: _value(risk, by))
    found = []
    for risk in risks:
        if risk is reference or not (risk.run and risk.run.by_case):
            continue
        if reference.run and reference.run.by_case:
            ours, theirs = in_common(risk.run.by_case, reference.run.by_case)
            if less := difference_at(ours, theirs, prevalence.share):
                found.append(
                    RiskDifference(name=risk.name, reference=reference.name, less_reference=less)
                )
    return found


_NAMES = {
    "missed": "fewest missed",
    "false_alarms": "fewest false alarms",
    "cost": COSTS_LEAST,
}


def _least(models: Sequence[Risk], name: str) -> str:
    """`fewest missed: alpha, 12.0 [4.1, 33.0]`, and all that share the number."""
    least = min(_value(risk, name) for risk in models)
    best = [risk for risk in models if _value(risk, name) == least]
    names = first_of([risk.name for risk in best], 3)
    return f"{_NAMES[name]}: {names}, {estimated_text(getattr(best[0].at, name), 1)}"


def _value(risk: Risk, name: str) -> float:
    held: Estimated = getattr(risk.at, name)
    return held.value


def _high(held: Estimated | None) -> float:
    """The upper end; without an interval nothing is shown."""
    return float("inf") if held is None or held.high is None else held.high


def _low(held: Estimated | None) -> float:
    return float("-inf") if held is None or held.low is None else held.low


def estimated_text(held: Estimated | None, digits: int) -> str:
    """`12.0 [4.1, 33.0]`; `-` where there is none."""
    if held is None:
        return "-"
    value = f"{held.value:.{digits}f}"
    if held.low is None or held.high is None:
        return value
    return f"{value} [{held.low:.{digits}f}, {held.high:.{digits}f}]"


def signed_text(held: Estimated | None, digits: int) -> str:
    """`+12.0 [4.1, 33.0]`; `-` where there is none."""
    text = estimated_text(held, digits)
    return f"+{text}" if held and round(held.value, digits) > 0 else text
