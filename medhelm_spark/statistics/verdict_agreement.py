"""Macro F1 of yes-or-no verdicts against those of people, as HealthBench's meta-evaluation has it.

Each verdict is paired with each person's verdict on the same item. F1 is computed for "met" and for
"not met", and macro F1 is the mean of both (Arora et al. 2025, arXiv 2505.08775). A class that
neither side gives has no F1, and then there is no macro F1; one that only one side gives has F1 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.two_by_two import Estimated

DRAWS = 1000
_SEED = 20_250_513

Counts = NDArray[np.int64]
"""Pairs: both met, only the verdict met, only the person met, neither met; shape (4,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPairs:
    """The pairs of one item; items of one `cluster`, say a conversation, are resampled as one."""

    cluster: str
    counts: tuple[int, int, int, int]


def pairs_of(cluster: str, verdict: bool, people: Iterable[bool]) -> VerdictPairs:
    """A verdict beside each person's."""
    counts = [0, 0, 0, 0]
    for person in people:
        counts[_cell_index(verdict, person)] += 1
    first, second, third, fourth = counts
    return VerdictPairs(cluster=cluster, counts=(first, second, third, fourth))


def pairs_among(cluster: str, people: Sequence[bool]) -> VerdictPairs:
    """Each person's verdict beside each other person's."""
    counts = [0, 0, 0, 0]
    for index, one in enumerate(people):
        for other in (*people[:index], *people[index + 1 :]):
            counts[_cell_index(one, other)] += 1
    first, second, third, fourth = counts
    return VerdictPairs(cluster=cluster, counts=(first, second, third, fourth))


def _cell_index(verdict: bool, person: bool) -> int:
    return (0 if person else 1) if verdict else (2 if person else 3)


def macro_f1_of(counts: Sequence[int]) -> float | None:
    """The mean of the F1 of "met" and of "not met".

    >>> macro_f1_of([3, 1, 0, 4])  # 6 / 7 and 8 / 9
    0.873015873015873
    """
    both, verdict, person, neither = (int(count) for count in counts)
    wrong = verdict + person
    if not (2 * both + wrong) or not (2 * neither + wrong):
        return None
    return (2 * both / (2 * both + wrong) + 2 * neither / (2 * neither + wrong)) / 2


def macro_f1(pairs: Sequence[VerdictPairs]) -> Estimated | None:
    """Macro F1 with a 95 % interval: percentiles over DRAWS resamples of the clusters."""
    clusters: dict[str, Counts] = {}
    for each in pairs:
        counts = clusters.setdefault(each.cluster, np.zeros(4, np.int64))
        counts += np.array(each.counts, np.int64)
    if not clusters:
        return None
    table = np.stack([clusters[name] for name in sorted(clusters)])
    value = macro_f1_of(table.sum(axis=0).tolist())
    if value is None or len(table) < 2:
        return None if value is None else Estimated(value)
    chance, n = np.random.default_rng(_SEED), len(table)
    drawn = [
        found
        for _ in range(DRAWS)
        if (found := macro_f1_of(table[chance.integers(n, size=n)].sum(axis=0).tolist()))
        is not None
    ]
    if len(drawn) < DRAWS / 2:
        return Estimated(value)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimated(value, float(low), float(high))
