"""One cell of a leaderboard: a mean with its counts, its bounds, and what makes it comparable."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import numpy as np

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.jury_evidence import JuryEvidence, weakest
from medhelm_spark.domain.stats import IntervalMethod, Mean
from medhelm_spark.statistics.bootstrap import MIN_UNITS

MOVER = IntervalMethod.MOVER.value
"""Independent means (Zou and Donner 2008)."""

MOVING_TOGETHER = "mean_half_width"
"""Means of parts that share cases: the mean of the half widths, the bound for any correlation."""


@dataclass(frozen=True, kw_only=True)
class CellSubject:
    """What a cell is of; without slots, so that its fields come before those of the mean."""

    model: str
    model_deployment: str
    locality: str
    scenario_name: str
    display_name: str
    category: str
    subcategory: str
    access_level: AccessLevel
    main_metric: str
    lower_is_better: bool | None
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCell(Mean, CellSubject):
    """The main metric of one run of one model deployment on one scenario, or on one part of it.

    `jury_evidence`: what is known of its jury's agreement with clinicians. `jury_coverage`: the
    mean share of usable verdicts. `unreadable`: the share of answers in which no single answer
    could be read, None where answers are taken as they are. `is_primary`: it is the suite's
    declared primary endpoint. `margin`: the difference that the suite declared too small to matter.
    `is_listed`: the suite file names the benchmark. `minimum`, `maximum`: the metric's scale, None
    for an open end. Of the unscored answers, `num_model_failures` count against the model (prompts
    too long for its window), and `num_unscorable` have no reference to be scored by and are no
    failures.

    `num_clusters` is of `cluster_column`, where the card names such a column. `draws` are resampled
    means, alike in all rows of a column (`statistics.bootstrap`).

    `imported`: what is known of how answers made elsewhere were asked for; empty for answers that
    were asked for here, and where MedHELM's own values are taken over with them.

    `worst_group` is the group of patients that is shown to be worse than all others by the largest
    difference, as `site: south`; empty where there is none. `worst_group_mean` is its mean.

    `corrected_mean` is a jury's mean corrected by the ratings that people gave to `num_rated`
    answers, with its interval (`statistics.prediction_powered`); None without enough ratings. Where
    these are of two classes, it is the share of the higher one on the scale
    (`statistics.corrected_share`), and `jury_sensitivity` and `jury_specificity` are the jury's.
    `uncorrected` is the reason why existing ratings correct no mean.

    `traded_metric` is the stat that a model can give up for this one, as specificity for
    sensitivity, and `traded_mean` its mean, None where the run has none.

    `part` names the part of the scenario, empty for the whole; `is_disjoint`: no case is in two
    parts. Two means are compared only where `comparability` is equal (see `Stat.comparability`).
    `configuration` has the run's settings by name, `made_at` is when the mean was computed, and
    `is_current` is false where the run was scored again since. `is_of_run`: the mean is a stat of
    the whole run, as macro F1 is.

    `arrangement` fills in the rest: `variant` (what differs in a further run of a model), `differs`
    (why the cell is not compared with its column), `is_asked_otherwise` (in that alone a further
    run of a model differs from its first one), `is_below_floor` (too few answers are scored)
    and `parts` (the cells that it is the mean of).
    """

    ci_method: str = "none"
    minimum: float | None = None
    maximum: float | None = None
    num_model_failures: int = 0
    num_unscorable: int = 0
    cluster_column: str | None = None
    draws: tuple[float, ...] | None = field(default=None, repr=False)
    traded_metric: str = ""
    traded_mean: float | None = None
    jury_evidence: JuryEvidence = JuryEvidence.NO_JURY
    jury_coverage: float | None = None
    unreadable: float | None = None
    is_primary: bool = False
    margin: float | None = None
    is_listed: bool = False
    imported: str = ""
    part: str = ""
    is_disjoint: bool = False
    comparability: Mapping[str, str] | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    made_at: datetime | None = field(default=None, compare=False)
    is_current: bool = True
    is_of_run: bool = False
    run_spec_ids: tuple[str, ...] = ()
    num_runs: int = 1
    variant: str = ""
    differs: str = ""
    is_asked_otherwise: bool = False
    is_below_floor: bool = False
    worst_group: str = ""
    worst_group_mean: float | None = None
    corrected_mean: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    num_rated: int = 0
    jury_sensitivity: float | None = None
    jury_specificity: float | None = None
    uncorrected: str = ""
    parts: tuple["BoardCell", ...] = ()

    @property
    def total(self) -> int:
        """The number of answers, with a score and without."""
        return self.count + self.num_unscored

    @property
    def num_independent(self) -> float:
        """How many independent tries the mean rests on: clusters of equal size, else answers."""
        return self.num_effective_clusters or self.num_clusters or self.num_counted

    @property
    def is_few(self) -> bool:
        """Whether it, or a part of it, rests on too few independent tries for tiers."""
        if self.parts:
            return any(part.is_few for part in self.parts if part.mean is not None)
        return self.num_independent < MIN_UNITS

    @property
    def num_failed(self) -> int:
        """The number of answers that could have a score and have none."""
        return self.num_unscored - self.num_unscorable

    @property
    def coverage(self) -> float:
        """The share of the answers that can have a score and do; of several parts the smallest."""
        if self.parts:
            return min(part.coverage for part in self.parts)
        scorable = self.count + self.num_failed
        return self.count / scorable if scorable else 0.0

    def is_below(self, coverage_floor: float) -> bool:
        """Whether too few of its answers have a score; not where none can have one."""
        return self.coverage < coverage_floor and self.count + self.num_failed > 0

    @property
    def is_comparable(self) -> bool:
        """Whether it may be compared with the others of its column, whatever its coverage."""
        return self.mean is not None and not self.differs

    @property
    def is_counted(self) -> bool:
        """Whether win rates and ranks count it."""
        return self.is_comparable and not self.is_below_floor

    @property
    def is_no_better_than_chance(self) -> bool:
        """Whether sensitivity and specificity come to 1 or less, as of one answer to every case."""
        names = {self.main_metric.partition("[")[0], self.traded_metric.partition("[")[0]}
        if self.mean is None or self.traded_mean is None:
            return False
        return names == {"sensitivity", "specificity"} and self.mean + self.traded_mean <= 1

    @property
    def is_of_sweep(self) -> bool:
        """Whether it is compared with the other runs of its own model."""
        return self.is_asked_otherwise and self.mean is not None and not self.is_below_floor

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if all failed answers had the scale's lowest value, and its highest.

        None where the scale has no such end, and of a stat of the whole run that is no mean over
        answers, as macro F1. Of a share of a part of the answers, as sensitivity, all failed
        answers are taken to be of that part.
        """
        if self.parts:
            bounds = [part.bounds for part in self.parts]
            known = [pair for pair in bounds if pair]
            if len(known) < len(bounds):
                return None
            return _average(low for low, _ in known), _average(high for _, high in known)
        if self.minimum is None or self.maximum is None or not self.num_counted + self.num_failed:
            return None
        if self.is_of_run and self.denominator is None:
            return None
        failed = self.num_failed
        return self._filled(self.minimum, failed), self._filled(self.maximum, failed)

    @property
    def mean_with_failures(self) -> float | None:
        """The mean with the model's own failures as the worst value of the scale.

        None where there are no such failures, or the metric has no worst value.
        """
        if not self.num_model_failures or self.lower_is_better is None:
            return None
        worst = self.maximum if self.lower_is_better else self.minimum
        if worst is None:
            return None
        if self.parts:
            return _known_average(
                part.mean if part.mean_with_failures is None else part.mean_with_failures
                for part in self.parts
            )
        return self._filled(worst, self.num_model_failures)

    def _filled(self, value: float, times: int) -> float:
        """The mean with `times` failed answers counted as `value`."""
        counted = self.num_counted
        return ((self.mean or 0.0) * counted + value * times) / (counted + times)


_SHARED = (
    *(each.name for each in fields(CellSubject)),
    "minimum",
    "maximum",
    "cluster_column",
    "traded_metric",
    "is_of_run",
    "is_disjoint",
    "variant",
    "differs",
    "is_asked_otherwise",
    "is_below_floor",
)
"""Fields that all parts of a scenario share. Any other has its default where `merged` has none."""


def merged(cells: Sequence[BoardCell]) -> BoardCell:
    """One cell of the parts of a scenario: the unweighted mean of their means, as MedHELM's."""
    if len(cells) == 1 and not cells[0].part:
        return cells[0]
    valued = [cell for cell in cells if cell.mean is not None]
    means = [cell.mean for cell in valued if cell.mean is not None]
    is_disjoint = all(cell.is_disjoint for cell in cells)
    low, high = _limits(valued, means, is_disjoint) if means else (None, None)
    method = MOVER if is_disjoint else MOVING_TOGETHER
    if len(valued) == 1:
        method = valued[0].ci_method
    shared: dict[str, Any] = {name: getattr(cells[0], name) for name in _SHARED}
    return BoardCell(
        **shared,
        count=sum(cell.count for cell in cells),
        num_unscored=sum(cell.num_unscored for cell in cells),
        num_model_failures=sum(cell.num_model_failures for cell in cells),
        num_unscorable=sum(cell.num_unscorable for cell in cells),
        num_clusters=_clusters(cells, is_disjoint),
        denominator=_total(cell.denominator for cell in cells),
        draws=_mean_draws(valued),
        mean=_average(means) if means else None,
        ci_low=low,
        ci_high=high,
        ci_method="none" if low is None and high is None else method,
        traded_mean=_known_average(cell.traded_mean for cell in valued),
        jury_evidence=weakest(cell.jury_evidence for cell in cells),
        jury_coverage=_known_average(cell.jury_coverage for cell in cells),
        unreadable=_known_average(cell.unreadable for cell in cells),
        is_primary=any(cell.is_primary for cell in cells),
        is_listed=any(cell.is_listed for cell in cells),
        margin=strictest_margin(cells),
        imported=all_known(cell.imported for cell in cells),
        comparability=_joined_comparability(cells),
        configuration=_shared(cells),
        made_at=max((cell.made_at for cell in cells if cell.made_at), default=None),
        is_current=all(cell.is_current for cell in cells),
        run_spec_ids=tuple(key for cell in cells for key in cell.run_spec_ids),
        num_runs=sum(cell.num_runs for cell in cells),
        parts=tuple(cells),
    )


def all_known(texts: Iterable[str]) -> str:
    """What is known of answers made elsewhere, of several runs."""
    return "; ".join(sorted(set(texts) - {""}))


def _clusters(cells: Sequence[BoardCell], is_disjoint: bool) -> int | None:
    """Clusters of all parts; where the parts share cases, those of the largest."""
    known = [cell.num_clusters for cell in cells if cell.num_clusters]
    return (sum(known) if is_disjoint else max(known)) if known else None


def _total(parts: Iterable[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _mean_draws(cells: Sequence[BoardCell]) -> tuple[float, ...] | None:
    """The mean of the parts' resampled means; None where a part has none."""
    draws = [cell.draws for cell in cells if cell.draws]
    if not draws or len(draws) < len(cells):
        return None
    return tuple(np.mean(draws, axis=0).tolist())


def strictest_margin(cells: Iterable[BoardCell]) -> float | None:
    """The smallest of several suites' margins, None where none has one."""
    return min((cell.margin for cell in cells if cell.margin is not None), default=None)


def _limits(
    cells: Sequence[BoardCell], means: Sequence[float], is_disjoint: bool
) -> tuple[float | None, float | None]:
    """The interval of the mean of means; None on a side where a part has no limit."""
    mean = _average(means)
    below = _half_width([cell.ci_low for cell in cells], means, is_disjoint)
    above = _half_width([cell.ci_high for cell in cells], means, is_disjoint)
    return (
        None if below is None else mean - below,
        None if above is None else mean + above,
    )


def _half_width(
    sides: Sequence[float | None], means: Sequence[float], is_disjoint: bool
) -> float | None:
    """Distance of the mean of means to its limit: MOVER where the means are independent."""
    known = [side for side in sides if side is not None]
    if len(known) < len(means):
        return None
    widths = [abs(mean - side) for mean, side in zip(means, known, strict=True)]
    total = math.hypot(*widths) if is_disjoint else math.fsum(widths)
    return total / len(means)


def _joined_comparability(cells: Sequence[BoardCell]) -> Mapping[str, str] | None:
    """The comparability of a merged cell: a value that all parts share, else a hash of them all."""
    if any(cell.comparability is None for cell in cells):
        return None
    by_part = [(cell.part, cell.comparability or {}) for cell in cells]
    joined = {}
    for key in sorted({key for _, comparability in by_part for key in comparability}):
        values = {part: comparability.get(key, "") for part, comparability in by_part}
        distinct = set(values.values())
        joined[key] = distinct.pop() if len(distinct) == 1 else content_id(values)
    return joined


def _shared(cells: Sequence[BoardCell]) -> Mapping[str, str]:
    """The settings that all parts share."""
    first, *others = [cell.configuration for cell in cells]
    return {
        key: value
        for key, value in first.items()
        if all(other.get(key) == value for other in others)
    }


def _average(values: Iterable[float]) -> float:
    known = list(values)
    return math.fsum(known) / len(known)


def _known_average(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _average(known) if known else None
