"""The sentences that compare two models: where one is worse, and its other costs."""

from dataclasses import replace

from medhelm_spark.board.practical import ComparedQuantity, PracticalDifference
from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.board import tiers_text
from medhelm_spark.board.render.trade_off import trade_off_notes
from medhelm_spark.board.render.verdicts import is_more, regressions, summary
from medhelm_spark.board.trade_off import SECONDS, TOKENS, TradeOff
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import BoardPair, adjusted, adjusted_as
from medhelm_spark.statistics.tiers import TierRank
from medhelm_spark.statistics.two_by_two import Estimated
from tests.unit.statistics.cells import CELL, PAIR, board_of, values


def pair(first: str, second: str, lost: int, won: int, **changes: object) -> BoardPair:
    """`first` is alone right on `won` of 200 instances, and alone wrong on `lost`."""
    both = values((1, 0, won), (0, 1, lost), (1, 1, 200 - won - lost))
    return replace(
        PAIR,
        first=first,
        second=second,
        difference=paired_difference(*both),
        run_spec_ids=(f"{first}-run", f"{second}-run"),
        **changes,
    )  # type: ignore[arg-type]


def quantity(
    compared: ComparedQuantity, value: float, low: float, high: float
) -> PracticalDifference:
    return PracticalDifference(
        scenario_name="letters",
        display_name="Letters",
        first_name="new",
        second_name="today",
        quantity=compared,
        first=value,
        second=0.0,
        difference=Estimated(value, low, high),
        n=600,
    )


LETTERS, ROUTING = (
    adjusted([pair("new", "today", lost, won, display_name=name, margin=margin)])[0]
    for name, lost, won, margin in (("Letters", 6, 13, 0.05), ("Routing", 29, 60, None))
)


def test_the_summary_names_the_benchmarks() -> None:
    assert summary([LETTERS, ROUTING]) == (
        "new against today, 2 comparisons: better on Routing; not told apart on Letters. "
        "Within the margin: not inferior on Letters."
    )


def test_regressions_say_what_is_compared_and_what_is_worse_beside_it() -> None:
    alarms = quantity(ComparedQuantity.FALSE_ALARMS, 33.3, 1.1, 65.6)
    seconds = quantity(ComparedQuantity.SECONDS, 1.325, 1.276, 1.373)
    missed = quantity(ComparedQuantity.MISSED, -11.7, -26.7, 3.4)
    tokens = quantity(ComparedQuantity.PROMPT_TOKENS, 69.8, 64.5, 75.1)
    money = replace(quantity(ComparedQuantity.MONEY, 1.247, 1.2248, 1.2693), currency="EUR")
    differences = [missed, alarms, seconds, tokens, money]
    assert list(regressions("new", [LETTERS, ROUTING], differences)) == [
        "By the main metrics (exact_match on Letters, Routing) new is not shown to be worse on any "
        "of them.",
        "Beside the main metrics it is shown that new has more false alarms (Letters: +33.3 "
        "[1.1, 65.6] in 1,000 cases), takes more seconds (Letters: +1.325 [1.276, 1.373]), costs "
        "more money (Letters: +1.2470 [1.2248, 1.2693] EUR for 1,000 answers).",
    ]
    assert [each for each in differences if is_more(each)] == [alarms, seconds, money]
    (worse,) = adjusted([pair("new", "today", 60, 29, display_name="Routing")])
    first, beside = regressions("new", [worse], [missed])
    assert first.endswith("new is shown to be worse on Routing.")
    assert beside.startswith("Beside the main metrics new is not shown to be worse in missed")


def test_two_models_of_a_board_have_the_boards_p() -> None:
    whole = adjusted(
        pair(first, second, lost, won)
        for first, second, lost, won in (
            ("new", "today", 6, 18),
            ("new", "small", 5, 60),
            ("today", "small", 9, 14),
        )
    )
    (alone,) = adjusted([pair("today", "new", 18, 6)])
    assert alone.adjusted_p == alone.difference.p_value
    (adjusted_alone,) = adjusted_as([alone], whole)
    of_board = whole[0]
    assert (adjusted_alone.adjusted_p, adjusted_alone.num_adjusted) == (of_board.adjusted_p, 3)
    assert (adjusted_alone.first, adjusted_alone.difference) == (alone.first, alone.difference)
    assert adjusted_as([alone], whole[1:]) == (alone,)
    _, chance, *_ = comparison.notes([adjusted_alone])
    assert chance == (
        "Comparisons that the suite file does not declare: p is adjusted (Benjamini and Hochberg) "
        "for 3 comparisons: all pairs of models on the board, listed here or not. Of those called "
        "better or worse, at most 1 in 20 is expected to be chance."
    )
    assert "for 3 comparisons. Of those" in list(comparison.notes(whole))[1]


def test_a_largest_p_keeps_its_value_where_all_pairs_are_known() -> None:
    """0.887 of three pairs; a pair that is not given counts as p = 1 and would make it 1.000."""
    three = [pair("a", "b", 32, 33), pair("a", "c", 5, 40), pair("b", "c", 6, 40)]
    largest = three[0].difference.p_value
    assert adjusted(three)[0].adjusted_p == largest < 1
    assert adjusted(three[:2], num_others=3)[0].adjusted_p == 1.0


def test_the_lead_names_who_is_behind_whom() -> None:
    ranks = {"new": (1, 1, 2), "today": (1, 1, 3), "small": (2, 2, 3)}
    rows = [
        replace(
            board_of([replace(CELL, model_deployment=name)]).rows[0],
            rank=rank,
            standing=TierRank(tier=tier, rank_low=low, rank_high=high),
        )
        for rank, (name, (tier, low, high)) in enumerate(ranks.items(), start=1)
    ]
    board = replace(board_of([CELL]), rows=tuple(rows))
    assert tiers_text(board) == (
        "Tier 1: new, today. On these benchmarks no ranked model is shown to be better than these. "
        "Shown to be behind new: small."
    )
    third = replace(rows[2], standing=TierRank(tier=3, rank_low=3, rank_high=3))
    board = replace(board, rows=(rows[0], replace(rows[1], standing=rows[2].standing), third))
    assert "Shown to be behind a model of the tier above: today, small." in tiers_text(board)


def test_what_all_models_take_alike_is_no_trade_off() -> None:
    def points(*takes: float) -> tuple[TradeOff, ...]:
        return tuple(
            TradeOff(name=name, mean=mean, low=None, high=None, takes=each, is_undominated=best)
            for name, mean, each, best in zip("ab", (0.9, 0.7), takes, (True, False), strict=True)
        )

    assert list(trade_off_notes({TOKENS: points(2.49, 2.51), SECONDS: points(1.0, 2.0)})) == [
        "Output tokens: about the same for all models, 2.5.",
        "Seconds, by the estimates: another model is at least as good and takes no more than b.",
    ]
    rising = tuple(replace(each, is_undominated=True) for each in points(2.0, 1.0))
    assert list(trade_off_notes({SECONDS: rising})) == [
        "Seconds, by the estimates: the better a model is, the more it takes."
    ]
