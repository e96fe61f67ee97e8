"""What the runs of a board score by group, as a person reads it; this module hides nothing.

Rows of `stats_by_group` are hidden when they are made, so that every reader may show all rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.groups import NOT_STATED, NOT_STATED_LABEL
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.domain.stages import SUMMARIZE_GROUPS
from medhelm_spark.domain.stats import SHARE, MetricInfo
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics import info
from medhelm_spark.statistics.multiple import benjamini_hochberg
from medhelm_spark.subgroups.gaps import Gap, gap_of
from medhelm_spark.subgroups.group_stats import estimate_of
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twins import ORIGINAL, PERTURBED, is_twins
from medhelm_spark.subgroups.verdicts import GroupVerdict, verdict

SENSITIVITY = "sensitivity"
"""The stat whose gap is that of equal opportunity (Hardt, Price and Srebro 2016): of those who have
the condition, the same share is found in each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroups:
    """One stat of one model on one scenario, by the groups of one column."""

    run_spec_id: str

    scenario_name: str

    display_name: str

    model_deployment: str

    metric: str

    lower_is_better: bool | None

    group_column: str

    stats: tuple[GroupStat, ...]
    """One for each group, hidden ones too, in the order of a table.

    `adjusted_p` is that of all groups, columns, models and benchmarks that are shown at once.
    """

    gap: Gap | None
    """Between the groups that are shown; None of fewer than two, or without a better end."""

    overall: float | None
    """The stat over all instances."""

    opportunity: Gap | None = None
    """The gap of the sensitivity, where it is scored and another stat is shown."""

    is_current: bool = True
    """Whether the scores of the run are still those behind the board."""

    num_adjusted: int = 0
    """For how many tests `adjusted_p` is adjusted."""

    @property
    def worse(self) -> list[GroupStat]:
        """The groups that are shown to be worse than their rest, the largest difference first."""
        worse = [stat for stat in self.patients if self.verdict(stat) is GroupVerdict.WORSE]
        return sorted(worse, key=lambda stat: -abs(stat.difference or 0.0))

    @property
    def patients(self) -> list[GroupStat]:
        """The groups of patients: neither "not stated" nor the originals of twins."""
        none = {NOT_STATED, *([ORIGINAL] if is_twins(self.group_column) else [])}
        return [stat for stat in self.stats if stat.group_value not in none]

    def verdict(self, stat: GroupStat) -> GroupVerdict:
        """Whether a group is shown to be worse than all others of its column."""
        return verdict(
            stat.difference,
            stat.adjusted_p,
            lower_is_better=self.lower_is_better,
            is_hidden=stat.is_hidden,
        )

    @property
    def num_hidden(self) -> int:
        """How many groups are hidden."""
        return sum(stat.is_hidden for stat in self.stats)


def group_label(value: str) -> str:
    """A group's name as a table shows it."""
    return NOT_STATED_LABEL if value == NOT_STATED else value


def group_order(value: str) -> tuple[object, ...]:
    """Sort key of a group: bands ascend, and what is not stated comes last."""
    return value == NOT_STATED, not value.startswith("under "), in_natural_order(value)


def groups_of_runs(
    reader: Reader,
    runs: Iterable[BoardRun],
    *,
    by: Sequence[str] = (),
    metric: str | None = None,
) -> list[ModelGroups]:
    """What runs score by group: by these columns, or by all that their data has.

    p-values are adjusted for all columns, so that they are the same whichever are shown.

    Args:
        reader: the lake; of a release what it froze.
        runs: the runs of a board.
        by: the columns, in the order in which they are shown (none: all).
        metric: a stat to show in place of each run's main metric.

    Raises:
        UnknownNameError: no run has the column or the metric.
    """
    scored = {run.run_spec.run_spec_id: run for run in runs if run.cell}
    if not scored:
        return []
    rows = _rows(reader, scored)
    stats: dict[tuple[str, str, str], list[GroupStat]] = {}
    for row in rows:
        if row.split == scored[row.run_spec_id].run_spec.main_split:
            stats.setdefault((row.run_spec_id, row.group_column, row.name), []).append(row)
    columns = sorted({column for _, column, _ in stats}, key=in_natural_order)
    _refuse_unknown(by, columns)
    names = {name for _, _, name in stats}
    if metric and stats and metric not in names:
        raise UnknownNameError("metric", metric, names, where="the stats by group")
    made = []
    for unit, run in scored.items():
        name = metric or run.run_spec.main_metric
        for column in columns:
            if (unit, column, name) in stats:
                sensitivity = stats.get((unit, column, SENSITIVITY), ())
                made.append(_of_run(run, column, stats[unit, column, name], sensitivity))
    made = adjusted(made)
    if not by:
        return made
    runs_in_order = list(scored)
    return sorted(
        (model for model in made if model.group_column in by),
        key=lambda model: (runs_in_order.index(model.run_spec_id), by.index(model.group_column)),
    )


def adjusted(groups: Sequence[ModelGroups]) -> list[ModelGroups]:
    """The same with p-values adjusted for all of them, by Benjamini and Hochberg."""
    p_values = [
        stat.p_value for model in groups for stat in model.stats if stat.p_value is not None
    ]
    left = iter(benjamini_hochberg(p_values))
    return [
        replace(
            model,
            num_adjusted=len(p_values),
            stats=tuple(
                stat if stat.p_value is None else replace(stat, adjusted_p=next(left))
                for stat in model.stats
            ),
        )
        for model in groups
    ]


def check_columns(reader: Reader, runs: Iterable[BoardRun], by: Sequence[str]) -> None:
    """Refuse a column that the data of none of these runs has.

    Raises:
        UnknownNameError: there is one.
        ConfigError: one is of twins, which are compared within each model.
    """
    _refuse_unknown(by, columns_of(reader, runs) if by else [])
    if twins := [name for name in by if is_twins(name)]:
        raise ConfigError(
            f"{twins[0]!r} names no groups of patients in which two models are compared: its "
            "copies are compared with their originals within each model; `medhelm-spark "
            f"leaderboard --show groups --by {twins[0]}` shows both models."
        )


def columns_of(reader: Reader, runs: Iterable[BoardRun]) -> list[str]:
    """The columns by which the results of these runs are grouped."""
    rows = _rows(reader, {run.run_spec.run_spec_id: run for run in runs})
    return sorted({row.group_column for row in rows})


def _refuse_unknown(by: Sequence[str], columns: Sequence[str]) -> None:
    for name in by:
        if name not in columns:
            raise UnknownNameError(
                "group",
                name,
                columns,
                where="the groups of these runs",
                also="`run --by NAME` adds a column of the benchmark's data.",
            )


def _rows(reader: Reader, runs: Mapping[str, BoardRun]) -> list[GroupStat]:
    """The current rows of these runs; none of a lake that is older than groups."""
    sql = output_of("stats_by_group", SUMMARIZE_GROUPS, units=runs)
    return [row for row in reader.rows(sql, GroupStat) if row.run_spec_id in runs]


def _of_run(
    run: BoardRun, column: str, rows: Sequence[GroupStat], sensitivity: Sequence[GroupStat]
) -> ModelGroups:
    spec, name = run.run_spec, rows[0].name
    stats, positives = (
        sorted(each, key=lambda row: group_order(row.group_value)) for each in (rows, sensitivity)
    )
    scale = _scale(run, name)
    overall = run.originals.get(name)
    return ModelGroups(
        run_spec_id=spec.run_spec_id,
        scenario_name=spec.scenario_name,
        display_name=run.cell.display_name if run.cell else spec.scenario_name,
        model_deployment=spec.model_deployment,
        metric=name,
        lower_is_better=scale.lower_is_better if scale else None,
        group_column=column,
        stats=tuple(stats),
        gap=_twin_gap(stats, scale) if is_twins(column) else _gap(stats, scale),
        overall=overall.mean if overall else None,
        opportunity=_gap(positives, SHARE) if name != SENSITIVITY else None,
        is_current=run.is_current,
    )


def _scale(run: BoardRun, name: str) -> MetricInfo | None:
    """Direction and scale of a stat; None of one that is not installed here."""
    if name == run.run_spec.main_metric:
        return run.info
    try:
        return info(name, run.run_spec.metrics)
    except ConfigError:
        return None


def _twin_gap(stats: Iterable[GroupStat], scale: MetricInfo | None) -> Gap | None:
    """The gap between originals and copies: the size of their paired difference."""
    copies = next((stat for stat in stats if stat.group_value == PERTURBED), None)
    if scale is None or scale.lower_is_better is None or copies is None:
        return None
    value, low, high = copies.difference, copies.difference_low, copies.difference_high
    if value is None or low is None or high is None:
        return None
    is_worse = (value > 0) == scale.lower_is_better
    ends = sorted(map(abs, (low, high)))
    return Gap(
        best=ORIGINAL if is_worse else PERTURBED,
        worst=PERTURBED if is_worse else ORIGINAL,
        value=abs(value),
        low=ends[0] if low > 0 or high < 0 else 0.0,
        high=ends[1],
    )


def _gap(stats: Iterable[GroupStat], scale: MetricInfo | None) -> Gap | None:
    """The gap between the groups that are shown; what is not stated is no group of patients."""
    if scale is None or scale.lower_is_better is None:
        return None
    known = {
        stat.group_value: estimate_of(stat) for stat in stats if stat.group_value != NOT_STATED
    }
    low, high = scale.minimum, scale.maximum
    return gap_of(
        {value: estimate for value, estimate in known.items() if estimate is not None},
        lower_is_better=scale.lower_is_better,
        width=None if low is None or high is None else high - low,
    )
