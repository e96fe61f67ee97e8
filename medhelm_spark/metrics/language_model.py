"""Stats of the log-probabilities of an answer's tokens: per instance, and of a whole run.

Per instance, of the first completion: `logprob` (natural logarithm, summed over its tokens),
`num_perplexity_tokens` and `num_bytes` (UTF-8). `max_prob` is exp(logprob) of the likeliest
completion, the confidence that calibration reads. Without log-probabilities there is no value;
MedHELM 0.8.0 gives 0, and 1 for `max_prob`.

Of a run, over all its instances together:

    perplexity = exp(-sum logprob / sum tokens)      logprob_per_byte = sum logprob / sum bytes
    bits_per_byte = -sum logprob / sum bytes / ln 2

A perplexity that is too large for a number has no value.
"""

import math
from collections.abc import Sequence

from medhelm_spark.domain.request import Completion, RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import (
    About,
    Columns,
    Metric,
    Params,
    RunMetric,
    ScoreRow,
    Weights,
    scored,
    unscored,
)

MAX_PROB = "max_prob"
"""The stat that calibration takes for the model's confidence."""


def _max_prob(completions: Sequence[Completion]) -> float:
    known = [c.logprob for c in completions if c.logprob is not None and math.isfinite(c.logprob)]
    return min(1.0, math.exp(max(known)))


def _row(state: RequestState) -> ScoreRow:
    if not state.completions:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    first = state.completions[0]
    # An older lake may contain an infinite logprob.
    if first.logprob is None or not math.isfinite(first.logprob) or not first.tokens:
        return unscored(_NAMES, ScoreStatus.NOT_APPLICABLE)
    size = sum(len(token.text.encode("utf-8", "surrogatepass")) for token in first.tokens)
    values = (first.logprob, len(first.tokens), size, _max_prob(state.completions))
    return scored(_NAMES, tuple(map(float, values)))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


def _perplexity(columns: Columns, weights: Weights, params: Params) -> tuple[float | None, ...]:
    logprob, tokens, size = (float(total) for total in weights @ columns)
    per_byte = logprob / size if size else None
    return (
        _exp(-logprob / tokens) if tokens else None,
        None if per_byte is None else -per_byte / math.log(2),
        per_byte,
    )


def _exp(exponent: float) -> float | None:
    """The exponential; None where it is too large for a number."""
    try:
        return math.exp(exponent)  # servers write -9999 or -3.4e38 for log 0
    except OverflowError:
        return None


LANGUAGE_MODEL = Metric(
    fn=_score,
    needs=frozenset({"completions"}),
    emits=(
        MetricInfo(
            name="logprob",
            display_name="Log-probability",
            lower_is_better=None,
            minimum=None,
            maximum=0.0,
            description="Natural log-probability of the answer, summed over its tokens.",
        ),
        MetricInfo(
            name="num_perplexity_tokens",
            display_name="Tokens with log-probability",
            lower_is_better=None,
            maximum=None,
            description="Tokens of the answer that have a log-probability.",
        ),
        MetricInfo(
            name="num_bytes",
            display_name="Bytes",
            lower_is_better=None,
            maximum=None,
            description="UTF-8 bytes of those tokens.",
        ),
        MetricInfo(
            name=MAX_PROB,
            display_name="Confidence",
            lower_is_better=None,
            description="Probability of the likeliest completion.",
        ),
    ),
    version="2",
    about=About.CHOICE,
    reads_tokens=True,
)
_NAMES = tuple(info.name for info in LANGUAGE_MODEL.emits)

PERPLEXITY = RunMetric(
    fn=_perplexity,
    reads=lambda params: _NAMES[:3],
    emits=(
        MetricInfo(
            name="perplexity",
            display_name="Perplexity",
            lower_is_better=True,
            minimum=1.0,
            maximum=None,
            description="exp of the mean negative log-probability of a token.",
        ),
        MetricInfo(
            name="bits_per_byte",
            display_name="Bits per byte",
            lower_is_better=True,
            maximum=None,
            description="Mean negative binary log-probability of a byte.",
        ),
        MetricInfo(
            name="logprob_per_byte",
            display_name="Log-probability per byte",
            minimum=None,
            maximum=0.0,
            description="Mean natural log-probability of a byte.",
        ),
    ),
    version="1",
)

METRICS = {"language_model": LANGUAGE_MODEL}

RUN_METRICS = {"perplexity": PERPLEXITY}
