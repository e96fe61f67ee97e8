"""What the paired difference of two rows of a board comes to: one decision per benchmark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.statistics.multiple import benjamini_hochberg, holm
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.student import LEVEL

FEW_MODELS = 6
"""Up to so many models each is compared with each other one; of more each with one of them."""


class PairDecision(StrEnum):
    """What is known of the first model against the second, in the order of a table."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERENT = "different"
    NOT_TOLD_APART = "not told apart"
    NOT_TESTED = "not tested"


class Adjustment(StrEnum):
    """How a p-value was adjusted for the other questions asked with it."""

    HOLM = "Holm"
    BENJAMINI_HOCHBERG = "Benjamini-Hochberg"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPair:
    """The paired difference, first minus second, of two rows on one scenario.

    `is_primary`: the suite file declared the question beforehand. `margin` is the difference that
    is too small to matter, in the metric's own units. `adjusted_p` takes into account the other
    pairs that were asked about at once, `num_adjusted` with this one, by `adjustment`; `adjusted`
    fills the three in. `jury_evidence` and `imported` are as in BoardCell, of either.
    `corrected_difference` is a jury's difference corrected by the ratings that people gave to both
    answers of `num_rated` instances (`statistics.prediction_powered`); None without enough.
    """

    scenario_name: str
    display_name: str
    main_metric: str
    first: str
    second: str
    difference: PairedDifference
    category: str = ""
    lower_is_better: bool | None = None
    is_primary: bool = False
    margin: float | None = None
    cluster_column: str | None = None
    jury_evidence: JuryEvidence = JuryEvidence.NO_JURY
    imported: str = ""
    run_spec_ids: tuple[str, str] = ("", "")
    adjusted_p: float | None = None
    adjustment: Adjustment | None = None
    num_adjusted: int | None = None
    corrected_difference: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    num_rated: int = 0

    @property
    def decision(self) -> PairDecision:
        """Told apart where the adjusted p-value is below 5 %."""
        mean = self.difference.mean_difference
        if self.adjusted_p is None or mean is None:
            return PairDecision.NOT_TESTED
        if self.adjusted_p >= LEVEL:
            return PairDecision.NOT_TOLD_APART
        if self.lower_is_better is None:
            return PairDecision.DIFFERENT
        return PairDecision.BETTER if (mean < 0) == self.lower_is_better else PairDecision.WORSE

    @property
    def gain(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval of how much better the first model is."""
        low, high = self.difference.ci_low, self.difference.ci_high
        if low is None or high is None or self.lower_is_better is None:
            return None
        return (-high, -low) if self.lower_is_better else (low, high)

    @property
    def is_not_inferior(self) -> bool | None:
        """Whether the first is worse by less than the margin, at 2.5 % one-sided; None without."""
        if self.margin is None or self.gain is None:
            return None
        return self.gain[0] > -self.margin

    @property
    def is_equivalent(self) -> bool | None:
        """Whether the whole interval lies within the margin; None without one."""
        if self.margin is None or self.gain is None:
            return None
        return -self.margin < self.gain[0] and self.gain[1] < self.margin

    @property
    def wins(self) -> int | None:
        """Instances on which the first is better; None where neither direction is."""
        difference = self.difference
        return (
            None
            if self.lower_is_better is None
            else difference.num_lower
            if self.lower_is_better
            else difference.num_higher
        )

    @property
    def losses(self) -> int | None:
        """Instances on which the second is better."""
        difference = self.difference
        return (
            None
            if self.lower_is_better is None
            else difference.num_higher
            if self.lower_is_better
            else difference.num_lower
        )


def adjusted(
    pairs: Iterable[BoardPair], *, num_declared: int = 0, num_others: int = 0
) -> tuple[BoardPair, ...]:
    """The pairs with adjusted p-values: those declared beforehand by Holm, the others by BH.

    They are two families: a map does not make a declared question harder to answer. Where the pairs
    were chosen by the data, as those with the best model are, `num_declared` and
    `num_others` are the numbers of all; pairs that are left out count as if their p-value were 1.
    """
    pairs = list(pairs)
    declared = [pair for pair in pairs if pair.is_primary]
    others = [pair for pair in pairs if not pair.is_primary]
    return (
        *_adjusted(declared, Adjustment.HOLM, num_declared),
        *_adjusted(others, Adjustment.BENJAMINI_HOCHBERG, num_others),
    )


def adjusted_as(pairs: Iterable[BoardPair], whole: Iterable[BoardPair]) -> tuple[BoardPair, ...]:
    """The pairs with the adjusted p-values that they have among the pairs of a whole board.

    The two models that a user compares were often chosen by the board, so that all of
    its pairs count. A pair that the board does not have keeps its own adjusted p-value.
    """
    known = {(frozenset(each.run_spec_ids), each.display_name): each for each in whole}
    made = []
    for pair in pairs:
        on_board = known.get((frozenset(pair.run_spec_ids), pair.display_name), pair)
        made.append(
            replace(
                pair,
                adjusted_p=on_board.adjusted_p,
                adjustment=on_board.adjustment,
                num_adjusted=on_board.num_adjusted,
            )
        )
    return tuple(made)


def _adjusted(pairs: Sequence[BoardPair], how: Adjustment, family: int) -> list[BoardPair]:
    adjust = holm if how is Adjustment.HOLM else benjamini_hochberg
    tested = [pair for pair in pairs if pair.difference.p_value is not None]
    unseen = [1.0] * max(0, family - len(tested))
    adjusted_ps = adjust([*(pair.difference.p_value or 0.0 for pair in tested), *unseen])
    p_values = adjusted_ps[: len(tested)]
    return [
        *(
            replace(pair, adjusted_p=p_value, adjustment=how, num_adjusted=len(adjusted_ps))
            for pair, p_value in zip(tested, p_values, strict=True)
        ),
        *(
            replace(pair, adjusted_p=None, adjustment=None, num_adjusted=None)
            for pair in pairs
            if pair.difference.p_value is None
        ),
    ]


def regressions_first(pair: BoardPair) -> tuple[object, ...]:
    """Sort key: primary endpoints, then by decision, then what the first model loses most on."""
    gain = pair.difference.mean_difference or 0.0
    order = -gain if pair.lower_is_better else gain
    rank = list(PairDecision).index(pair.decision)
    return (not pair.is_primary, rank, order, pair.display_name, pair.first, pair.second)
