"""Every stat of the runs of a suite or release, as rows: what a board shows one of for each run."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.board.runs import BoardRun
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Mean, Stat, values_of
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import info
from medhelm_spark.metrics.general import TECHNICAL


@dataclass(frozen=True, slots=True, kw_only=True)
class StatRow(Mean):
    """A stat of a run on one split, with the names that a board gives them.

    `perturbation` and `computed_on` are those of `domain.stats.Stat`; `is_main` marks the stat that
    the board shows. `least` and `most` are the lowest and the highest value of an instance, and
    `stddev` is theirs: None of a stat of the whole run.
    """

    run_name: str
    model_deployment: str
    model: str
    scenario_name: str
    display_name: str
    part: str
    metric: str
    lower_is_better: bool | None
    is_main: bool
    split: str
    perturbation: str
    computed_on: str
    stddev: float | None
    least: float | None
    most: float | None
    made_at: datetime | None
    run_spec_id: str


def stat_rows(runs: Iterable[BoardRun]) -> tuple[StatRow, ...]:
    """The stats by benchmark, split, metric and model; those of instances as they are first."""
    rows = (_row(run, stat) for run in runs for stat in run.stats)
    return tuple(sorted(rows, key=_sort_key))


def _row(run: BoardRun, stat: Stat) -> StatRow:
    spec, cell = run.run_spec, run.cell
    return StatRow(
        run_name=spec.name,
        model_deployment=spec.model_deployment,
        model=spec.model,
        scenario_name=cell.scenario_name if cell else spec.scenario_name,
        display_name=cell.display_name if cell else spec.scenario_name,
        part=cell.part if cell else "",
        metric=stat.name,
        lower_is_better=direction_of(spec, stat.name),
        is_main=(stat.name, stat.split) == (spec.main_metric, spec.main_split)
        and not stat.perturbation,
        split=stat.split,
        perturbation=stat.perturbation,
        computed_on=stat.computed_on.value if stat.computed_on else "",
        **{**values_of(stat, Mean), "ci_method": stat.ci_method.value},
        stddev=stat.stddev,
        least=stat.minimum,
        most=stat.maximum,
        made_at=cell.made_at if cell else None,
        run_spec_id=spec.run_spec_id,
    )


def direction_of(spec: RunSpec, name: str) -> bool | None:
    """Whether lower is better; None too for a stat that is not known here."""
    try:
        return info(name, spec.metrics).lower_is_better
    except ConfigError:
        return None


def _sort_key(row: StatRow) -> tuple[object, ...]:
    return (
        row.display_name,
        row.scenario_name,
        in_natural_order(row.part),
        row.split,
        row.perturbation,
        row.computed_on,
        not row.is_main,
        row.metric in TECHNICAL,
        row.metric,
        row.model_deployment,
        row.run_name,
    )
