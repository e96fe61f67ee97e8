"""Panel: a judgement on a scale, where each point has the weight that experts gave it."""

import json
import math

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import TEMPLATE, correct, filled
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    optional_text,
)

WEIGHT = "weight."
OPTIONS = (TEMPLATE,)
NEEDED = (TEMPLATE,)
DISTRIBUTION = "expert_distribution"


def parse_panel(record: Record, card: ScenarioCard) -> ParsedInput:
    """The filled template; the reference is the point of the largest weight, the first on ties.

    Roles `weight.POINT` name the columns in the order of the scale. The weights become
    `extra_data["expert_distribution"]`, a JSON list; an empty cell is 0.
    """
    roles = [role for role in card.fields if role.startswith(WEIGHT)]
    weights = [_weight(optional_text(record, card, role)) for role in roles]
    best = max(weights)
    if best <= 0:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    point = roles[weights.index(best)].removeprefix(WEIGHT)
    return ParsedInput(
        input=filled(record, card),
        references=(correct(point),),
        extra_data={DISTRIBUTION: json.dumps(weights)},
    )


def _weight(text: str | None) -> float:
    if text is None or not text.strip():
        return 0.0
    try:
        weight = float(text)
    except ValueError:
        raise BadRecord(BadReason.UNKNOWN_ANSWER) from None
    if not math.isfinite(weight) or weight < 0:
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    return weight
