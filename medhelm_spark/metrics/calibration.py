"""Calibration of a run: does the model's confidence match how often it is right?

Of instances with confidence c (`max_prob`) and correctness y in 0 and 1 (`exact_match`, or the
stat that params["correct"] names):

- `ece_10_bin`, `ece_1_bin`: expected calibration error (Guo et al. 2017), the sum over bins of
  n_b / n |mean c - mean y|, with ten bins of equal mass or one. The bins are those of the package
  uncertainty-calibration that MedHELM uses: the sorted confidences are cut into ten parts as
  `numpy.array_split` does, an edge lies half way between the last of a part and the first of the
  next, equal edges are one, and a confidence on an edge belongs below it.
- `brier_score`: the mean of (c - y)^2 (Brier 1950).
- `selective_cov_acc_area`: accuracy of the k most confident, averaged over k = 1 to n (El-Yaniv and
  Wiener 2010). `selective_acc@10`: accuracy of the most confident tenth, n / 10 rounded up.

Instances of equal confidence have no order: they count with their common mean, which is what any
order gives on average. MedHELM takes them as a sort leaves them, and its tenth has one instance
too many: n / 10 rounded down, plus one (`selective_acc@10@medhelm-0.8`).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics.language_model import MAX_PROB
from medhelm_spark.metrics.metric import MEDHELM, Columns, Params, RunMetric, Weights
from medhelm_spark.metrics.text_match import EXACT

_TENTH = 10
Floats = NDArray[np.float64]


def _grouped(columns: Columns, weights: Weights) -> tuple[Floats, Weights, Floats]:
    """Distinct confidences in order, how many instances have each, and how many of them right."""
    used = weights > 0
    confidence, group = np.unique(columns[used, 0], return_inverse=True)
    counts, right = np.zeros(len(confidence), np.int64), np.zeros(len(confidence))
    np.add.at(counts, group, weights[used])
    np.add.at(right, group, weights[used] * columns[used, 1])
    return confidence, counts, right


def _edges(confidence: Floats, counts: Weights, num_bins: int) -> Floats:
    """Upper edges of bins of about equal mass; the last one is 1."""
    total = int(counts.sum())
    parts = min(num_bins, total)
    sizes = np.full(parts, total // parts)
    sizes[: total % parts] += 1
    starts = np.cumsum(sizes)[:-1]
    last_of = np.cumsum(counts) - 1
    before, after = (confidence[np.searchsorted(last_of, at)] for at in (starts - 1, starts))
    return np.unique(np.append((before + after) / 2, 1.0))


def confidence_edges(confidences: Floats, num_bins: int = 10) -> Floats:
    """The upper edges of the bins of a calibration error, from the confidence of each answer."""
    confidence, counts = np.unique(confidences, return_counts=True)
    return _edges(confidence, counts, num_bins)


def _error(confidence: Floats, counts: Weights, right: Floats, num_bins: int) -> float:
    bins = np.searchsorted(_edges(confidence, counts, num_bins), confidence)
    gaps = np.bincount(bins, weights=confidence * counts - right)
    return float(np.abs(gaps).sum() / counts.sum())


def _most_confident(counts: Weights, right: Floats, size: int) -> float:
    """Accuracy of the `size` most confident; of a tie at the end the mean accuracy counts."""
    down, hits = counts[::-1], right[::-1]
    taken = np.clip(size - (np.cumsum(down) - down), 0, down)
    return float((hits * taken / down).sum() / size)


@lru_cache(maxsize=1)
def _harmonics(total: int) -> Floats:
    """The sums of 1 + 1/2 + ... + 1/k for k = 0 to `total`."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, total + 1))])


def _area(counts: Weights, right: Floats) -> float:
    """The mean over k of the accuracy of the k most confident.

    K instances with h right ones above a group of m with accuracy a give, over the positions in the
    group, the sum of (h + a j) / (K + j) = a m + (h - a K) (H(K + m) - H(K)), H the harmonic
    numbers.
    """
    down, hits = counts[::-1], right[::-1]
    end = np.cumsum(down)
    start, above, total = end - down, np.cumsum(hits) - hits, int(end[-1])
    harmonics = _harmonics(total)
    sums = hits + (above - hits / down * start) * (harmonics[end] - harmonics[start])
    return float(sums.sum() / total)


def _calibration(columns: Columns, weights: Weights, params: Params) -> Sequence[float]:
    confidence, counts, right = _grouped(columns, weights)
    total = int(counts.sum())
    squares = (columns[:, 0] - columns[:, 1]) ** 2
    return (
        _error(confidence, counts, right, 10),
        _error(confidence, counts, right, 1),
        float(weights @ squares / total),
        _area(counts, right),
        _most_confident(counts, right, -(-total // _TENTH)),
        _most_confident(counts, right, min(total, total // _TENTH + 1)),
    )


def _reads(params: Params) -> tuple[str, ...]:
    return (MAX_PROB, params.get("correct", EXACT))


def _info(name: str, display_name: str, description: str, *, lower: bool = False) -> MetricInfo:
    return MetricInfo(
        name=name, display_name=display_name, lower_is_better=lower, description=description
    )


CALIBRATION = RunMetric(
    fn=_calibration,
    reads=_reads,
    emits=(
        _info(
            "ece_10_bin",
            "Calibration error",
            "Mean distance of confidence from the share that is right, over ten groups.",
            lower=True,
        ),
        _info("ece_1_bin", "Overconfidence", "Mean confidence against accuracy.", lower=True),
        _info(
            "brier_score",
            "Brier score",
            "Mean squared distance of confidence from 1 where right and 0 where wrong.",
            lower=True,
        ),
        _info(
            "selective_cov_acc_area",
            "Selective accuracy",
            "Share that is right of the surest answers, mean over how many are counted.",
        ),
        _info("selective_acc@10", "Accuracy of the surest tenth", "Of the most confident tenth."),
        _info(
            f"selective_acc@10{MEDHELM}",
            "Accuracy of the surest tenth (MedHELM 0.8)",
            "Of the most confident tenth and one more.",
        ),
    ),
    version="1",
    biased=frozenset({"ece_10_bin", "ece_1_bin"}),
    rests_on={"selective_acc@10": 1 / _TENTH, f"selective_acc@10{MEDHELM}": 1 / _TENTH},
)

RUN_METRICS = {"calibration": CALIBRATION}
