"""BLEU-1 and BLEU-4 of one answer, with the weights that MedHELM 0.8.0 gives them.

Papineni et al. 2002 without smoothing, for one reference at a time, the best over the references
tagged correct: brevity penalty times the clipped precision of words (`bleu_1`) or of runs of four
words (`bleu_4`). The weights are (1, 0, 0, 0) and (0, 0, 0, 1), so `bleu_4` is not the usual
geometric mean over one to four words. The values are those of NLTK's `sentence_bleu` on the same
words (a test compares them); the words are those of `metrics.text`. Where no run of four is shared
NLTK gives 2.2e-308, here it is 0.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import (
    Metric,
    Params,
    ScoreRow,
    likeliest_text,
    scored,
    unscored,
)
from medhelm_spark.metrics.text import words

_LONGEST = 4

Runs = Counter[tuple[str, ...]]


def _runs(tokens: Sequence[str], size: int) -> Runs:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def _precision(gold: Runs, answer: Runs) -> float:
    """The share of the answer's runs that the reference has, each as often as it has it."""
    hits = sum(min(count, gold[run]) for run, count in answer.items() if run in gold)
    return hits / answer.total() if hits else 0.0


def _penalty(num_gold: int, num_answer: int) -> float:
    """exp(1 - r/c) for an answer of c words that is shorter than its reference of r."""
    return 1.0 if num_answer > num_gold else math.exp(1 - num_gold / num_answer)


def bleu(golds: Iterable[str], answer: str) -> tuple[float, float]:
    """BLEU-1 and BLEU-4 against the best of some references; 0 for an answer without words.

    >>> bleu(["no acute distress"], "no distress")  # 2 of 2 words, exp(1 - 3/2)
    (0.6065306597126334, 0.0)
    """
    answer_words = words(answer)
    if not answer_words:
        return 0.0, 0.0
    singles, fours = _runs(answer_words, 1), _runs(answer_words, _LONGEST)
    best = (0.0, 0.0)
    for gold in golds:
        gold_words = words(gold)
        penalty = _penalty(len(gold_words), len(answer_words))
        bleu_1 = penalty * _precision(_runs(gold_words, 1), singles)
        bleu_4 = penalty * _precision(_runs(gold_words, _LONGEST), fours)
        best = max(best[0], bleu_1), max(best[1], bleu_4)
    return best


def _row(state: RequestState) -> ScoreRow:
    if not state.completions:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    golds = [reference.text for reference in state.references if reference.is_correct]
    if not golds:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    return scored(_NAMES, bleu(golds, likeliest_text(state.completions)))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


BLEU = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(
        MetricInfo(
            name="bleu_1", display_name="BLEU-1", description="Precision of words, if not short."
        ),
        MetricInfo(
            name="bleu_4",
            display_name="BLEU-4",
            description="Precision of runs of four words alone, if not short; MedHELM's weights.",
        ),
    ),
    version="2",
)
_NAMES = tuple(info.name for info in BLEU.emits)

METRICS = {"bleu": BLEU}
