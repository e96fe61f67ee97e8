"""Flips: instances on which one of two models is better, and the other one was.

Ids and values alone, no text. By group of patients the counts of gated and private rows follow the
rules of small cells; an instance's own group is told nowhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark import features
from medhelm_spark.board import RIGHT, BoardRun
from medhelm_spark.board.measured import InstanceStat, Measured, RunStat, measured, needed_stats
from medhelm_spark.board.scores import own_scores, scores_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.pairs import BoardPair

WORSE, BETTER = "worse", "better"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedInstance:
    """One instance that two models do not do equally well on."""

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
    reader: Reader, runs: Sequence[BoardRun], pairs: Sequence[BoardPair], *, minimum: int
) -> FlipSet:
    """The flips of these pairs; none of a metric without a better end or without single answers.

    Args:
        reader: it has the scores behind the pairs.
        runs: the runs behind the pairs.
        pairs: two models on a benchmark each; the first one is worse or better.
        minimum: the patients that a group of gated and private rows needs to be shown.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    counts: list[list[FlipCount]] = []
    instances: list[FlippedInstance] = []
    for pair in pairs:
        run = by_id[pair.run_spec_ids[0]]
        split = run.cell.split if run.cell else run.run_spec.main_split
        units = pair.run_spec_ids
        names = needed_stats(run, pair.main_metric)
        scores = own_scores(scores_of(reader, units, names, split), units, split)
        held = measured(run, pair.main_metric, scores, units)
        valued = _values(held)
        if valued is None or pair.lower_is_better is None:
            continue
        flips = _Flips(
            pair=pair,
            metric=RIGHT if isinstance(held, RunStat) else pair.main_metric,
            held=held,
            values=valued,
            gains=(valued[0] - valued[1]) * (-1 if pair.lower_is_better and _is_own(held) else 1),
        )
        is_public = run.run_spec.access_level is AccessLevel.PUBLIC
        groups = _groups(reader, run.run_spec.data_version)
        of_groups = flips.by_group(groups, 1 if is_public else minimum)
        counts.append([flips.count(), *sorted(of_groups, key=_worst_first)])
        instances += flips.instances()
    counts.sort(key=lambda each: _worst_first(each[0]))
    order = {each[0].display_name: place for place, each in enumerate(counts)}
    instances.sort(key=lambda each: (each.change == BETTER, order[each.display_name], _loss(each)))
    return FlipSet(
        counts=tuple(count for each in counts for count in each), instances=tuple(instances)
    )


def _is_own(held: Measured) -> bool:
    """Whether the values are the metric's; else 1 for a right answer, which is always better."""
    return isinstance(held, InstanceStat)


def _values(held: Measured) -> NDArray[np.float64] | None:
    """The value of each instance in both runs, NaN without one; shape (2, instances).

    Of a stat of whole runs whether each answer is right; None where it does not say.
    """
    if isinstance(held, InstanceStat):
        return held.values
    if not isinstance(held, RunStat) or held.metric.is_right is None:
        return None
    values = np.full(held.rows.shape[:2], np.nan)
    for run, rows in enumerate(held.rows):
        is_whole = ~np.isnan(rows).any(axis=1)
        values[run, is_whole] = held.metric.is_right(rows[is_whole])
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
class _Flips:
    """One pair, instance by instance; `gains` are above 0 where the first model is better."""

    pair: BoardPair
    metric: str
    held: Measured
    values: NDArray[np.float64]
    gains: NDArray[np.float64]

    def count(self) -> FlipCount:
        return self._counted(np.ones(len(self.gains), bool))

    def _counted(
        self, chosen: NDArray[np.bool_], column: str = "", group: str | None = None
    ) -> FlipCount:
        gains = self.gains[chosen]
        return FlipCount(
            scenario_name=self.pair.scenario_name,
            display_name=self.pair.display_name,
            metric=self.metric,
            first=self.pair.first,
            second=self.pair.second,
            group_column=column,
            group_value=group,
            n=int((~np.isnan(gains)).sum()),
            worse=int((gains < 0).sum()),
            better=int((gains > 0).sum()),
        )

    def by_group(
        self, groups: Mapping[str, Mapping[str, str]], minimum: int
    ) -> Iterator[FlipCount]:
        """The counts in each group of each column."""
        pairs, cells = (features.part("subgroups", name) for name in ("pairs", "small_cells"))
        if pairs is None or cells is None:
            return
        patients = np.unique(self.held.units.indices.to_numpy(), return_inverse=True)[1]
        is_seen = ~np.isnan(self.gains)
        masks = dict(pairs.group_masks(self.held.instances.to_pylist(), groups))
        in_data = {group: len(np.unique(patients[mask])) for group, mask in masks.items()}
        seen = {group: len(np.unique(patients[mask & is_seen])) for group, mask in masks.items()}
        hidden = cells.hidden_groups(in_data, seen, minimum)
        for group, mask in masks.items():
            if group in hidden:
                yield FlipCount(
                    scenario_name=self.pair.scenario_name,
                    display_name=self.pair.display_name,
                    metric=self.metric,
                    first=self.pair.first,
                    second=self.pair.second,
                    group_column=group[0],
                    group_value=group[1],
                    is_hidden=True,
                )
            else:
                yield self._counted(mask, *group)

    def instances(self) -> Iterator[FlippedInstance]:
        """The instances that are not equal."""
        ids = self.held.instances.to_pylist()
        for place in np.flatnonzero(~np.isnan(self.gains) & (self.gains != 0)):
            yield FlippedInstance(
                scenario_name=self.pair.scenario_name,
                display_name=self.pair.display_name,
                metric=self.metric,
                first=self.pair.first,
                second=self.pair.second,
                instance_id=ids[place],
                change=BETTER if self.gains[place] > 0 else WORSE,
                first_value=float(self.values[0, place]),
                second_value=float(self.values[1, place]),
            )
