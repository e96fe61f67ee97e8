"""HELM's Stat objects as rows of `stats`."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark.domain.comparability import (
    DATA,
    EXTRACTION,
    IMPORTED,
    JURY,
    METRIC,
    ORIGIN,
    PROMPT,
    data_part,
    prompt_part,
)
from medhelm_spark.domain.helm_results import NUM_INSTANCES, STATS, SUFFIX
from medhelm_spark.domain.names import is_name
from medhelm_spark.domain.run import MEDHELM_08, RunSpec
from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Stat
from medhelm_spark.medhelm_results.folder import RunFolder
from medhelm_spark.medhelm_results.states import perturbation_name
from medhelm_spark.medhelm_results.stream import BrokenFileError, items
from medhelm_spark.metrics import parts_of

COMPUTED_ON = frozenset(ComputedOn)

Key = tuple[str, str, str, str | None]
"""Name, split, perturbation and what it is computed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirStat:
    """What a Stat of HELM's counted: means of trials, in `stats.json`. It may be nothing."""

    count: int
    total: float = 0.0
    squares: float = 0.0
    minimum: float | None = None
    maximum: float | None = None

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    def merged(self, other: "TheirStat") -> "TheirStat":
        """Both counted together, as HELM merges sub-splits."""
        lowest = [stat.minimum for stat in (self, other) if stat.minimum is not None]
        highest = [stat.maximum for stat in (self, other) if stat.maximum is not None]
        return TheirStat(
            count=self.count + other.count,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            minimum=min(lowest, default=None),
            maximum=max(highest, default=None),
        )


def read_stats(run: RunFolder) -> dict[Key, TheirStat]:
    """The stats of a run by name, split and perturbation, with those that counted nothing.

    Raises:
        BrokenFileError: the file is broken, or has a name that cannot be shown.
    """
    rows: Iterable[Any] = items(run.path / STATS) if run.has(STATS) else run.stats
    stats: dict[Key, TheirStat] = {}
    for row in rows:
        stat = row if isinstance(row, dict) else {}
        key, counted = _key(stat), _counted(stat)
        if key and counted:
            stats[key] = stats[key].merged(counted) if key in stats else counted
    return stats


def counted_names(stats: Mapping[Key, TheirStat]) -> set[str]:
    """The names of the stats that counted something."""
    return {key[0] for key, stat in stats.items() if stat.count}


def _key(stat: Mapping[str, Any]) -> Key | None:
    name = stat.get("name")
    if not isinstance(name, dict) or not name.get("name"):
        return None
    about = name.get("perturbation")
    perturbation = perturbation_name(about)
    on = str(about.get("computed_on")) if perturbation and isinstance(about, dict) else None
    if not all(map(is_name, (str(name["name"]), str(name.get("split") or "")))):
        raise BrokenFileError("a stat has a name that is not printable")
    known = on if on in COMPUTED_ON else ComputedOn.PERTURBED.value if perturbation else None
    return str(name["name"]), str(name.get("split") or ""), perturbation, known


def _counted(stat: Mapping[str, Any]) -> TheirStat | None:
    """The numbers of a Stat; None where one of them is no number."""
    count, total = stat.get("count"), stat.get("sum")
    if not isinstance(count, int) or not isinstance(total, int | float):
        return None
    if count <= 0:
        return TheirStat(count=0)
    mean = total / count
    numbers = {
        "squares": stat.get("sum_squared", count * mean * mean),
        "minimum": stat.get("min", mean),
        "maximum": stat.get("max", mean),
    }
    if not all(isinstance(value, int | float) for value in numbers.values()):
        return None
    return TheirStat(
        count=count, total=float(total), **{name: float(value) for name, value in numbers.items()}
    )


def stat_rows(stats: Mapping[Key, TheirStat], spec: RunSpec, instances: str) -> Iterator[Stat]:
    """HELM's stats as rows of the run as imported; `count` is HELM's own, the number of trials.

    `instances` is the id of the run's set of instances; where it is empty the RunSpec alone says
    what the stats rest on: two runs of one scenario, prompt and size are taken to have the same.
    """
    counted = {key: stat for key, stat in stats.items() if stat.count}
    for (name, split, perturbation, computed_on), stat in stats.items():
        mean = stat.mean
        size = _size(counted, split)
        yield Stat(
            run_spec_id=spec.run_spec_id,
            name=name + SUFFIX,
            split=split,
            perturbation=perturbation,
            count=stat.count,
            num_unscored=0,
            mean=mean,
            stddev=None
            if mean is None
            else math.sqrt(max(0.0, stat.squares / stat.count - mean * mean)),
            minimum=stat.minimum,
            maximum=stat.maximum,
            ci_low=None,
            ci_high=None,
            ci_method=IntervalMethod.NONE,
            computed_on=ComputedOn(computed_on) if computed_on else None,
            comparability={
                DATA: data_part(spec, size or stat.count, instances or "not in the files"),
                PROMPT: prompt_part(spec),
                EXTRACTION: MEDHELM_08,
                METRIC: f"stored {name}",
                JURY: "",
                ORIGIN: IMPORTED,
            },
        )


def _size(counted: Mapping[Key, TheirStat], split: str) -> int | None:
    """How many instances a split has, as HELM counted them."""
    size = counted.get((NUM_INSTANCES, split, "", None))
    return round(size.total / size.count) if size else None


def board_rows(stats: Mapping[Key, TheirStat], spec: RunSpec) -> Iterator[Stat]:
    """The stats as boards show them where no instance has a value: `count` is that of instances.

    There is no interval and no spread, for the files have none.
    """
    parts = parts_of(spec.metrics)
    counted = {key: stat for key, stat in stats.items() if stat.count}
    for row in stat_rows(counted, spec, ""):
        comparability = {**(row.comparability or {}), METRIC: parts[row.name]}
        yield replace(
            row,
            count=_size(counted, row.split) or row.count,
            stddev=None,
            minimum=None,
            maximum=None,
            comparability=comparability,
        )
