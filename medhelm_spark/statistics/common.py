"""Two rows of a column on the instances that both have: what win rates and tiers are made of.

A model that leaves out the instances it would get wrong has a better mean of its own. So two rows
are compared on the instances that both have, pair by pair. Their difference is resampled as the
mean of each row is (`statistics.bootstrap`); a stat of whole runs by its pseudo-values, to first
order (`statistics.jackknife`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.bootstrap import DRAWS, MIN_UNITS, Units, resampled_sums
from medhelm_spark.statistics.cell import BoardCell

_NUMBERS_AT_ONCE = 1 << 24
"""128 MB of parts by instance; the weights are drawn again for each further batch of pairs."""


@dataclass(frozen=True, slots=True)
class OnCommon:
    """A stat of two runs on the instances that both have.

    `both` marks these instances, shape (instances,). `values` has the two values, shape (2,), and
    `parts` what each instance adds, shape (2, instances of both): its values are their means.
    """

    both: NDArray[np.bool_]
    values: NDArray[np.float64]
    parts: NDArray[np.float64]

    @classmethod
    def nothing(cls, instances: int) -> "OnCommon":
        """Of two runs that have no instance in common, or no value there."""
        return cls(np.zeros(instances, bool), np.full(2, np.nan), np.empty((2, 0)))


@dataclass(frozen=True, slots=True)
class CommonMeans:
    """Two means on the same instances, and the difference first minus second in each resample.

    `share` is how many of all instances of the column both have, from 0 to 1; the means of none are
    NaN. `differences` has the shape (draws,), None of too few instances or clusters.
    """

    first: float
    second: float
    share: float
    differences: NDArray[np.float64] | None

    @property
    def turned(self) -> "CommonMeans":
        """The same with the second as the first."""
        differences = None if self.differences is None else -self.differences
        return CommonMeans(self.second, self.first, self.share, differences)


def common_means(
    pairs: Sequence[OnCommon], units: Units, scale: MetricInfo, draws: int = DRAWS
) -> Iterator[CommonMeans]:
    """The means of each pair, resampled together.

    Args:
        pairs: two runs each, all over the same instances.
        units: the hash of each instance's unit, shape (instances,); equal for instances that are
            drawn together.
        scale: of the stat; where it brings means onto the scale, means and resamples are.
        draws: how many resamples, a multiple of 4.
    """
    hashes, inverse = np.unique(units, return_inverse=True)
    size = max(1, _NUMBERS_AT_ONCE // (3 * len(hashes)))
    for start in range(0, len(pairs), size):
        batch = pairs[start : start + size]
        rows = np.concatenate([_totals(each, inverse, len(hashes)) for each in batch])
        sums = resampled_sums(rows, hashes, draws).reshape(len(batch), 3, draws)
        for each, (*totals, counts) in zip(batch, sums, strict=True):
            means = totals / np.maximum(counts, 1)
            drawn = _on(scale, np.where(counts > 0, means, each.values[:, None]))
            differences: NDArray[np.float64] = drawn[0] - drawn[1]
            is_enough = len(np.unique(inverse[each.both])) >= MIN_UNITS
            is_resampled = is_enough and not np.isnan(each.parts).any()
            first, second = _on(scale, each.values).tolist()
            yield CommonMeans(
                first=first,
                second=second,
                share=float(each.both.mean()),
                differences=differences if is_resampled else None,
            )


def _totals(pair: OnCommon, inverse: NDArray[np.int64], num_units: int) -> NDArray[np.float64]:
    """By unit the sum of both rows' parts and the number of instances, shape (3, units)."""
    own = inverse[pair.both]
    return np.stack(
        [np.bincount(own, weights=parts, minlength=num_units) for parts in (*pair.parts, None)]
    ).astype(np.float64)


def _on(scale: MetricInfo, means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(means, scale.minimum, scale.maximum) if scale.clips_mean else means


Common = Mapping[tuple[tuple[str, ...], tuple[str, ...]], CommonMeans]
"""By the `run_spec_ids` of two cells, in either order. Cells that are absent here have the same
instances, so that their own means are those on common instances."""

NOTHING_MISSING: Common = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CommonCells:
    """Two cells of a column part by part, each with the means on common instances."""

    parts: Sequence[tuple[BoardCell, BoardCell, CommonMeans | None]]
    """Without the parts in which no instance is common; None where the cells' means are those."""
    are_own: bool = True
    """Whether both have the same instances, so that the cells' own numbers are those."""

    @property
    def means(self) -> tuple[float, float] | None:
        """Both means, over the parts that both have; None where there is none."""
        means = [
            (known.first, known.second) if known else (first.mean or 0.0, second.mean or 0.0)
            for first, second, known in self.parts
        ]
        if len(means) < 2:
            return means[0] if means else None
        first, second = (math.fsum(side) / len(means) for side in zip(*means, strict=True))
        return first, second

    @property
    def differences(self) -> NDArray[np.float64] | None:
        """The difference of both in each resample, shape (draws,); None where one is missing."""
        by_part = [_differences(*part) for part in self.parts]
        known = [each for each in by_part if each is not None]
        if not known or len(known) < len(by_part):
            return None
        mean: NDArray[np.float64] = np.mean(known, axis=0)
        return mean

    @property
    def share(self) -> float:
        """How many of the instances both have, from 0 to 1; of several parts the smallest."""
        return min((known.share for _, _, known in self.parts if known), default=1.0)


def _differences(
    first: BoardCell, second: BoardCell, known: CommonMeans | None
) -> NDArray[np.float64] | None:
    if known:
        return known.differences
    if not first.draws or not second.draws:
        return None
    return np.subtract(first.draws, second.draws)


def on_common(first: BoardCell, second: BoardCell, common: Common) -> CommonCells:
    """Two cells of a column on the instances that both have."""
    if not common and not first.parts and not second.parts:
        has_means = first.mean is not None and second.mean is not None
        return CommonCells([(first, second, None)] if has_means else [])
    theirs = {part.part: part for part in second.parts or (second,)}
    both = [
        (ours, other, common.get((ours.run_spec_ids, other.run_spec_ids)))
        for ours in first.parts or (first,)
        if ours.mean is not None and (other := theirs.get(ours.part)) and other.mean is not None
    ]
    are_own = len(both) == max(len(first.parts), 1) and not any(known for *_, known in both)
    return CommonCells([part for part in both if part[2] is None or part[2].share], are_own)
