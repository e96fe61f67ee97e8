"""ROUGE-1, ROUGE-2 and ROUGE-L: F-measures with the Porter stemmer, the best over ALL references.

Lin 2004, in the variant of the `rouge-score` package (types rouge1, rouge2, rougeL): tokens are
runs of a-z and 0-9 of the lower-cased text, those over three characters stemmed. The counts are our
own, because the package stems each word anew and fills a quadratic table in Python; a test compares
both to 1e-9 on real clinical notes. MedHELM strips one outer brace from each text; braces are
no tokens here, so it makes no difference.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow, first_text, scored, unscored
from medhelm_spark.metrics.porter import stem

_TOKEN = re.compile(r"[a-z0-9]+")
_UNSTEMMED_LENGTH = 3
_KEPT_PROFILES = 256
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class _Profile:
    """The tokens of a text with their counts; bit i of `positions[token]` is set for token i."""

    tokens: list[str]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]
    positions: dict[str, int]


def _profile(text: str) -> _Profile:
    tokens = [
        stem(word) if len(word) > _UNSTEMMED_LENGTH else word
        for word in _TOKEN.findall(text.lower())
    ]
    positions: dict[str, int] = {}
    for index, token in enumerate(tokens):
        positions[token] = positions.get(token, 0) | 1 << index
    bigrams = Counter(pairwise(tokens))
    return _Profile(tokens, Counter(tokens), bigrams, positions)


def _lcs_length(reference: _Profile, prediction: _Profile) -> int:
    """Length of the longest common subsequence, all reference tokens at once in one integer.

    Bit-parallel recurrence of Crochemore et al. 2001: the bits that fell to zero count the length.
    """
    everything = (1 << len(reference.tokens)) - 1
    row, positions = everything, reference.positions
    for token in prediction.tokens:
        if hits := positions.get(token, 0) & row:
            row = (row + hits | row - hits) & everything
    return len(reference.tokens) - row.bit_count()


def _overlap(left: Counter[_Key], right: Counter[_Key]) -> int:
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    return sum(min(count, large[key]) for key, count in small.items() if key in large)


def _f_measure(hits: int, num_reference: int, num_prediction: int) -> float:
    """2PR / (P + R) with P = hits / num_prediction and R = hits / num_reference."""
    return 2 * hits / (num_reference + num_prediction) if hits else 0.0


def _compare(reference: _Profile, prediction: _Profile) -> tuple[float, float, float]:
    n, m = len(reference.tokens), len(prediction.tokens)
    return (
        _f_measure(_overlap(reference.unigrams, prediction.unigrams), n, m),
        _f_measure(_overlap(reference.bigrams, prediction.bigrams), n - 1, m - 1),
        _f_measure(_lcs_length(reference, prediction), n, m),
    )


def rouge_1(reference: str, prediction: str) -> float:
    """F-measure of the stems that two texts share; 0 where either has none.

    >>> rouge_1("The cause is hepatitis A.", "the causes: Hepatitis B")
    0.6666666666666666
    """
    wanted, given = _profile(reference), _profile(prediction)
    hits = _overlap(wanted.unigrams, given.unigrams)
    return _f_measure(hits, len(wanted.tokens), len(given.tokens))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    profile = lru_cache(maxsize=_KEPT_PROFILES)(_profile)

    def row(state: RequestState) -> ScoreRow:
        if (text := first_text(state)) is None:
            return unscored(_NAMES, ScoreStatus.NO_ANSWER)
        if not state.references:
            return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
        prediction = _profile(text)
        values = [_compare(profile(reference.text), prediction) for reference in state.references]
        return scored(_NAMES, [max(column) for column in zip(*values, strict=True)])

    return [row(state) for state in states]


ROUGE = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(
        MetricInfo(
            name="rouge_1", display_name="ROUGE-1", description="F-measure of shared stems."
        ),
        MetricInfo(
            name="rouge_2", display_name="ROUGE-2", description="F-measure of shared stem pairs."
        ),
        MetricInfo(
            name="rouge_l",
            display_name="ROUGE-L",
            description="F-measure of the longest common subsequence of stems.",
        ),
    ),
    version="1",
)
_NAMES = tuple(info.name for info in ROUGE.emits)
