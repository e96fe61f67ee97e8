"""How much of an answer is taken from its input: coverage, density, compression, copied share.

Grusky, Naaman and Artzi 2018: the answer is cut greedily, from its start, into the longest runs of
words that are also in the input (`fragments`). With fragments f of an answer of n words

    coverage = sum |f| / n        density = sum |f|^2 / n        compression = words of input / n

Words are lower-cased. `copied_share` is the share of the answer's runs of four words that are in
the input (one minus the share of novel 4-grams of See, Liu and Manning 2017): single shared words
say nothing about copying, four in a row do.

As in MedHELM, one outer brace is taken off both texts. An answer without words covers nothing (0)
and has no compression.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow, first_text, scored, unscored
from medhelm_spark.metrics.text import words

_COPIED_RUN = 4


def _longest(
    source: Sequence[str], answer: Sequence[str], start: int, positions: Sequence[int]
) -> int:
    """Length of the run at `start`, by the paper's scan, which continues after each run it tried.

    `places` are the positions in the source of the run's first two words.
    """
    best = after = 0
    for position in positions:
        if position < after:
            continue
        length, room = 2, min(len(source) - position, len(answer) - start)
        while length < room and source[position + length] == answer[start + length]:
            length += 1
        best, after = max(best, length), position + length
    return best


def fragments(source: Sequence[str], answer: Sequence[str]) -> Iterator[int]:
    """Lengths of the answer's extractive fragments, in order.

    >>> list(fragments("he has no fever today".split(), "he has a fever today".split()))
    [2, 2]
    """
    known = set(source)
    positions: dict[tuple[str, str], list[int]] = {}
    for position, pair in enumerate(pairwise(source)):
        positions.setdefault(pair, []).append(position)
    start, pairs = 0, [*pairwise(answer), ("", "")]
    while start < len(answer):
        length = _longest(source, answer, start, positions.get(pairs[start], ()))
        length = length or int(answer[start] in known)
        if length:
            yield length
        start += length or 1


def _tokens(text: str) -> list[str]:
    return words(text.removeprefix("{").removesuffix("}").lower())


def _summarization(source: Sequence[str], answer: Sequence[str]) -> ScoreRow:
    if not answer:
        row = scored(_NAMES[:2], (0.0, 0.0))
        return (*row, *unscored(_NAMES[2:], ScoreStatus.NOT_APPLICABLE))
    lengths = list(fragments(source, answer))
    n = len(answer)
    squares = sum(length * length for length in lengths)
    return scored(_NAMES, (sum(lengths) / n, squares / n, len(source) / n))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(_COPIED_RUN)), strict=False)


def _copied(source: Sequence[str], answer: Sequence[str]) -> ScoreRow:
    if len(answer) < _COPIED_RUN:
        return unscored((COPIED,), ScoreStatus.NOT_APPLICABLE)
    known = set(_runs(source))
    runs = list(_runs(answer))
    return (Score(name=COPIED, value=sum(run in known for run in runs) / len(runs)),)


def _score_summarization(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    no_answer = unscored(_NAMES, ScoreStatus.NO_ANSWER)
    return [
        no_answer
        if (text := first_text(state)) is None
        else _summarization(_tokens(state.input), _tokens(text))
        for state in states
    ]


def _score_copied(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    no_answer = unscored((COPIED,), ScoreStatus.NO_ANSWER)
    return [
        no_answer
        if (text := first_text(state)) is None
        else _copied(_tokens(state.input), _tokens(text))
        for state in states
    ]


COPIED = "copied_share"
_NEEDS = frozenset({"input", "completions"})

SUMMARIZATION = Metric(
    fn=_score_summarization,
    needs=_NEEDS,
    emits=(
        MetricInfo(
            name="summarization_coverage",
            display_name="Coverage",
            lower_is_better=None,
            description="Share of the answer's words that are in runs taken from the input.",
        ),
        MetricInfo(
            name="summarization_density",
            display_name="Density",
            lower_is_better=None,
            maximum=None,
            description="Mean length of the run taken from the input that a word belongs to.",
        ),
        MetricInfo(
            name="summarization_compression",
            display_name="Compression",
            lower_is_better=None,
            maximum=None,
            description="Words of the input per word of the answer.",
        ),
    ),
    version="2",
)
COPIED_SHARE = Metric(
    fn=_score_copied,
    needs=_NEEDS,
    emits=(
        MetricInfo(
            name=COPIED,
            display_name="Copied share",
            lower_is_better=None,
            description="Share of the answer's runs of four words that are in the input.",
        ),
    ),
    version="2",
)
_NAMES = tuple(info.name for info in SUMMARIZATION.emits)

METRICS = {"summarization": SUMMARIZATION, "copied_share": COPIED_SHARE}
