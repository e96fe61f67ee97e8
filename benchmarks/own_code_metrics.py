"""ROUGE, Porter's stems and BLEU beside rouge-score, NLTK and sacrebleu."""

import csv
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.own_code_timing import Comparison, timed
from medhelm_spark.domain.request import Completion, FinishReason, RequestState
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.metrics import METRICS, rouge
from medhelm_spark.metrics.bleu import bleu
from medhelm_spark.metrics.porter import stem
from medhelm_spark.metrics.text import words

Pair = tuple[str, str]
TYPES = ("rouge1", "rouge2", "rougeL")
MADE = "patients were admitted with worsening cough, fever and shortness of breath"
TOKEN = re.compile("[a-z0-9]+")
SHORT = 40
"""Words of a short answer."""
TOLERANCE = 1e-9


def notes() -> tuple[str, list[Pair]]:
    """What they are, and (reference, answer) of every note: real ones where there are some."""
    real = os.environ.get("MEDHELM_SPARK_REAL_DATA")
    pairs: list[Pair] = []
    for file in sorted(Path(real, "aci_bench", "predictions").glob("*.csv")) if real else ():
        with file.open(encoding="utf-8-sig", newline="") as lines:
            pairs += [(row["Reference Summaries"], row["note"]) for row in csv.DictReader(lines)]
    if pairs:
        return f"{len(pairs)} real clinical notes of aci_bench", pairs
    draw = random.Random(0)
    texts = [" ".join(draw.choices(MADE.split(), k=400)) for _ in range(480)]
    return "480 made notes", list(zip(texts[::2], texts[1::2], strict=True))


def shortened(pairs: Sequence[Pair]) -> list[Pair]:
    """The first words of each text."""
    return [
        (" ".join(left.split()[:SHORT]), " ".join(right.split()[:SHORT])) for left, right in pairs
    ]


def _state(reference: str, answer: str) -> RequestState:
    return RequestState(
        run_spec_id="r",
        instance_id="i",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        references=(Reference(text=reference, tags=("correct",)),),
        completions=(Completion(text=answer, finish_reason=FinishReason.STOP),),
    )


def _own_rouge(pairs: Sequence[Pair]) -> list[list[float]]:
    rows = METRICS["rouge"].fn([_state(*pair) for pair in pairs], {})
    # After these the metric gives MedHELM's values of the same.
    return [[score.value or 0.0 for score in row[: len(TYPES)]] for row in rows]


@cache
def _scorer(keep_stems: bool) -> Any:
    """The package's scorer; it stems every word anew unless its stemmer is made to keep stems."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    tokenizer = DefaultTokenizer(use_stemmer=True)
    if keep_stems:
        tokenizer._stemmer.stem = cache(tokenizer._stemmer.stem)
    return RougeScorer(list(TYPES), use_stemmer=True, tokenizer=tokenizer)


def _package_rouge(keep_stems: bool, pairs: Sequence[Pair]) -> list[list[float]]:
    score = _scorer(keep_stems).score
    scores = [score(*pair) for pair in pairs]
    return [[found[kind].fmeasure for kind in TYPES] for found in scores]


@cache
def _nltk_stem() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return cache(PorterStemmer().stem)


def _rouge_with_nltk(pairs: Sequence[Pair]) -> list[list[float]]:
    with patch.object(rouge, "stem", _nltk_stem()):
        return _own_rouge(pairs)


def _own_bleu(pairs: Sequence[Pair]) -> list[list[float]]:
    return [list(bleu([reference], answer)) for reference, answer in pairs]


def _sacrebleu(pairs: Sequence[Pair]) -> list[list[float]]:
    from sacrebleu.metrics.bleu import BLEU

    scorer = BLEU(smooth_method="none", tokenize="none", effective_order=True)
    values = []
    for reference, answer in pairs:
        score = scorer.sentence_score(" ".join(words(answer)), [" ".join(words(reference))])
        values.append([score.bp * score.precisions[n] / 100 for n in (0, 3)])
    return values


def _stems(stemmer: Callable[[str], str], texts: Sequence[str]) -> list[list[str]]:
    return [[stemmer(text)] for text in texts]


def _is_equal(left: Any, right: Any) -> bool:
    return bool(left == right if isinstance(left, str) else abs(left - right) <= TOLERANCE)


def _compared(
    what: str,
    items: str,
    rows: Sequence[Any],
    own: Callable[[Sequence[Any]], list[list[Any]]],
    theirs: Callable[[Sequence[Any]], list[list[Any]]],
) -> Comparison:
    (ours, own_seconds), (their_values, their_seconds) = timed(
        partial(own, rows), partial(theirs, rows)
    )
    pairs = list(zip(chain(*ours), chain(*their_values), strict=True))
    equal = sum(_is_equal(left, right) for left, right in pairs)
    return Comparison(
        what=what,
        items=items,
        equal=f"{equal:,} of {len(pairs):,}",
        own=len(rows) / own_seconds,
        theirs=len(rows) / their_seconds,
    )


def comparisons(pairs: Sequence[Pair]) -> Iterator[Comparison]:
    """Every comparison of metrics, on notes and on their first words."""
    from nltk.stem.porter import PorterStemmer

    few = pairs[::8]
    sets = (("note", few), (f"answer of {SHORT} words", shortened(pairs)))
    keeping = partial(_package_rouge, True)
    for items, rows in sets:
        package = partial(_package_rouge, False)
        yield _compared("ROUGE beside rouge-score", items, rows, _own_rouge, package)
        yield _compared(
            "ROUGE beside rouge-score that keeps stems", items, rows, _own_rouge, keeping
        )
        yield _compared(
            "ROUGE beside ours with NLTK's stemmer", items, rows, _own_rouge, _rouge_with_nltk
        )
        yield _compared("BLEU beside sacrebleu", items, rows, _own_bleu, _sacrebleu)
    distinct = sorted(set(TOKEN.findall(" ".join(chain(*pairs)).lower())))
    own, theirs = stem.__wrapped__, PorterStemmer().stem
    yield _compared(
        "Porter beside NLTK, nothing kept",
        f"word, {len(distinct):,} distinct",
        distinct,
        partial(_stems, own),
        partial(_stems, theirs),
    )
