"""What moves a jury's score besides the quality of an answer: least squares by cluster."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import quantile
from medhelm_spark.statistics.two_by_two import Estimated

_MARKDOWN = re.compile(
    r"^\s{0,3}(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|>|```|\|.*\|)|\*\*\S|__\S", re.MULTILINE
)

Column = NDArray[np.float64]


def has_markdown(text: str) -> bool:
    """Whether a text has headings, lists, quotes, tables, code or bold words.

    >>> has_markdown("Take **two** daily."), has_markdown("Take two daily.")
    (True, False)
    """
    return bool(_MARKDOWN.search(text))


def doublings(text: str) -> float:
    """The binary logarithm of a text's length in characters: one more for twice the length."""
    return math.log2(max(1, len(text.strip())))


def slopes(
    score: Column, columns: Mapping[str, Column], clusters: Sequence[str]
) -> dict[str, Estimated]:
    """What one more of each column adds to the score, the other columns held equal.

    Least squares with a cluster-robust standard error (CR1, Liang and Zeger 1986), and t with one
    degree of freedom less than there are clusters. A column that does not vary, or that the others
    determine, has none.

    Args:
        score: shape (answers,).
        columns: of shape (answers,) each, by name.
        clusters: the cluster of each answer; answers of one cluster are not independent.
    """
    names = [name for name, column in columns.items() if np.ptp(column) > 0]
    while names:
        design = np.column_stack([np.ones(len(score)), *(columns[name] for name in names)])
        if np.linalg.matrix_rank(design) == design.shape[1]:
            break
        names.pop()
    labels = np.unique(np.array(clusters, dtype=str), return_inverse=True)[1]
    groups = int(labels.max()) + 1 if len(labels) else 0
    if not names or len(score) <= len(names) + 1 or groups <= len(names) + 1:
        return {}
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ score
    moments = np.zeros((groups, design.shape[1]))
    np.add.at(moments, labels, design * (score - design @ beta)[:, None])
    n, width = design.shape
    small = groups / (groups - 1) * (n - 1) / (n - width)
    covariance = small * inverse @ (moments.T @ moments) @ inverse
    t = quantile(groups - 1)
    found = {}
    for index, name in enumerate(names, start=1):
        half = t * math.sqrt(max(0.0, float(covariance[index, index])))
        value = float(beta[index])
        found[name] = Estimated(value, value - half, value + half)
    return found
