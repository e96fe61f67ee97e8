"""HealthBench as MedHELM 0.8.0 scores it, kept beside the authors' rule (see `health_bench`).

A negative item weighs 10 + points and earns when it is met. Verdicts that failed are left out, and
later ones move up to the items before. An empty answer gets 0. Where all weights are 0 MedHELM
stops; here there is no value. It takes the judges in the jury's order, here they come by name.
"""

import math
from collections.abc import Mapping, Sequence

from medhelm_spark.domain.annotation import RubricItem
from medhelm_spark.domain.request import RequestState, Verdict, VerdictStatus
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics.metric import Params
from medhelm_spark.metrics.rubric_points import usable

HIGHEST_RATING = 10.0


def plain(
    state: RequestState, items: Sequence[RubricItem], verdicts: Sequence[Verdict]
) -> float | ScoreStatus:
    """The mean over judges, for HealthBench itself."""
    return _mean(state, [_one_judge(items, told) for told in _told(verdicts).values()])


def professional(
    state: RequestState, items: Sequence[RubricItem], verdicts: Sequence[Verdict], params: Params
) -> float | ScoreStatus:
    """The mean over judges, each averaged with its rating; nothing told is cleared in between."""
    ratings = _ratings(state, params)
    scores: list[float | None] = []
    told: list[float] = []
    for judge, said in _told(verdicts).items():
        told += said
        score = _one_judge(items, told)
        if judge in ratings and score is not None:
            score = (score + ratings[judge] / HIGHEST_RATING) / 2
            told.append(0.0)  # the rating stands among what was told, and is no "true"
        scores.append(score)
    return _mean(state, scores)


def _told(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    """What each judge said, in the order of the items, without gaps where it said nothing."""
    told: dict[str, list[float]] = {judge: [] for judge in sorted({one.judge for one in verdicts})}
    for judge, _, met in sorted(usable(verdicts)):
        told[judge].append(met)
    return told


def _one_judge(items: Sequence[RubricItem], told: Sequence[float]) -> float | None:
    """The score of what was told, taken to be of the first items; None where MedHELM stops."""
    weights = [10 + item.points if item.points < 0 else item.points for item in items]
    total = math.fsum(weights)
    met = (weight for weight, one in zip(weights, told, strict=False) if one)
    return math.fsum(met) / total if total else None


def _ratings(state: RequestState, params: Params) -> Mapping[str, float]:
    """What each judge gave the answer beside the physician's."""
    return {
        one.judge: one.scores[0].score
        for one in state.verdicts
        if one.annotator == params.get("compared_by") and one.status is VerdictStatus.OK
    }


def _mean(state: RequestState, scores: Sequence[float | None]) -> float | ScoreStatus:
    if not state.completions or not state.completions[0].text.strip():
        return 0.0
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return ScoreStatus.NOT_APPLICABLE
    return math.fsum(known) / len(known)
