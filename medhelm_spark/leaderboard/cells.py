"""A run's cell of the board, from its plan and its stats."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stats import MetricInfo, Stat
from medhelm_spark.errors import ConfigError
from medhelm_spark.leaderboard.configurations import configuration_of, part_name
from medhelm_spark.metrics import info, metrics_behind
from medhelm_spark.statistics.cell import BoardCell

JURY_COVERAGE = "jury_coverage"
ANSWER_UNREADABLE = "answer_unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """When a run's stats were made, and whether they still are those of its scores."""

    made_at: datetime
    is_current: bool


def cell_of(
    row: SuiteRun,
    stats: Iterable[Stat],
    scenario: ScenarioVersion | None,
    written: Written,
) -> BoardCell | None:
    """The cell of a run; None where its main metric gave nothing on the main split.

    `stats` are all of the run's; those over perturbed copies and other prompts do not count.
    """
    spec = row.run_spec
    plain = {(stat.name, stat.split): stat for stat in stats if not stat.perturbation}
    main = plain.get((spec.main_metric, spec.main_split))
    if main is None:
        return None
    coverage = plain.get((JURY_COVERAGE, spec.main_split))
    unreadable = plain.get((ANSWER_UNREADABLE, spec.main_split))
    judged = _is_judged(spec)
    return replace(
        _measured(row, main, scenario),
        demo_judge=judged and row.is_jury_validated is False,
        jury_coverage=coverage.mean if judged and coverage else None,
        unreadable=unreadable.mean if unreadable else None,
        is_primary=bool(row.is_primary),
        is_listed=bool(row.is_listed),
        margin=row.margin,
        part=part_name(spec.scenario_name, row.part_of) if row.part_of else "",
        is_disjoint=bool(row.is_disjoint),
        comparability=main.comparability,
        configuration=configuration_of(spec),
        made_at=written.made_at,
        is_current=written.is_current,
        run_spec_ids=(row.run_spec_id,),
    )


def _measured(row: SuiteRun, main: Stat, scenario: ScenarioVersion | None) -> BoardCell:
    """Whose number it is, what it is of, and the number."""
    spec, scale = row.run_spec, scale_of(row.run_spec)
    return BoardCell(
        model=spec.model,
        model_deployment=spec.model_deployment,
        locality=row.locality,
        scenario_name=row.part_of or spec.scenario_name,
        display_name=scenario.display_name if scenario else spec.scenario_name,
        category=scenario.category if scenario else "",
        subcategory=scenario.subcategory if scenario else "",
        access_level=spec.access_level,
        main_metric=spec.main_metric,
        lower_is_better=scale.lower_is_better if scale else None,
        minimum=scale.minimum if scale else None,
        maximum=scale.maximum if scale else None,
        split=spec.main_split,
        count=main.count,
        num_unscored=main.num_unscored,
        num_model_failures=main.num_model_failures or 0,
        num_unscorable=main.num_unscorable or 0,
        mean=main.mean,
        ci_low=main.ci_low,
        ci_high=main.ci_high,
        ci_method=main.ci_method.value,
    )


def scale_of(spec: RunSpec) -> MetricInfo | None:
    """How the main metric is read; None for one that this installation does not know."""
    try:
        return info(spec.main_metric, spec.metrics)
    except ConfigError:
        return None


def _is_judged(spec: RunSpec) -> bool:
    """Whether the main metric rests on a jury's verdicts; a metric unknown here counts as such."""
    try:
        owners = metrics_behind(spec.main_metric, spec.metrics)
    except ConfigError:
        owners = []
    return not owners or any("verdicts" in metric.needs for metric in owners)
