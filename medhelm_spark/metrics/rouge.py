"""ROUGE-1, ROUGE-2 and ROUGE-L: F-measures with the Porter stemmer, the best over ALL references.

Lin 2004, in the variant of the `rouge-score` package (types rouge1, rouge2, rougeL): tokens are
runs of letters and digits of the lower-cased text, those of a-z over three characters stemmed. In
scripts that part no words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each letter is a token.

The package and MedHELM 0.8.0 read a-z and 0-9 alone: a Chinese text has no token there, a Russian
one its numbers. Their values are `rouge_1@medhelm-0.8` and so on, the same for texts in ASCII.
The counts are our own, because the package stems each word anew and fills a quadratic table in
Python; a test compares both to 1e-9 on real clinical notes. MedHELM strips one
outer brace from each text; braces are no tokens here, so it makes no difference.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import regex

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
from medhelm_spark.metrics.porter import stem

_TOKEN = re.compile(r"[a-z0-9]+")
_UNPARTED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(
    rf"(?V1)[{_UNPARTED}&&\p{{L}}]\p{{M}}*|[[\p{{L}}\p{{N}}]--[{_UNPARTED}]][[\p{{L}}\p{{M}}\p{{N}}]--[{_UNPARTED}]]*"
)
_LONGEST_WORD = 64
"""Characters of what is normalised: Unicode's rule takes quadratic time on a run of accents."""
_UNSTEMMED_LENGTH = 3
_CACHED_PROFILES = 256
_CACHED_LENGTH = 50_000
"""Characters; a longer reference is counted anew for each answer, for 256 of them fill memory."""
_BLOCK = 4096
"""Reference tokens in one integer: notes and answers fit in one block. A block's integers take 2 MB
where all its tokens differ; those of 100,000 tokens at once took 600."""
_Key = TypeVar("_Key")
Words = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class _Profile:
    """The tokens of a text with their counts."""

    tokens: list[str]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]


def _words(text: str) -> list[str]:
    """Runs of letters and digits of any script, however their accents are written."""
    if text.isascii():
        return _TOKEN.findall(text.lower())
    return [
        unicodedata.normalize("NFKC", word) if len(word) <= _LONGEST_WORD else word
        for word in _WORD.findall(text.lower())
    ]


def _ascii_words(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _profile(text: str, words: Words = _words) -> _Profile:
    tokens = [
        stem(word) if len(word) > _UNSTEMMED_LENGTH and word.isascii() else word
        for word in words(text)
    ]
    return _Profile(tokens, Counter(tokens), Counter(pairwise(tokens)))


def _lcs_length(reference: Sequence[str], prediction: Sequence[str]) -> int:
    """Length of the longest common subsequence, a block of reference tokens in one integer.

    Bit-parallel recurrence of Crochemore et al. 2001: the bits that fell to zero count the length.
    What a block's sum carries over at a prediction token goes into the next block's sum there, so
    that blocks give the length of the whole, and memory grows with the texts, not their product.
    """
    carries = bytearray(len(prediction))
    length = 0
    for start in range(0, len(reference), _BLOCK):
        tokens = reference[start : start + _BLOCK]
        positions = _positions(tokens)
        row = everything = (1 << len(tokens)) - 1
        for number, token in enumerate(prediction):
            hits, carry = positions.get(token, 0) & row, carries[number]
            if hits or carry:
                total = row + hits + carry
                carries[number] = total > everything
                row = total & everything | row - hits
        length += len(tokens) - row.bit_count()
    return length


def _positions(tokens: Sequence[str]) -> dict[str, int]:
    """For each token an integer whose bit i is set where it is token i."""
    positions: dict[str, int] = {}
    for index, token in enumerate(tokens):
        positions[token] = positions.get(token, 0) | 1 << index
    return positions


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
        _f_measure(_lcs_length(reference.tokens, prediction.tokens), n, m),
    )


def rouge_1(reference: str, prediction: str) -> float:
    """F-measure of the stems that two texts share; 0 where either has none.

    >>> rouge_1("The cause is hepatitis A.", "the causes: Hepatitis B")
    0.6666666666666666
    """
    expected, predicted = _profile(reference), _profile(prediction)
    hits = _overlap(expected.unigrams, predicted.unigrams)
    return _f_measure(hits, len(expected.tokens), len(predicted.tokens))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    cached = lru_cache(maxsize=_CACHED_PROFILES)(_profile)

    def best(
        text: str, references: Sequence[str], words: Callable[[str], list[str]]
    ) -> list[float]:
        prediction = _profile(text, words)
        values = [
            _compare((cached if len(one) <= _CACHED_LENGTH else _profile)(one, words), prediction)
            for one in references
        ]
        return [max(column) for column in zip(*values, strict=True)]

    def row(state: RequestState) -> ScoreRow:
        if (text := first_text(state)) is None:
            return unscored(_NAMES, ScoreStatus.NO_ANSWER)
        if not state.references:
            return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
        references = [reference.text for reference in state.references]
        own = best(text, references, _words)
        is_ascii = text.isascii() and all(map(str.isascii, references))
        return scored(_NAMES, [*own, *(own if is_ascii else best(text, references, _ascii_words))])

    return [row(state) for state in states]


_STATS = (
    MetricInfo(name="rouge_1", display_name="ROUGE-1", description="F-measure of shared stems."),
    MetricInfo(
        name="rouge_2", display_name="ROUGE-2", description="F-measure of shared stem pairs."
    ),
    MetricInfo(
        name="rouge_l",
        display_name="ROUGE-L",
        description="F-measure of the longest common subsequence of stems.",
    ),
)


def _by_medhelm(info: MetricInfo) -> MetricInfo:
    """The stat of tokens of a-z and 0-9 alone."""
    name, title = info.name + MEDHELM, f"{info.display_name} (MedHELM 0.8)"
    return replace(info, name=name, display_name=title)


ROUGE = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(*_STATS, *map(_by_medhelm, _STATS)),
    version="2",
)
_NAMES = tuple(info.name for info in ROUGE.emits)

METRICS = {"rouge": ROUGE}
