"""Flips: instances on which one of two models is better than the other.

Ids and values only, no text. By group of patients the counts of gated and private rows follow the
rules of small cells; the group of a single instance is never shown.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medhelm_spark import features
from medhelm_spark.board import RIGHT, BoardRun
from medhelm_spark.board.measured import InstanceStat, Measured, RunStat
from medhelm_spark.board.measured_pairs import measured_pairs
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.pairs import BoardPair

WORSE, BETTER = "worse", "better"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedInstance:
    """One instance on which two models have different scores."""

    scenario_name: str
    display_name: str
    metric: str
    first: str
    second: str
    instance_id: str
    change: str
    """The first model against the second: `worse` or `better`."""
    first_value: float
    second_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipCount:
    """How many instances flipped on a benchmark, or in one group of it; hidden: names alone."""

    scenario_name: str
    display_name: str
    metric: str
    first: str
    second: str
    group_column: str = ""
    """Empty for the whole benchmark."""
    group_value: str | None = None
    is_hidden: bool = False
    n: int | None = None
    """The instances on which both have a value."""
    worse: int | None = None
    """Instances on which the first model is worse."""
    better: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipSet:
    """All flips of some pairs: counts and instances, each the worst first."""

    counts: tuple[FlipCount, ...]
    instances: tuple[FlippedInstance, ...]


def flips_of(
    reader: Reader,
    runs: Sequence[BoardRun],
    pairs: Sequence[BoardPair],
    *,
    minimum: int,
    most_instances: int | None = None,
) -> FlipSet:
    """The flips of these pairs; none of a metric without a better end or without single answers.

    Args:
        reader: of the scores behind the pairs.
        runs: the runs behind the pairs.
        pairs: two models on a benchmark each; the first one is worse or better.
        minimum: the patients that a group of gated and private rows needs to be shown.
        most_instances: how many instances of each pair and change to return, those with the largest
            difference first (None: all).
    """
    counts: list[list[FlipCount]] = []
    instances: list[FlippedInstance] = []
    for measured in measured_pairs(reader, runs, pairs):
        values = _values(measured.stat)
        if values is None:
            continue
        spec = measured.run.run_spec
        is_public = spec.access_level is AccessLevel.PUBLIC
        groups = _Groups.of_instances(
            measured.stat, _groups(reader, spec.data_version), 1 if is_public else minimum
        )
        for pair in measured.pairs:
            if pair.lower_is_better is None:
                continue
            ours, theirs = (values[index] for index in measured.indices(pair))
            flips = _Flips(
                pair=pair,
                metric=RIGHT if isinstance(measured.stat, RunStat) else pair.main_metric,
                ids=measured.stat.instances,
                first=ours,
                second=theirs,
                gains=(ours - theirs)
                * (-1 if pair.lower_is_better and _is_own(measured.stat) else 1),
            )
            counts.append([flips.count(), *sorted(flips.by_group(groups), key=_worst_first)])
            instances += flips.instances(most_instances)
    counts.sort(key=lambda each: _worst_first(each[0]))
    order = {each[0].display_name: index for index, each in reversed([*enumerate(counts)])}
    instances.sort(key=lambda each: (each.change == BETTER, order[each.display_name], _loss(each)))
    return FlipSet(
        counts=tuple(count for each in counts for count in each), instances=tuple(instances)
    )


def _is_own(measured: Measured) -> bool:
    """Whether the values are the metric's; else 1 for a right answer, which is always better."""
    return isinstance(measured, InstanceStat)


def _values(measured: Measured) -> NDArray[np.float64] | None:
    """The value of each instance in each run, NaN without one; shape (runs, instances).

    For a stat of whole runs whether each answer is right; None where the stat does not define it.
    """
    if isinstance(measured, InstanceStat):
        return measured.values
    if not isinstance(measured, RunStat) or measured.metric.is_right is None:
        return None
    values = np.full(measured.rows.shape[:2], np.nan)
    for run, rows in enumerate(measured.rows):
        is_whole = ~np.isnan(rows).any(axis=1)
        values[run, is_whole] = measured.metric.is_right(rows[is_whole])
    return values


def _groups(reader: Reader, data_version: str) -> Mapping[str, Mapping[str, str]]:
    """By column and instance the group; nothing without groups."""
    groups = features.part("subgroups", "pairs")
    found: Mapping[str, Mapping[str, str]] = (
        groups.groups_by_instance(reader, data_version) if groups else {}
    )
    return found


def _worst_first(count: FlipCount) -> tuple[int, int, str, str, str]:
    """Sort key: the most instances lost beyond those won, then the most lost; hidden ones last."""
    worse, better = count.worse or 0, count.better or 0
    names = (count.display_name, count.group_column, count.group_value or "")
    return (better - worse, -worse, *names)


def _loss(flip: FlippedInstance) -> tuple[float, str]:
    return -abs(flip.first_value - flip.second_value), flip.instance_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """The groups of a benchmark's instances, and the patient of each instance."""

    masks: Mapping[tuple[str, str], NDArray[np.bool_]]
    """By column and group, which instances are in it; shape (instances,)."""
    patients: NDArray[np.int64]
    """The number of each instance's patient, shape (instances,)."""
    minimum: int

    @classmethod
    def of_instances(
        cls, measured: Measured, groups: Mapping[str, Mapping[str, str]], minimum: int
    ) -> "_Groups":
        """The groups of these instances; none where nothing is grouped."""
        pairs = features.part("subgroups", "pairs")
        masks = (
            pairs.group_masks(measured.instances.to_pylist(), groups) if pairs and groups else ()
        )
        patients = np.unique(measured.units.indices.to_numpy(), return_inverse=True)[1]
        return cls(masks=dict(masks), patients=patients, minimum=minimum)

    def hidden(self, is_seen: NDArray[np.bool_]) -> Collection[tuple[str, str]]:
        """The groups whose counts are hidden where these instances are counted."""
        cells = features.part("subgroups", "small_cells")
        if cells is None or not self.masks:
            return ()
        in_data = {group: self._num_patients(mask) for group, mask in self.masks.items()}
        seen = {group: self._num_patients(mask & is_seen) for group, mask in self.masks.items()}
        hidden: Collection[tuple[str, str]] = cells.hidden_groups(in_data, seen, self.minimum)
        return hidden

    def _num_patients(self, chosen: NDArray[np.bool_]) -> int:
        return len(np.unique(self.patients[chosen]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flips:
    """One pair, instance by instance; `gains` are above 0 where the first model is better."""

    pair: BoardPair
    metric: str
    ids: pa.Array
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    gains: NDArray[np.float64]

    def count(self) -> FlipCount:
        return self._counted(np.ones(len(self.gains), bool))

    def _counted(
        self, chosen: NDArray[np.bool_], group: tuple[str, str | None] = ("", None)
    ) -> FlipCount:
        gains = self.gains[chosen]
        return replace(
            self._named(group),
            n=int((~np.isnan(gains)).sum()),
            worse=int((gains < 0).sum()),
            better=int((gains > 0).sum()),
        )

    def _named(self, group: tuple[str, str | None]) -> FlipCount:
        return FlipCount(
            scenario_name=self.pair.scenario_name,
            display_name=self.pair.display_name,
            metric=self.metric,
            first=self.pair.first,
            second=self.pair.second,
            group_column=group[0],
            group_value=group[1],
        )

    def by_group(self, groups: _Groups) -> Iterator[FlipCount]:
        """The counts in each group of each column."""
        hidden = groups.hidden(~np.isnan(self.gains))
        for group, mask in groups.masks.items():
            if group in hidden:
                yield replace(self._named(group), is_hidden=True)
            else:
                yield self._counted(mask, group)

    def instances(self, most: int | None) -> Iterator[FlippedInstance]:
        """The instances that are not equal; of each change at most so many, the largest first."""
        sizes = -np.abs(self.first - self.second)
        for change, is_it in ((WORSE, self.gains < 0), (BETTER, self.gains > 0)):
            indices = np.flatnonzero(is_it)
            for index in indices[np.argsort(sizes[indices], kind="stable")][:most]:
                yield FlippedInstance(
                    scenario_name=self.pair.scenario_name,
                    display_name=self.pair.display_name,
                    metric=self.metric,
                    first=self.pair.first,
                    second=self.pair.second,
                    instance_id=self.ids[index].as_py(),
                    change=change,
                    first_value=float(self.first[index]),
                    second_value=float(self.second[index]),
                )
