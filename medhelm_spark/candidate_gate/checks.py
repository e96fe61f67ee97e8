"""The outcome of each line of a gate on each of its benchmarks.

`check_metrics` and `about` refuse unknown names before a score is read; `lines_of` reads the
scores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark import features
from medhelm_spark.board import BoardRun
from medhelm_spark.candidate_gate.critical import critical_difference, why_not
from medhelm_spark.candidate_gate.gate_file import (
    ALL,
    CoverageFloor,
    NoMoreCriticalFailures,
    NoWiderGap,
    StatedLine,
)
from medhelm_spark.candidate_gate.sides import Sides
from medhelm_spark.candidate_gate.verdict import GateLine, GateVerdict, decided
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.groups import NOT_STATED
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from medhelm_spark.statistics.needed import needed_for, needed_instances
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.student import LEVEL

SUBGROUPS = "subgroups"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSubject:
    """A line of the gate file with the benchmarks that it is about."""

    line: StatedLine
    scenarios: tuple[str, ...]
    critical: Mapping[str, CriticalFailure]
    """What counts as a critical failure, by scenario name; empty of other lines."""


def check_metrics(lines: Sequence[StatedLine], sides: Sides, file: str) -> None:
    """Refuse a metric that no run of the candidate, or none of the baseline, has.

    Raises:
        UnknownNameError: there is one.
    """
    known = set[str].intersection(
        *({name for run in runs for name in run.originals} for runs in sides.both)
    )
    for line in lines:
        metric = line.condition.metric
        if metric is not None and metric not in known:
            raise UnknownNameError("metric", metric, known, where=f"{file}: {line.key_path}.metric")


def about(line: StatedLine, sides: Sides, file: str) -> LineSubject:
    """The benchmarks that a line is about; reads no score.

    Args:
        line: the line.
        sides: the runs, read by the line's metric.
        file: the gate file, for errors.

    Raises:
        UnknownNameError: no run has the benchmark or column.
        ConfigError: the line fits no benchmark.
        SetupError: the line is about a gap, and the feature for groups is not installed.
    """
    where, condition = f"{file}: {line.key_path}", line.condition
    known = list(dict.fromkeys(run.run_spec.scenario_name for run in sides.baseline_runs))
    if condition.benchmark not in (ALL, *known):
        raise UnknownNameError("benchmark", condition.benchmark, known, where=f"{where}.benchmark")
    scenarios = known if condition.benchmark == ALL else [condition.benchmark]
    critical: dict[str, CriticalFailure] = {}
    if isinstance(condition, NoWiderGap):
        scenarios = _with_columns(condition, scenarios, sides, where)
    elif isinstance(condition, NoMoreCriticalFailures):
        critical = _critical(condition, scenarios, sides, where)
        scenarios = list(critical)
    return LineSubject(line=line, scenarios=tuple(scenarios), critical=critical)


def _with_columns(
    condition: NoWiderGap, scenarios: Sequence[str], sides: Sides, where: str
) -> list[str]:
    """The benchmarks that have one of the columns; refuses a column that none of them has.

    The candidate's suite may lack a benchmark, so that only the baseline's run has its columns.
    """
    groups = features.part(SUBGROUPS, "model_groups")
    if groups is None:
        raise SetupError(f"{where}: this installation is without the feature {SUBGROUPS!r}.")
    columns: dict[str, list[str]] = {
        scenario: groups.columns_of(sides.reader, _of(scenario, sides.runs))
        for scenario in scenarios
    }
    known = dict.fromkeys(name for names in columns.values() for name in names)
    for name in condition.by:
        if name not in known:
            raise UnknownNameError("group column", name, known, where=f"{where}.by")
    requested = set(condition.by)
    return [scenario for scenario, names in columns.items() if not requested.isdisjoint(names)]


def _critical(
    condition: NoMoreCriticalFailures, scenarios: Sequence[str], sides: Sides, where: str
) -> dict[str, CriticalFailure]:
    """The critical failures of each benchmark that the line fits; refuses a line that fits none."""
    found: dict[str, CriticalFailure] = {}
    reasons = []
    for scenario in scenarios:
        runs = _of(scenario, sides.runs)  # the candidate's first: its file is the newer one
        run = runs[0]
        own = (run.planned.critical for run in runs if run.planned.critical)
        stated = condition.critical or next(own, None)
        why = "its file has no key critical" if stated is None else why_not(stated, run)
        if stated is None or why:
            reasons.append(f"{scenario} ({why})")
        else:
            found[scenario] = stated
    if not found:
        raise ConfigError(
            f"{where}.critical: no benchmark has such failures: {', '.join(reasons)}."
        )
    return found


def _of(scenario: str, runs: Sequence[BoardRun]) -> list[BoardRun]:
    return [run for run in runs if run.run_spec.scenario_name == scenario]


def lines_of(subject: LineSubject, sides: Sides, pairs: Sequence[BoardPair]) -> Iterator[GateLine]:
    """The outcomes of a line: one for each benchmark, for a gap one for each column too.

    Args:
        subject: the line.
        sides: the runs, read by the line's metric.
        pairs: the candidate less the baseline, of these runs.
    """
    check = _CHECKS[subject.line.kind]
    for scenario in subject.scenarios:
        own = [pair for pair in pairs if pair.scenario_name == scenario]
        made = list(check(subject, sides, scenario, own))
        yield from made or [_unpaired(subject, sides, scenario)]


def _template(subject: LineSubject, sides: Sides, scenario: str) -> GateLine:
    run = next(iter(_of(scenario, sides.baseline_runs)))
    condition = subject.line.condition
    return GateLine(
        tier=subject.line.tier,
        kind=subject.line.kind,
        scenario_name=scenario,
        display_name=run.cell.display_name if run.cell else scenario,
        measure=_measure(subject, scenario) or run.run_spec.main_metric,
        verdict=GateVerdict.INCONCLUSIVE,
        limit=condition.floor if isinstance(condition, CoverageFloor) else condition.margin,
    )


def _measure(subject: LineSubject, scenario: str) -> str:
    if isinstance(subject.line.condition, CoverageFloor):
        return "coverage"
    return str(subject.critical[scenario]) if scenario in subject.critical else ""


def _unpaired(subject: LineSubject, sides: Sides, scenario: str) -> GateLine:
    """The line of a benchmark on which the two cannot be compared."""
    template = _template(subject, sides, scenario)
    return replace(template, reason=sides.why_without_pair(scenario))


_Check = Callable[[LineSubject, Sides, str, Sequence[BoardPair]], Iterator[GateLine]]


def _no_worse(
    subject: LineSubject, sides: Sides, scenario: str, pairs: Sequence[BoardPair]
) -> Iterator[GateLine]:
    template = _template(subject, sides, scenario)
    for pair in pairs:
        difference, margin = pair.difference, template.limit
        limit = margin if pair.lower_is_better else -margin
        yield _with_needed(
            replace(
                template,
                display_name=_shown_name(pair, sides),
                verdict=decided(pair.gain, margin),
                value=difference.mean_difference,
                low=difference.ci_low,
                high=difference.ci_high,
                n=difference.n,
                reason=_untested(pair),
            ),
            needed_instances(difference, limit) if pair.gain else None,
        )


def _shown_name(pair: Any, sides: Sides) -> str:
    """The benchmark's name; for a further run of one of the two with the names of the runs."""
    if (pair.first, pair.second) == (sides.compared.candidate, sides.compared.baseline):
        return str(pair.display_name)
    return f"{pair.display_name} ({pair.first} against {pair.second})"


def _untested(pair: BoardPair) -> str:
    if pair.lower_is_better is None:
        return f"it is not declared which end of {pair.main_metric} is better"
    return "" if pair.gain else "too few instances for an interval"


def _with_needed(line: GateLine, needed: int | None) -> GateLine:
    """The line with the number of instances, where it is INCONCLUSIVE."""
    return replace(line, needed=needed) if line.verdict is GateVerdict.INCONCLUSIVE else line


def _critical_failures(
    subject: LineSubject, sides: Sides, scenario: str, pairs: Sequence[BoardPair]
) -> Iterator[GateLine]:
    template = _template(subject, sides, scenario)
    by_id = {run.run_spec.run_spec_id: run for run in sides.runs}
    for pair in pairs:
        first, second = (by_id[unit] for unit in pair.run_spec_ids)
        critical = subject.critical[scenario]
        difference = critical_difference(sides.reader, critical, pair, first, second)
        low, high = difference.ci_low, difference.ci_high
        gain = None if low is None or high is None else (-high, -low)
        yield _with_needed(
            replace(
                template,
                display_name=_shown_name(pair, sides),
                verdict=decided(gain, template.limit),
                value=difference.mean_difference,
                low=low,
                high=high,
                n=difference.n,
                reason="" if low is not None else "too few instances for an interval",
            ),
            needed_instances(difference, template.limit),
        )


def _coverage(
    subject: LineSubject, sides: Sides, scenario: str, _: Sequence[BoardPair]
) -> Iterator[GateLine]:
    template = _template(subject, sides, scenario)
    for run in _of(scenario, sides.candidate_runs):
        if cell := run.cell:
            reached = cell.coverage >= template.limit
            yield replace(
                template,
                display_name=f"{cell.display_name}: {cell.part}"
                if cell.part
                else cell.display_name,
                verdict=GateVerdict.GO if reached else GateVerdict.NO_GO,
                value=cell.coverage,
                n=cell.count + cell.num_failed,
            )


def _wider_gaps(
    subject: LineSubject, sides: Sides, scenario: str, pairs: Sequence[BoardPair]
) -> Iterator[GateLine]:
    """The worst group of each column. p-values are adjusted for all groups of the benchmark."""
    condition = subject.line.condition
    groups = features.part(SUBGROUPS, "pairs")
    if not isinstance(condition, NoWiderGap) or groups is None:
        return
    group_pairs = groups.group_pairs(
        sides.reader, sides.runs, pairs, minimum=sides.minimum, by=condition.by
    )
    sizes = {_shown_name(pair, sides): pair.difference.n for pair in pairs}
    template = _template(subject, sides, scenario)
    by_name_and_column: dict[tuple[str, str], list[Any]] = {}
    for pair in group_pairs:
        by_name_and_column.setdefault((_shown_name(pair, sides), pair.group_column), []).append(
            pair
        )
    for (name, column), of_column in sorted(by_name_and_column.items()):
        line = replace(template, display_name=name, group_column=column)
        stated = [pair for pair in of_column if pair.group_value != NOT_STATED]
        judged = [_of_group(line, pair, sizes[name]) for pair in stated if not pair.is_hidden]
        hidden = sum(pair.is_hidden for pair in stated)
        if not judged:
            yield replace(line, reason="every group is hidden" if hidden else "no group is stated")
            continue
        worst = min(judged, key=lambda line: _loss_order(line, stated[0].lower_is_better))
        why = f"{counted(hidden, 'group')} hidden and not judged" if hidden else ""
        yield replace(worst, reason="; ".join(filter(None, (worst.reason, why))))


def _loss_order(line: GateLine, lower_is_better: bool | None) -> tuple[int, float]:
    """Sort key: NO-GO, INCONCLUSIVE, GO; within each the largest loss first."""
    order = (GateVerdict.NO_GO, GateVerdict.INCONCLUSIVE, GateVerdict.GO)
    value = line.value or 0.0
    return order.index(line.verdict), -value if lower_is_better else value


def _of_group(line: GateLine, pair: Any, n: int) -> GateLine:
    """One group of a column; `pair` is a GroupPair, `n` the instances of the benchmark."""
    low, high, margin = pair.difference_low, pair.difference_high, line.limit
    line = replace(line, group_value=pair.group_value, n=pair.n)
    if pair.difference is None or pair.lower_is_better is None:
        return replace(line, reason=f"{pair.group_value}: not tested")
    gain = (-high, -low) if pair.lower_is_better else (low, high)
    verdict = decided(gain, margin)
    if verdict is GateVerdict.NO_GO and (pair.adjusted_p is None or pair.adjusted_p >= LEVEL):
        verdict = GateVerdict.INCONCLUSIVE
    limit = margin if pair.lower_is_better else -margin
    return _with_needed(
        replace(line, verdict=verdict, value=pair.difference, low=low, high=high),
        needed_for(pair.difference, low, high, limit, n),
    )


_CHECKS: Mapping[str, _Check] = {
    "no_worse": _no_worse,
    "no_wider_gap": _wider_gaps,
    "no_more_critical_failures": _critical_failures,
    "coverage": _coverage,
}
