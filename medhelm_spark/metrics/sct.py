"""Script concordance test: the share of experts who gave the model's rating. And MedHELM 0.8.0's.

SCT-Bench (McCoy et al. 2025) by the aggregate scoring usual for such tests: a rating from -2 to +2
gets the weight of the experts who chose it over the greatest weight of any rating, so that the
commonest expert rating is worth 1; `sct_expert_set_membership` is 1 where any expert chose it. The
weights are the five numbers of the JSON list in extra_data["expert_distribution"], for -2 to +2.

The rating is the first number from -2 to 2 after the word `Rating`, or the whole answer. A scale
after the word, as in `Rating (-2 to +2): +1`, is no rating. Anything else is wrong; where all
weights are 0 there is no value. MedHELM gives 0 there too, reads five characters after `Rating: `,
and reads no 1 and 2 without a plus sign: `Rating: 1` and `**Rating:** +1` are wrong to it, and
`Rating: 10` is the rating 0.
"""

import json
import math
import re
from collections.abc import Sequence
from functools import lru_cache

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import (
    MEDHELM,
    Metric,
    Params,
    ScoreRow,
    first_text,
    scored,
    unscored,
)

_RATINGS = range(-2, 3)
_NUMBER = r"([+\-−–]?)\s?([0-2])(?!\d|[.,/]\d)"
_SCALE = r"[\-−–]\s?2\s?(?:to|\.{2,3}|…|[\-−–/,])\s?\+?\s?2"
"""The scale itself, as questions write it and answers repeat it: no rating."""
_AFTER_WORD = re.compile(
    rf"\brating\b(?:\s?[(\[]\s?{_SCALE}\s?[)\]])?(?:\s+(?:is|of)\b)?"
    rf"[\s:=*_`\"'(\[]{{0,12}}(?!{_SCALE}){_NUMBER}",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"[\s*_`\"'(\[]{{0,12}}{_NUMBER}[\s*_`\"')\].]{{0,12}}")
_MEDHELM_RATING = re.compile(r"\+[12]|0|-[12]")
_MEDHELM_WINDOW = 5

Weights = tuple[float, ...]


def _rating(answer: str) -> int | None:
    match = _AFTER_WORD.search(answer) or _ALONE.fullmatch(answer)
    if not match:
        return None
    size = int(match[2])
    return size if match[1] in ("", "+") else -size


def _medhelm_rating(answer: str) -> int | None:
    _, _, after = answer.partition("Rating: ")
    try:
        rating = int("".join(_MEDHELM_RATING.findall(after[:_MEDHELM_WINDOW])))
    except ValueError:
        return None
    return rating if rating in _RATINGS else None


@lru_cache(maxsize=1024)
def _weights(listed: str) -> Weights | None:
    """The weights of the ratings in order; None where the text has no five usable numbers."""
    try:
        weights = tuple(float(weight) for weight in json.loads(listed))
    except (ValueError, TypeError):
        return None
    is_usable = all(math.isfinite(weight) and weight >= 0 for weight in weights)
    return weights if is_usable and len(weights) == len(_RATINGS) else None


def _values(rating: int | None, weights: Weights) -> tuple[float, float]:
    greatest = max(weights)
    if rating is None or not greatest:
        return 0.0, 0.0
    weight = weights[rating - _RATINGS.start]
    return weight / greatest, float(weight > 0)


def _row(state: RequestState) -> ScoreRow:
    if (answer := first_text(state)) is None:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    weights = _weights(state.extra_data.get("expert_distribution", ""))
    if weights is None:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    theirs = scored(_NAMES[2:], _values(_medhelm_rating(answer), weights))
    if not any(weights):
        return unscored(_NAMES[:2], ScoreStatus.NO_REFERENCE) + theirs
    return scored(_NAMES[:2], _values(_rating(answer), weights)) + theirs


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


def _infos(suffix: str, title: str) -> tuple[MetricInfo, ...]:
    return (
        MetricInfo(
            name=f"sct_score{suffix}",
            display_name=f"SCT score{title}",
            description="Weight of the experts who gave the rating, the commonest one's being 1.",
        ),
        MetricInfo(
            name=f"sct_expert_set_membership{suffix}",
            display_name=f"Expert set membership{title}",
            description="Share of ratings that at least one expert gave.",
        ),
    )


SCT = Metric(
    fn=_score,
    needs=frozenset({"extra_data", "completions"}),
    emits=(*_infos("", ""), *_infos(MEDHELM, " (MedHELM 0.8)")),
    version="2",
    data_set="SCT-Bench",
)
_NAMES = tuple(info.name for info in SCT.emits)

METRICS = {"sct": SCT}
