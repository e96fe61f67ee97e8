"""Missed cases, alarms, cost, tokens, seconds and money of two models, as a table and as data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from medhelm_spark.board.practical import OF_CLASSES, ComparedQuantity, PracticalDifference
from medhelm_spark.board.render.risk import MISSED_NOTE, Prevalence, signed_text
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.two_by_two import CASES

HEADER = ("Benchmark", "What", "First", "Second", "First - second", "n")
DIGITS = {
    ComparedQuantity.MISSED: 1,
    ComparedQuantity.FALSE_ALARMS: 1,
    ComparedQuantity.COST: 1,
    ComparedQuantity.PROMPT_TOKENS: 1,
    ComparedQuantity.OUTPUT_TOKENS: 1,
    ComparedQuantity.SECONDS: 3,
    ComparedQuantity.MONEY: 4,
}


def practical_table(
    differences: Sequence[PracticalDifference], prices: Mapping[str, Prices] | None = None
) -> TextTable:
    """A row for each quantity of a benchmark; the columns First and Second name the two models."""
    models = dict.fromkeys((each.first_name, each.second_name) for each in differences)
    header = list(HEADER)
    if len(models) == 1:
        header[2:4] = next(iter(models))
    return TextTable(
        title="Beside the main metric",
        header=tuple(header),
        rows=[_cells(each) for each in differences],
        notes=tuple(_notes(differences, prices or {})),
    )


def _cells(each: PracticalDifference) -> tuple[str, ...]:
    digits = DIGITS[each.quantity]
    return (
        each.display_name,
        _what(each),
        f"{each.first:.{digits}f}",
        f"{each.second:.{digits}f}",
        signed_text(each.difference, digits),
        f"{each.n:,}",
    )


def _what(each: PracticalDifference) -> str:
    """`missed in 1,000 cases`, `money for 1,000 answers`, `seconds`."""
    if each.quantity in OF_CLASSES:
        return f"{each.quantity} in {CASES:,} cases"
    return (
        f"money for {CASES:,} answers{each.currency and f', {each.currency}'}"
        if each.quantity is ComparedQuantity.MONEY
        else each.quantity
    )


def _notes(
    differences: Sequence[PracticalDifference], prices: Mapping[str, Prices]
) -> Iterable[str]:
    if not differences:
        return
    yield (
        "First less second on the answers that both have; [low, high]: 95 % intervals of paired "
        "differences, each row by itself, not adjusted for the others. An interval without 0: the "
        "two are shown to differ. Tokens, seconds and money: instances are taken as independent."
    )
    at = {
        f"{each.display_name} {at_text(each)}"
        for each in differences
        if each.prevalence is not None
    }
    if at:
        yield f"Missed cases, false alarms and cost: {'; '.join(sorted(at))}. {MISSED_NOTE}"
    for name, costs in sorted(
        {(each.display_name, each.costs) for each in differences if each.costs}
    ):
        yield f"Declared cost, {name}: {costs}."
    if any(each.quantity is ComparedQuantity.SECONDS for each in differences):
        yield from price_notes((differences[0].first_name, differences[0].second_name), prices)


def at_text(each: PracticalDifference) -> str:
    """`at a prevalence of 2 % (as stated)`; empty of a quantity that needs none."""
    if each.prevalence is None:
        return ""
    return f"at a prevalence of {Prevalence(share=each.prevalence, is_stated=each.is_stated)}"


def price_notes(names: Iterable[str], prices: Mapping[str, Prices]) -> Iterator[str]:
    """By which prices money is computed, and which models have none.

    Args:
        names: of deployments, a further run's with its variant.
        prices: of deployments by name.
    """
    behind = {name: name.partition(" (")[0] for name in names}
    if note := price_note({each: prices[each] for each in behind.values() if each in prices}):
        yield note
    if without := [name for name, each in behind.items() if each not in prices]:
        yield (
            f"Money: no price is declared of {first_of(without)}; whoever set up the models can "
            "declare it (`prices`)."
        )


def price_note(prices: Mapping[str, Prices]) -> str:
    """In which currency prices are, and of which day; empty without prices."""
    by_day: dict[str, list[str]] = {}
    for name, each in sorted(prices.items()):
        day = f"as of {each.as_of}" if each.as_of else "date not recorded"
        by_day.setdefault(f"in {each.currency or 'an unstated currency'}, {day}", []).append(name)
    sentences = (f"Prices {day}: {first_of(names, 8)}." for day, names in by_day.items())
    return " ".join(sentences)


def records(differences: Iterable[PracticalDifference]) -> list[dict[str, object]]:
    """Every number at full precision."""
    made = []
    for each in differences:
        record = asdict(each)
        difference = record.pop("difference")
        made.append(
            {
                **record,
                "difference": difference["value"],
                "ci_low": difference["low"],
                "ci_high": difference["high"],
            }
        )
    return made
