"""What a comparison of two models comes to, in sentences: the main metric and what it costs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from medhelm_spark.board.practical import ComparedQuantity, PracticalDifference
from medhelm_spark.board.render.practical import DIGITS, at_text
from medhelm_spark.board.render.risk import signed_text
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.statistics.pairs import BoardPair, PairDecision
from medhelm_spark.statistics.two_by_two import CASES

LOWER_COST, HIGHER_COST = "at lower declared cost", "at higher declared cost"
COST_WORDS = (LOWER_COST, HIGHER_COST)
"""What is printed of a model's declared cost beside another's; bold where a form can be."""
_OF = {
    PairDecision.WORSE: "worse than {} on",
    PairDecision.BETTER: "better than {} on",
    PairDecision.DIFFERENT: "different from {} on",
    PairDecision.NOT_TOLD_APART: "not told apart from {} on",
    PairDecision.NOT_TESTED: "not tested against {} on",
}


def summary(pairs: Sequence[BoardPair]) -> str:
    """How many benchmarks come to which decision; empty where not all are of the same two rows."""
    if len({(pair.first, pair.second) for pair in pairs}) != 1:
        return ""
    counts = Counter(pair.decision for pair in pairs)
    said = ", ".join(f"{each.value} on {counts[each]}" for each in PairDecision if counts[each])
    line = (
        f"{pairs[0].first} against {pairs[0].second}, {counted(len(pairs), 'comparison')}: {said}."
    )
    verdicts = Counter(filter(None, map(margin_verdict, pairs)))
    if verdicts:
        listed = (f"{verdict} on {number}" for verdict, number in verdicts.most_common())
        line += f" Within the margin: {', '.join(listed)}."
    return line


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
    held = {
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
        cost = held.get((*key, ComparedQuantity.COST))
        errors = [
            held.get((*key, each))
            for each in (ComparedQuantity.MISSED, ComparedQuantity.FALSE_ALARMS)
        ]
        shown = [each for each in ([cost] if cost else errors) if each]
        if shown:
            decision = _OF[pair.decision].format(pair.second)
            yield (
                f"{pair.display_name}, {at_text(shown[0])}: {pair.first} is {decision} "
                f"{pair.main_metric}, {' and '.join(map(_clause, shown))}."
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
