"""The lines of a look: what is compared, the evidence of all looks, and the verdict."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medhelm_spark import features
from medhelm_spark.board.measured import InstanceStat, Measured, measured, needed_stats
from medhelm_spark.board.scores import own_scores, scores_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.always_valid import (
    UnitTotals,
    betting_interval,
    log_evidence_above,
    log_evidence_below,
    look_share,
    p_over_looks,
    unit_totals,
)
from medhelm_spark.statistics.student import LEVEL
from medhelm_spark.watch.baseline import WatchedRun, scale_width
from medhelm_spark.watch.tables import DriftVerdict, WatchedPart, WatchResult

WHOLE_RUN = "a stat of whole runs has no value for each instance; name one that has by --metric"
OPEN_SCALE = "its scale has an open end; name a stat on a scale with two ends by --metric"
NO_PAIR = "no instance has a value in both"
FEW = "fewer answers have a score than the policy's coverage_floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftLine:
    """A line before it is decided; `totals` is None where nothing can be said, `row` says why."""

    row: WatchResult
    totals: UnitTotals | None = None
    is_one_sided: bool = False

    @property
    def sides(self) -> int:
        """How many tests the line is: of an increase, a decrease or both."""
        if self.totals is None or self.row.margin is None:
            return 0
        return 1 if self.is_one_sided else 2


def lines_of_run(
    reader: Reader,
    run: WatchedRun,
    looked: str,
    blank: WatchResult,
    *,
    changed: Mapping[str, float],
    answers_margin: float | None,
    coverage_floor: float,
    minimum: int,
) -> Iterator[DriftLine]:
    """The scores of one run, in each group too, and its answers.

    Args:
        reader: it has the release's scores as they were frozen, and those of the look.
        run: the run of the release.
        looked: the run of the look.
        blank: a row with what all lines of the run have in common.
        changed: by instance the share of its trials with another answer.
        answers_margin: the share of other answers that is too small to matter; None: not decided.
        coverage_floor: the policy's.
        minimum: the patients that a group of gated and private rows needs to be shown.
    """
    spec, metric = run.board_run.run_spec, run.board_run.run_spec.main_metric
    units = [spec.run_spec_id, looked]
    scores = scores_of(reader, units, needed_stats(run.board_run, metric), spec.main_split)
    both = measured(run.board_run, metric, own_scores(scores, units, spec.main_split), units)
    asked = np.isin(both.instances.to_pylist(), _instances_of(scores, looked))
    line = _scores_line(run, both.among(asked), blank, coverage_floor)
    yield line
    if line.totals is not None:
        yield from _group_lines(reader, run, both, asked, blank, coverage_floor, minimum)
    yield _answers_line(both.among(asked), blank, changed, answers_margin)


def _instances_of(scores: Any, unit: str) -> list[str]:
    own = scores.filter(np.array(scores["run_spec_id"].to_pylist()) == unit)
    found: list[str] = own["instance_id"].unique().to_pylist()
    return found


def _scores_line(
    run: WatchedRun, both: Measured, blank: WatchResult, coverage_floor: float
) -> DriftLine:
    row = replace(blank, part=WatchedPart.SCORES, margin=run.margin)
    width = scale_width(run.board_run.info)
    if not isinstance(both, InstanceStat):
        return DriftLine(row=replace(row, reason=WHOLE_RUN))
    if width is None:
        return DriftLine(row=replace(row, reason=OPEN_SCALE))
    before, now = both.values
    has_both = ~np.isnan(before) & ~np.isnan(now)
    missing = int((~np.isnan(before) & np.isnan(now)).sum())
    row = replace(row, n=int(has_both.sum()), num_missing=missing)
    if not has_both.any():
        return DriftLine(row=replace(row, reason=NO_PAIR))
    labels = None if both.clusters is None else both.clusters[has_both]
    totals = unit_totals((now - before)[has_both], labels, -width, width)
    low, high = betting_interval(totals, LEVEL)
    row = replace(
        row,
        num_units=totals.num_units,
        before=float(before[has_both].mean()),
        now=float(now[has_both].mean()),
        difference=totals.mean,
        low=low,
        high=high,
        reason=FEW if has_both.sum() < coverage_floor * (~np.isnan(before)).sum() else "",
    )
    return DriftLine(row=row, totals=totals)


def _group_lines(
    reader: Reader,
    run: WatchedRun,
    both: Measured,
    asked: NDArray[np.bool_],
    blank: WatchResult,
    coverage_floor: float,
    minimum: int,
) -> Iterator[DriftLine]:
    """The scores in each group that is shown; none where the feature of groups is not there."""
    pairs, cells = features.part("subgroups", "pairs"), features.part("subgroups", "small_cells")
    if pairs is None or cells is None:
        return
    spec = run.board_run.run_spec
    groups = pairs.groups_by_instance(reader, spec.data_version)
    masks = dict(pairs.group_masks(both.instances.to_pylist(), groups))
    patients = np.unique(both.units.indices.to_numpy(), return_inverse=True)[1]
    lines = {
        group: _scores_line(run, both.among(mask & asked), blank, coverage_floor)
        for group, mask in masks.items()
    }
    is_public = spec.access_level is AccessLevel.PUBLIC
    gone = cells.hidden_groups(
        {group: len(np.unique(patients[mask])) for group, mask in masks.items()},
        {group: line.row.num_units or 0 for group, line in lines.items()},
        1 if is_public else minimum,
    )
    for (column, value), line in lines.items():
        if (column, value) not in gone and line.totals is not None:
            row = replace(line.row, part=WatchedPart.GROUP, group_column=column, group_value=value)
            yield replace(line, row=row)


def _answers_line(
    both: Measured, blank: WatchResult, changed: Mapping[str, float], margin: float | None
) -> DriftLine:
    row = replace(blank, part=WatchedPart.ANSWERS, name="other answer", margin=margin)
    positions: dict[str, int] = {}
    for position, instance in enumerate(both.instances.to_pylist()):
        positions.setdefault(instance, position)
    known = [instance for instance in positions if instance in changed]
    if not known:
        return DriftLine(row=replace(row, reason=NO_PAIR))
    of_unit = both.units.indices.to_numpy()[[positions[instance] for instance in known]]
    labels = np.unique(of_unit, return_inverse=True)[1].reshape(-1).astype(np.int64)
    values = np.array([changed[instance] for instance in known])
    totals = unit_totals(values, labels, 0.0, 1.0)
    low, high = betting_interval(totals, LEVEL)
    row = replace(
        row,
        n=len(known),
        num_units=totals.num_units,
        now=totals.mean,
        difference=totals.mean,
        low=low,
        high=high,
    )
    return DriftLine(row=row, totals=totals, is_one_sided=True)


def decided(
    lines: Sequence[DriftLine], earlier: Iterable[WatchResult], look: int
) -> list[WatchResult]:
    """The lines with their evidence over all looks, and their verdicts.

    The scores of all instances have half of the look's share, answers and groups the other half;
    all sides of their lines have equal parts of it.

    Args:
        lines: of this look.
        earlier: the rows of the looks before at the same manifest.
        look: the number of this look.
    """
    tests = {
        is_main: sum(line.sides for line in lines if _is_main(line) is is_main)
        for is_main in (True, False)
    }
    halves = 2 if all(tests.values()) else 1
    before: dict[tuple[object, ...], list[WatchResult]] = {}
    for row in earlier:
        before.setdefault(_key(row), []).append(row)
    return [
        _decided(
            line,
            before.get(_key(line.row), []),
            look_share(look) / halves / max(tests[_is_main(line)], 1),
        )
        for line in lines
    ]


def _is_main(line: DriftLine) -> bool:
    return line.row.part is WatchedPart.SCORES


def _key(row: WatchResult) -> tuple[object, ...]:
    return row.part, row.run_spec_id, row.name, row.group_column, row.group_value


def _decided(line: DriftLine, earlier: Sequence[WatchResult], share: float) -> WatchResult:
    row, totals, margin = line.row, line.totals, line.row.margin
    if totals is None:
        return replace(row, verdict=DriftVerdict.OPEN)
    if margin is None:
        return replace(row, verdict=DriftVerdict.SHOWN)
    valid_low, valid_high = betting_interval(totals, 2 * LEVEL * share)
    row = replace(
        row,
        share=share,
        valid_low=valid_low,
        valid_high=totals.high if line.is_one_sided else valid_high,
        log_e_above=log_evidence_above(totals, margin),
        log_e_below=None if line.is_one_sided else log_evidence_below(totals, -margin),
    )
    # Evidence against a wider margin is evidence against this one; the other way round it is not.
    rows = [row, *(each for each in earlier if each.margin is not None and each.margin >= margin)]
    above = p_over_looks(_evidence(rows, "log_e_above"))
    below = p_over_looks(_evidence(rows, "log_e_below"))
    row = replace(row, p_value=min(above, below))
    value = totals.mean
    is_moved = (above < LEVEL and value > margin) or (below < LEVEL and value < -margin)
    if is_moved:
        return replace(row, verdict=DriftVerdict.MOVED)
    low, high = row.low, row.high
    if low is not None and high is not None and -margin < low and high < margin and not row.reason:
        return replace(row, verdict=DriftVerdict.SAME)
    return replace(row, verdict=DriftVerdict.OPEN)


def _evidence(rows: Iterable[WatchResult], name: str) -> Iterator[tuple[float, float]]:
    for row in rows:
        log_e = getattr(row, name)
        if row.share is not None and log_e is not None and not math.isnan(log_e):
            yield row.share, log_e


def verdict_of(rows: Iterable[WatchResult]) -> DriftVerdict:
    """MOVED where a line moved, else OPEN where the scores of a run are open, else SAME.

    An open group does not keep a look open: few patients are in it.
    """
    lines = list(rows)
    if any(row.verdict is DriftVerdict.MOVED for row in lines):
        return DriftVerdict.MOVED
    deciding = [row for row in lines if row.part in (WatchedPart.SCORES, WatchedPart.ANSWERS)]
    is_open = any(row.verdict is DriftVerdict.OPEN for row in deciding)
    return DriftVerdict.OPEN if is_open or not deciding else DriftVerdict.SAME
