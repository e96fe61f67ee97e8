"""Numeric match: 1 where a number is within a tolerance of the reference.

    |x - r| <= max(absolute, relative * |r|)

as in PEP 485, with r alone for the scale; params["absolute"] is in the unit of the reference and
params["relative"] a share of it (0.05: five per cent). Without both the numbers must be equal.
Numbers are compared as decimals, so that 1.1 is within 0.1 of 1.0.

The answer as it was read (`answer_extraction`) must be the number, perhaps with its unit; nothing
is picked out of a sentence. Where reference and answer both state a unit, another unit is wrong,
for 500 g is not 500 mg, and nothing is converted. An answer that is no number is wrong and counted
in `numeric_unreadable`; a reference that is none gives no value.
"""

from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics.metric import (
    Metric,
    Params,
    ScoreRow,
    likeliest_text,
    scored,
    unscored,
)
from medhelm_spark.metrics.quantity import Quantity, quantity

_ARGS = ("absolute", "relative")
EXACT = Context(prec=2200)
"""Wide enough for the difference of any two quantities: 80 digits and an exponent of three."""


def _tolerance(params: Params, name: str) -> Decimal:
    """A tolerance of params, 0 where it is not given; ConfigError unless a number from 0 on."""
    try:
        value = Decimal(params.get(name, "0"))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        raise ConfigError(
            f"numeric_match: {name} is {params[name]!r}; allowed: a number of at least 0, in "
            "quotes."
        )
    return value


def _check(params: Params) -> None:
    for name in params:
        if name not in _ARGS:
            raise UnknownNameError("argument", name, _ARGS, where="numeric_match")
    for name in _ARGS:
        _tolerance(params, name)


def _is_within(predicted: Quantity, right: Quantity, absolute: Decimal, relative: Decimal) -> bool:
    if predicted.unit and right.unit and predicted.unit != right.unit:
        return False
    allowed = max(absolute, EXACT.multiply(relative, abs(right.number)))
    return abs(EXACT.subtract(predicted.number, right.number)) <= allowed


def _row(state: RequestState, absolute: Decimal, relative: Decimal) -> ScoreRow:
    if not state.completions:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    texts = [reference.text for reference in state.references if reference.is_correct]
    right = [value for value in map(quantity, texts) if value]
    if not right:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    predicted = quantity(likeliest_text(state.completions))
    if predicted is None:
        return scored(_NAMES, (0.0, 1.0))
    is_right = any(_is_within(predicted, value, absolute, relative) for value in right)
    return scored(_NAMES, (float(is_right), 0.0))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    absolute, relative = (_tolerance(params, name) for name in _ARGS)
    return [_row(state, absolute, relative) for state in states]


NUMERIC_MATCH = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(
        MetricInfo(
            name="numeric_match",
            display_name="Numeric match",
            description="Share of answers within the tolerance of the reference.",
        ),
        MetricInfo(
            name="numeric_unreadable",
            display_name="No number",
            lower_is_better=True,
            description="Share of answers that are no number.",
        ),
    ),
    version="2",
    preflight=_check,
)
_NAMES = tuple(info.name for info in NUMERIC_MATCH.emits)

METRICS = {"numeric_match": NUMERIC_MATCH}
