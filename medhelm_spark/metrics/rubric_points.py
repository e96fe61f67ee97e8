"""The points that an answer earns by its instance's own rubric, from the judges' verdicts.

An item's share is the mean of the judges' verdicts on it, each 1 or 0; with complete verdicts the
points are the mean over judges. An item that lacks a judge's usable verdict is missing: its share
is None; with params["incomplete_jury"] = "available" it is missing only where no verdict is usable.
Verdicts name their item, so that a failed verdict does not shift the others.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from medhelm_spark.domain.annotation import RubricItem
from medhelm_spark.domain.request import RequestState, Verdict, VerdictStatus
from medhelm_spark.domain.stats import Score, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics.jury import COVERAGE, check_incomplete_jury, takes_available
from medhelm_spark.metrics.metric import Params

Shares = Sequence[float | None]

UNSCORED, LOWEST = "unscored", "lowest"
"""What an answer with a missing item gets: no value, or the lowest that it could have had."""


def check_missing(params: Params) -> None:
    """Raise ConfigError for an unknown rule for incomplete juries or missing verdicts."""
    check_incomplete_jury(params)
    rule = params.get("missing", UNSCORED)
    if rule not in (UNSCORED, LOWEST):
        raise ConfigError(f"missing is {rule!r}; allowed: {UNSCORED}, {LOWEST}.")


def verdicts_of(state: RequestState, params: Params) -> list[Verdict]:
    """The verdicts of the annotator that the params name, or all."""
    annotator = params.get("annotator")
    return [v for v in state.verdicts if annotator in (None, v.annotator)]


def refusal(
    state: RequestState, items: Sequence[RubricItem], verdicts: Sequence[Verdict]
) -> ScoreStatus | None:
    """Why an answer has no value at all, or None where it may have one."""
    if not state.completions:
        return ScoreStatus.NO_ANSWER
    if not items:
        return ScoreStatus.NO_REFERENCE
    return None if verdicts else ScoreStatus.NO_VERDICT


def usable(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, int, float]]:
    """Judge, index of the item, and 1 or 0, of every usable verdict on an item."""
    for verdict in verdicts:
        is_usable = verdict.status is VerdictStatus.OK and verdict.scores
        if is_usable and verdict.rubric_item is not None:
            yield verdict.judge, verdict.rubric_item, verdict.scores[0].score


def shares_of(items: Sequence[RubricItem], verdicts: Sequence[Verdict], params: Params) -> Shares:
    """Per item the share of its verdicts that call it met; None where it is missing."""
    by_item: dict[int, list[float]] = {index: [] for index in range(len(items))}
    for _, index, met in usable(verdicts):
        by_item.setdefault(index, []).append(met)
    needed = 1 if takes_available(params) else len({verdict.judge for verdict in verdicts})
    met_by_item = [by_item[index] for index in range(len(items))]
    return [sum(met) / len(met) if len(met) >= needed else None for met in met_by_item]


def earned(items: Sequence[RubricItem], shares: Shares, params: Params) -> float | ScoreStatus:
    """Points earned over the positive points possible, unclipped, or why there is no value.

    Without positive points nothing can be earned (NOT_APPLICABLE). With a missing item there is no
    value (NO_VERDICT), or by params["missing"] = "lowest" a missing positive item counts as not
    met and a missing negative one as met.
    """
    possible = math.fsum(item.points for item in items if item.points > 0)
    if not possible:
        return ScoreStatus.NOT_APPLICABLE
    if None in shares and params.get("missing") != LOWEST:
        return ScoreStatus.NO_VERDICT
    pairs = zip(items, shares, strict=True)
    points = (
        item.points * (float(item.points < 0) if share is None else share) for item, share in pairs
    )
    return math.fsum(points) / possible


def points_share(items: Sequence[RubricItem], met: Mapping[int, float]) -> float | None:
    """One judge's share of the positive points, from 0 to 1; None where a verdict is missing.

    >>> items = (RubricItem(criterion="a", points=4.0), RubricItem(criterion="b", points=-1.0))
    >>> points_share(items, {0: 1.0, 1: 1.0}), points_share(items, {0: 1.0})
    (0.75, None)
    """
    value = earned(items, [met.get(index) for index in range(len(items))], {})
    return None if isinstance(value, ScoreStatus) else min(1.0, max(0.0, value))


def score_of(name: str, value: float | ScoreStatus) -> Score:
    """A value as a Score, or the reason why there is none."""
    if isinstance(value, ScoreStatus):
        return Score(name=name, value=None, status=value)
    return Score(name=name, value=value)


def coverage_of(items: Sequence[RubricItem], verdicts: Sequence[Verdict]) -> Score:
    """The share of verdicts, one per judge and item, that could be used."""
    judges = {verdict.judge for verdict in verdicts}
    num_usable = sum(1 for _ in usable(verdicts))
    return Score(name=COVERAGE.name, value=num_usable / (len(judges) * len(items)))
