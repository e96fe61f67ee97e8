"""Which means are marked as scored by a judge without evidence: imported juries too."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from medhelm_spark.domain.helm_results import STORED, STORED_STAT, SUFFIX
from medhelm_spark.domain.run import MetricSpec, RunSpec, SuiteRun
from medhelm_spark.leaderboard.cells import is_demo_judged
from tests.unit.stages.test_read_answers import SPEC


def run_of(metric: MetricSpec, main: str, **more) -> SuiteRun:
    spec: RunSpec = replace(SPEC, metrics=(metric,), main_metric=main)
    facts = {"locality": "unknown", "engine": "imported", "is_jury_validated": None, **more}
    return SuiteRun(
        suite="s",
        name=spec.name,
        run_spec_id="r",
        planned_at=datetime.now(UTC),
        run_spec=spec,
        **facts,
    )


@pytest.mark.parametrize(("args", "marked"), [({"jury": "f00ba100"}, True), ({}, False)])
def test_a_value_that_medhelms_jury_gave(args: dict[str, str], marked: bool) -> None:
    metric = MetricSpec(name=STORED, args={STORED_STAT: "aci_bench_accuracy", **args})
    run = run_of(metric, f"aci_bench_accuracy{SUFFIX}", as_imported="{}")
    assert is_demo_judged(run) is marked


def test_imported_verdicts_scored_here() -> None:
    jury = MetricSpec(name="jury_score")
    assert is_demo_judged(run_of(jury, "jury_score", as_imported="{}"))
    assert not is_demo_judged(run_of(MetricSpec(name="exact_match"), "exact_match"))


def test_ones_own_judges() -> None:
    jury = MetricSpec(name="jury_score")
    assert is_demo_judged(run_of(jury, "jury_score", is_jury_validated=False))
    assert not is_demo_judged(run_of(jury, "jury_score", is_jury_validated=True))
