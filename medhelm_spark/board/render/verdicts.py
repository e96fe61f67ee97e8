"""The sentences above a comparison of two models: the main metric and what it costs."""

from collections.abc import Iterable, Iterator, Sequence

from medhelm_spark.board.practical import OF_CLASSES, ComparedQuantity, PracticalDifference
from medhelm_spark.board.render.practical import DIGITS, at_text
from medhelm_spark.board.render.risk import signed_text
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.statistics.pairs import BoardPair, PairDecision
from medhelm_spark.statistics.two_by_two import CASES

LOWER_COST, HIGHER_COST = "at lower declared cost", "at higher declared cost"
COST_WORDS = (LOWER_COST, HIGHER_COST)
"""What is printed of a model's declared cost beside another's; bold where a format has bold."""
_OF = {
    PairDecision.WORSE: "worse than {} on",
    PairDecision.BETTER: "better than {} on",
    PairDecision.DIFFERENT: "different from {} on",
    PairDecision.NOT_TOLD_APART: "not told apart from {} on",
    PairDecision.NOT_TESTED: "not tested against {} on",
}


def summary(pairs: Sequence[BoardPair]) -> str:
    """Each decision with its benchmarks; empty where not all pairs are of the same two rows."""
    if len({(pair.first, pair.second) for pair in pairs}) != 1:
        return ""
    decided = _benchmarks_by((pair.decision.value, pair) for pair in pairs)
    clauses = (f"{each.value} on {decided[each.value]}" for each in PairDecision if each in decided)
    line = (
        f"{pairs[0].first} against {pairs[0].second}, {counted(len(pairs), 'comparison')}: "
        f"{'; '.join(clauses)}."
    )
    verdicts = _benchmarks_by((margin_verdict(pair), pair) for pair in pairs)
    judged = [f"{name} on {benchmarks}" for name, benchmarks in verdicts.items() if name]
    return f"{line} Within the margin: {'; '.join(judged)}." if judged else line


def _benchmarks_by(named: Iterable[tuple[str, BoardPair]]) -> dict[str, str]:
    """The benchmarks of the pairs under each name, as a sentence has them."""
    by_name: dict[str, dict[str, None]] = {}
    for name, pair in named:
        by_name.setdefault(name, {})[pair.display_name] = None
    return {name: first_of(list(benchmarks)) for name, benchmarks in by_name.items()}


def margin_verdict(pair: BoardPair) -> str:
    """What is known of the first model beside a margin; every equivalent one is not inferior.

    Empty without a margin, and where nothing could be tested.
    """
    if pair.margin is None or pair.is_not_inferior is None:
        return ""
    if pair.is_equivalent:
        return "equivalent"
    return "not inferior" if pair.is_not_inferior else "not shown"


def verdicts(pairs: Iterable[BoardPair], practical: Iterable[PracticalDifference]) -> Iterator[str]:
    """Of each pair with a positive class a sentence: the decision, and at what cost.

    Without declared costs it names the missed cases and the false alarms in place of the cost.
    """
    differences = {
        (
            each.scenario_name,
            each.display_name,
            each.first_name,
            each.second_name,
            each.quantity,
        ): each
        for each in practical
    }
    for pair in pairs:
        key = (pair.scenario_name, pair.display_name, pair.first, pair.second)
        cost = differences.get((*key, ComparedQuantity.COST))
        errors = [
            differences.get((*key, each))
            for each in (ComparedQuantity.MISSED, ComparedQuantity.FALSE_ALARMS)
        ]
        quantities = [each for each in ([cost] if cost else errors) if each]
        if quantities:
            decision = _OF[pair.decision].format(pair.second)
            yield (
                f"{pair.display_name}, {at_text(quantities[0])}: {pair.first} is {decision} "
                f"{pair.main_metric}, {' and '.join(map(_clause, quantities))}."
            )


_MORE = {
    ComparedQuantity.MISSED: "misses more cases",
    ComparedQuantity.FALSE_ALARMS: "has more false alarms",
    ComparedQuantity.COST: "has a higher declared cost",
    ComparedQuantity.SECONDS: "takes more seconds",
    ComparedQuantity.MONEY: "costs more money",
}
"""The quantities of which more is worse, in words."""


def is_more(each: PracticalDifference) -> bool:
    """Whether the first model is shown to be worse: to miss, take or cost more."""
    return each.quantity in _MORE and each.difference.low is not None and each.difference.low > 0


def regressions(
    first: str, pairs: Sequence[BoardPair], practical: Iterable[PracticalDifference]
) -> Iterator[str]:
    """What the first model is shown to be worse at: by the main metrics, and beside them."""
    by_metric = _benchmarks_by((pair.main_metric, pair) for pair in pairs)
    compared = "; ".join(f"{metric} on {names}" for metric, names in by_metric.items())
    worse = [pair.display_name for pair in pairs if pair.decision is PairDecision.WORSE]
    where = f"is shown to be worse on {first_of(worse)}"
    nowhere = "is not shown to be worse on any of them"
    yield f"By the main metrics ({compared}) {first} {where if worse else nowhere}."
    more: dict[str, list[str]] = {}
    for each in filter(is_more, practical):
        digits = DIGITS[each.quantity]
        unit = f" in {CASES:,} cases" if each.quantity in OF_CLASSES else ""
        if each.quantity is ComparedQuantity.MONEY:
            unit = f" {each.currency}".rstrip() + f" for {CASES:,} answers"
        text = f"{each.display_name}: {signed_text(each.difference, digits)}{unit}"
        more.setdefault(_MORE[each.quantity], []).append(text)
    if more:
        clauses = (f"{words} ({'; '.join(texts)})" for words, texts in more.items())
        yield f"Beside the main metrics it is shown that {first} {', '.join(clauses)}."
    else:
        yield (
            f"Beside the main metrics {first} is not shown to be worse in missed cases, false "
            "alarms, declared cost, seconds or money, where these are known."
        )


def _clause(each: PracticalDifference) -> str:
    """`at lower declared cost (190.0 beside 773.3 in 1,000 cases, -583.3 [-838.7, -328.0])`."""
    digits = DIGITS[each.quantity]
    numbers = (
        f"({each.first:.{digits}f} beside {each.second:.{digits}f} in {CASES:,} cases, "
        f"{signed_text(each.difference, digits)})"
    )
    low, high = each.difference.low, each.difference.high
    is_lower, is_higher = high is not None and high < 0, low is not None and low > 0
    if each.quantity is ComparedQuantity.COST:
        if is_lower or is_higher:
            return f"{LOWER_COST if is_lower else HIGHER_COST} {numbers}"
        return f"at a declared cost that is not shown to differ {numbers}"
    name = "missed cases" if each.quantity is ComparedQuantity.MISSED else each.quantity.value
    if is_lower or is_higher:
        return f"with {'fewer' if is_lower else 'more'} {name} {numbers}"
    return f"with {name} that are not shown to differ {numbers}"
