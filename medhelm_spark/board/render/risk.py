"""What models come to at a prevalence: missed cases, false alarms, declared cost."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

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
    cheapest_ranges,
    difference_at,
)
from medhelm_spark.statistics.pairs import FEW_MODELS
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
COSTS_LEAST, OF_NO_USE, NOT_SHOWN = "costs least", "of no use here", "not shown to be of use here"
_SHOWN: Mapping[str, tuple[str, str, str, str]] = {
    "missed": ("fewest missed", "most missed", "fewer missed than", "more missed than"),
    "false_alarms": (
        *("fewest false alarms", "most false alarms"),
        *("fewer false alarms than", "more false alarms than"),
    ),
    "cost": (COSTS_LEAST, "costs most", "costs less than", "costs more than"),
}
"""The words for a model whose difference is shown: from all others (two), from some (two)."""
VERDICTS = (COSTS_LEAST, OF_NO_USE)
"""The verdicts on a model by all of its errors together; bold where a format has bold."""
NOT_APART = "not told apart from the others"
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
    """Refuse a prevalence that is no share, or is stated of an unknown benchmark.

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
            suffix = f" of {name!r}" if name else ""
            raise ConfigError(
                f"prevalence{suffix} is {share!r}; allowed: a number between 0 and 1."
            )
    for name in filter(None, by_name):
        if name not in known:
            raise UnknownNameError("scenario", name, known, where="prevalence")


def prevalence_of(metrics: BenchmarkMetrics, stated: Stated = None) -> Prevalence | None:
    """The prevalence that a benchmark is read at; None where it has no positive class."""
    own = metrics.prevalence
    if own is None:
        return None
    share = share_of(stated, metrics.benchmark.scenario_name)
    return Prevalence(share=own if share is None else share, is_stated=share is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """What a model, or a rule, comes to at the prevalence; `run` is None of a rule."""

    name: str
    run: RunMetrics | None
    at: AtPrevalence


def risks_of(metrics: BenchmarkMetrics, prevalence: Prevalence) -> list[Risk]:
    """The models that answered cases of both classes, then the two rules."""
    known = [run for run in metrics.runs if run.answers]
    risks = [
        Risk(name=run.name, run=run, at=at)
        for run in known
        if run.answers and (at := at_prevalence(run.answers, prevalence.share))
    ]
    most = max((run.answers for run in known if run.answers), key=lambda each: len(each.predicted))
    rules = (
        Risk(name=name, run=None, at=always(most, prevalence.share, answer))
        for answer, name in RULES.items()
    )
    return [*risks, *rules]


def lead(
    metrics: BenchmarkMetrics, prevalence: Prevalence, prices: Mapping[str, Prices]
) -> Iterator[str]:
    """What the numbers come to: who misses least, who costs least, by how many cases.

    Args:
        metrics: of a benchmark with a positive class.
        prevalence: what they are read at.
        prices: of deployments by name.
    """
    yield from _risk_sentences(metrics, prevalence)
    if money_known := _money(metrics, prices):
        yield money_known
    yield _evidence(metrics)


def _money(metrics: BenchmarkMetrics, prices: Mapping[str, Prices]) -> str:
    """What 1,000 answers cost in money; empty where no price is declared."""
    costs = []
    for run in metrics.runs:
        own = prices.get(run.run.run_spec.model_deployment)
        if run.took and own and (cost := money(run.took, own)) is not None:
            costs.append(f"{run.name} {cost:,.2f} {own.currency or ''}".strip())
    return f"Money for {CASES:,} answers: {first_of(costs, 8)}." if costs else ""


def _evidence(metrics: BenchmarkMetrics) -> str:
    """How many cases, of how many patients, the numbers rest on."""
    runs = [run for run in metrics.runs if run.answers]
    most = max(runs, key=lambda run: len(run.answers.predicted) if run.answers else 0)
    answers, column = most.answers, most.run.cell and most.run.cell.cluster_column
    if answers is None:
        return ""
    total = len(answers.predicted)

    def of_clusters(clusters: int | None) -> str:
        return f" of {counted_by(clusters, column)}" if column and clusters else ""

    most_of = (
        ""
        if all(len(run.answers.predicted) == total for run in runs if run.answers)
        else "at most "
    )
    named = f" ({column})" if column else ""
    positive, negative = (
        f"{answers.count(kind):,} {name}{of_clusters(answers.clusters_of(kind))}"
        for kind, name in ((True, "positive"), (False, "negative"))
    )
    in_both = (answers.clusters_of(True) or 0) + (answers.clusters_of(False) or 0)
    both = in_both - (answers.num_clusters or 0)
    with_both = f"; {counted_by(both, column)} with both" if column and both > 0 else ""
    return (
        f"Evidence: {most_of}{total:,} answers{of_clusters(answers.num_clusters)}{named} by each "
        f"model, {positive} and {negative}{with_both}."
    )


def _risk_sentences(metrics: BenchmarkMetrics, prevalence: Prevalence) -> Iterator[str]:
    risks = risks_of(metrics, prevalence)
    models = [risk for risk in risks if risk.run]
    if not models:
        return
    costs = [risk for risk in models if risk.at.cost]
    lowest = [
        _least(models, "missed"),
        _least(models, "false_alarms"),
        *([_least(costs, "cost")] if costs else []),
    ]
    yield (
        f"At a prevalence of {prevalence}, in {CASES:,} cases, the lowest estimates are: "
        f"{'; '.join(lowest)}."
    )
    if not costs:
        yield (
            "What an error costs is not declared (`costs` of diagnostic_accuracy), so that missed "
            "cases and false alarms are not weighed against each other."
        )
        return
    yield from _by_cost(all_differences(metrics, prevalence), len(costs))
    yield _beside_rule(costs, _cheaper_rule(risks))
    yield from _where_cheapest(costs)


def _by_cost(differences: Sequence["RiskDifference"], num_models: int) -> Iterator[str]:
    """Which models are shown to cost less than which, by paired intervals."""
    priced = [each for each in differences if each.less_reference.cost]
    if not priced:
        return
    beaten: dict[str, list[str]] = {}
    for each in priced:
        if _high(each.less_reference.cost) < 0:
            beaten.setdefault(each.name, []).append(each.reference)
        elif _low(each.less_reference.cost) > 0:
            beaten.setdefault(each.reference, []).append(each.name)
    beside = f" beside {priced[0].reference}" if num_models > FEW_MODELS else ""
    if not beaten:
        yield f"By declared cost the {num_models} models are not told apart{beside}."
        return
    clauses = [
        f"{name} is shown to cost less than {first_of(others, 8)}"
        for name, others in beaten.items()
    ]
    if sum(map(len, beaten.values())) < len(priced):
        clauses.append(f"no other two are told apart{beside}")
    yield f"By declared cost {'; '.join(clauses)}."


_COSTS_LESS = "shown to cost less"


def _beside_rule(costs: Sequence[Risk], rule: Risk) -> str:
    """Which models cost less or more than the cheaper rule, by their own intervals."""
    sides: dict[str, list[str]] = {_COSTS_LESS: [], OF_NO_USE: [], NOT_SHOWN: []}
    for risk in costs:
        sides[_side(risk, rule)].append(risk.name)
    clauses = [f"{side}: {first_of(names, 8)}" for side, names in sides.items() if names]
    return f"Beside {rule.name}, which costs {_value(rule, 'cost'):.1f}: {'; '.join(clauses)}."


def _side(risk: Risk, rule: Risk) -> str:
    limit = _value(rule, "cost")
    if _high(risk.at.cost) < limit:
        return _COSTS_LESS
    return OF_NO_USE if _low(risk.at.cost) > limit else NOT_SHOWN


def _cheaper_rule(risks: Sequence[Risk]) -> Risk:
    return min((risk for risk in risks if not risk.run), key=lambda each: _value(each, "cost"))


def verdicts_of(risks: Sequence[Risk], differences: Sequence["RiskDifference"]) -> dict[str, str]:
    """By model its verdict beside the others, and whether it is of use.

    Args:
        risks: of the models and of the rules.
        differences: of two models each.
    """
    models = [risk for risk in risks if risk.run]
    rule = _cheaper_rule(risks) if any(risk.at.cost for risk in models) else None
    made = {}
    for risk in models:
        less = [*_less_others(risk.name, differences)]
        phrases = [words for name in _SHOWN for words in _beside(name, less, len(models) - 1)]
        if less and not phrases:
            phrases = [NOT_APART]
        if risk.at.without_answer.value > 0:
            phrases.append(f"{risk.at.without_answer.value:.1f} without an answer")
        if rule and risk.at.cost and (side := _side(risk, rule)) != _COSTS_LESS:
            phrases.append(side)
        made[risk.name] = "; ".join(phrases)
    return made if any(made.values()) else {}


def _less_others(
    name: str, differences: Sequence["RiskDifference"]
) -> Iterator[tuple[str, ClassDifference]]:
    """Each other model that this one is compared with, and what this one has more of."""
    for each in differences:
        if each.name == name:
            yield each.reference, each.less_reference
        elif each.reference == name:
            yield each.name, each.less_reference.turned()


def _beside(
    quantity: str, less: Sequence[tuple[str, ClassDifference]], num_others: int
) -> Iterator[str]:
    """From which other models a model is shown to differ in a quantity."""
    best, worst, fewer, more = _SHOWN[quantity]
    below = [name for name, each in less if _high(getattr(each, quantity)) < 0]
    above = [name for name, each in less if _low(getattr(each, quantity)) > 0]
    for names, of_all, of_some in ((below, best, fewer), (above, worst, more)):
        if 1 < len(names) == num_others:
            yield of_all
        elif names:
            yield f"{of_some} {first_of(names, 3)}"


def _where_cheapest(costs: Sequence[Risk]) -> Iterator[str]:
    """The model or rule with the lowest cost, by ranges of the prevalence."""
    lines = [line for risk in costs if (line := _line(risk))]
    answers = costs[0].run.answers if costs[0].run else None
    if not lines or answers is None or answers.costs is None:
        return
    rules = [
        CostLine(name=RULES[answer], in_positive=positive, in_negative=negative)
        for answer, pairs in answers.costs.always.items()
        for positive, negative in pairs
    ]
    ranges = []
    for each in cheapest_ranges([*lines, *rules]):
        low, high = _percent(each.low), _percent(each.high)
        where = f"{low} to {high} %" if each.low else f"below {high} %"
        ranges.append(f"{where if each.high < 1 else f'above {low} %'} {each.name}")
    if len(ranges) == 1:
        ranges = [f"at every prevalence {cheapest_ranges([*lines, *rules])[0].name}"]
    yield f"Lowest declared cost by prevalence, by point estimates: {'; '.join(ranges)}."


def _percent(share: float) -> str:
    """`0.8`, `2.9`, `41.1`, of a share in per cent."""
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.3g}"


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


def differences_of(
    metrics: BenchmarkMetrics, prevalence: Prevalence, reference: str = ""
) -> list[RiskDifference]:
    """Each model against `reference`, where this is one of the models.

    Else against the one with the lowest declared cost; without costs with the fewest missed.
    """
    risks = [risk for risk in risks_of(metrics, prevalence) if risk.run]
    if len(risks) < 2:
        return []
    priced = [risk for risk in risks if risk.at.cost]
    named = [risk for risk in risks if risk.name == reference]
    by = "cost" if priced else "missed"
    beside = named[0] if named else min(priced or risks, key=lambda risk: _value(risk, by))
    others = (risk for risk in risks if risk is not beside)
    return list(_differences(((risk, beside) for risk in others), prevalence))


def all_differences(metrics: BenchmarkMetrics, prevalence: Prevalence) -> list[RiskDifference]:
    """Each model against each later one; of more than FEW_MODELS those of `differences_of`."""
    risks = [risk for risk in risks_of(metrics, prevalence) if risk.run]
    if len(risks) > FEW_MODELS:
        return differences_of(metrics, prevalence)
    return list(_differences(combinations(risks, 2), prevalence))


def _differences(
    pairs: Iterable[tuple[Risk, Risk]], prevalence: Prevalence
) -> Iterator[RiskDifference]:
    for risk, beside in pairs:
        if risk.run and beside.run and risk.run.by_case and beside.run.by_case:
            ours, theirs = in_common(risk.run.by_case, beside.run.by_case)
            if less := difference_at(ours, theirs, prevalence.share):
                yield RiskDifference(name=risk.name, reference=beside.name, less_reference=less)


_NAMES = {"missed": "missed", "false_alarms": "false alarms", "cost": "declared cost"}


def _least(models: Sequence[Risk], name: str) -> str:
    """`missed: alpha, 12.0 [4.1, 33.0]`, and all that share the number."""
    least = min(_value(risk, name) for risk in models)
    best = [risk for risk in models if _value(risk, name) == least]
    names = first_of([risk.name for risk in best], 3)
    return f"{_NAMES[name]}: {names}, {number_of_cases(getattr(best[0].at, name))}"


def _value(risk: Risk, name: str) -> float:
    estimate: Estimated = getattr(risk.at, name)
    return estimate.value


def _high(estimate: Estimated | None) -> float:
    """The upper end; without an interval nothing is shown."""
    return float("inf") if estimate is None or estimate.high is None else estimate.high


def _low(estimate: Estimated | None) -> float:
    return float("-inf") if estimate is None or estimate.low is None else estimate.low


def estimated_text(estimate: Estimated | None, digits: int) -> str:
    """`12.0 [4.1, 33.0]`; `-` where there is none."""
    if estimate is None:
        return "-"
    value = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def number_of_cases(estimate: Estimated) -> str:
    """`12.0 [4.1, 33.0]`; of none that was seen, how many are possible."""
    if estimate.value == 0 and estimate.high:
        return f"none seen, up to {estimate.high:.1f} possible"
    return estimated_text(estimate, 1)


def signed_text(estimate: Estimated | None, digits: int) -> str:
    """`+12.0 [4.1, 33.0]`; `-` where there is none."""
    text = estimated_text(estimate, digits)
    return f"+{text}" if estimate and round(estimate.value, digits) > 0 else text
