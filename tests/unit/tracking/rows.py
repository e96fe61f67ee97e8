"""Small synthetic runs, suites and stats."""

from dataclasses import replace
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunSpec
from medhelm_spark.domain.stats import IntervalMethod, Stat
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.tracking.experiment import TrackedRun, TrackedSuite, shown_name

MODEL = "acme/small"


def spec(scenario: str = "qa", **changes: Any) -> RunSpec:
    run_spec = RunSpec(
        run_spec_id="",
        name=f"{scenario}:model=acme_small",
        scenario_name=scenario,
        data_version="v1",
        model=MODEL,
        model_deployment=MODEL,
        deployment_fingerprint="f1",
        adapter_spec=AdapterSpec(instructions="Answer yes or no.", stop_sequences=("\n",)),
        metrics=(MetricSpec(name="exact_match"),),
        annotators=(),
        groups=(scenario,),
        access_level="public",
        main_metric="exact_match",
        main_split="test",
    )
    run_spec = replace(run_spec, **changes)
    return replace(run_spec, run_spec_id=content_id(run_spec))


def stat(name: str = "exact_match", mean: float | None = 0.5, **changes: Any) -> Stat:
    default = Stat(
        run_spec_id="",
        name=name,
        split="test",
        perturbation="",
        count=0 if mean is None else 10,
        num_unscored=10 if mean is None else 2,
        mean=mean,
        stddev=None if mean is None else 0.1,
        minimum=mean,
        maximum=mean,
        ci_low=None if mean is None else mean - 0.25,
        ci_high=None if mean is None else mean + 0.25,
        ci_method=IntervalMethod.NONE if mean is None else IntervalMethod.WILSON,
    )
    return replace(default, **changes)


def run(scenario: str = "qa", *stats: Stat, **changes: Any) -> TrackedRun:
    return TrackedRun(run_spec=spec(scenario, **changes), stats=stats or (stat(),))


def cell(scenario: str, number: Stat) -> BoardCell:
    """What the board shows of a run with this number."""
    return BoardCell(
        model=MODEL,
        model_deployment=MODEL,
        locality="local",
        scenario_name=scenario,
        display_name=scenario,
        category="",
        subcategory="",
        access_level=AccessLevel.PUBLIC,
        main_metric=number.name,
        lower_is_better=False,
        split=number.split,
        count=number.count,
        num_unscored=number.num_unscored,
        mean=number.mean,
        ci_low=number.ci_low,
        ci_high=number.ci_high,
    )


def suite(*runs: TrackedRun, **changes: Any) -> TrackedSuite:
    """A model's runs, whose first stats the board shows."""
    tracked_runs = runs or (run(),)
    cells = {
        shown_name(one.run_spec.scenario_name, one.variant): cell(
            one.run_spec.scenario_name, one.stats[0]
        )
        for one in tracked_runs
    }
    tracked = TrackedSuite(suite="s1", model_deployment=MODEL, runs=tracked_runs, cells=cells)
    return replace(tracked, **changes)
