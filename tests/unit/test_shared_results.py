"""Which numbers of gated and private data a share hides."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunSpec, SuiteRun
from medhelm_spark.domain.stats import IntervalMethod, Stat
from medhelm_spark.sharing.keys import ShareKeys
from medhelm_spark.sharing.projection import results_of

SPEC = RunSpec(
    run_spec_id="r",
    name="letters:model=team/new",
    scenario_name="letters",
    data_version="v",
    model="team/new",
    model_deployment="team/new",
    deployment_fingerprint="f",
    adapter_spec=AdapterSpec(max_tokens=16, num_trials=4),
    metrics=(
        MetricSpec(name="exact_match"),
        MetricSpec(name="diagnostic_accuracy", args={"labels": "yes|no", "positive": "yes"}),
    ),
    annotators=(),
    groups=(),
    access_level=AccessLevel.PRIVATE,
    main_metric="exact_match",
    main_split="test",
)


def stat(name: str, count: int) -> Stat:
    return Stat(
        run_spec_id="r",
        name=name,
        split="test",
        perturbation="",
        count=count,
        num_unscored=200 - count,
        mean=0.8,
        stddev=None,
        minimum=None,
        maximum=None,
        ci_low=0.7,
        ci_high=0.9,
        ci_method=IntervalMethod.WILSON,
    )


@pytest.mark.parametrize(("further", "is_hidden"), [(12, True), (40, True), (44, False)])
def test_further_answers_of_few_instances_hide_a_stat_of_the_whole_run(
    further: int, is_hidden: bool
) -> None:
    """Of four answers to each instance: 40 may be of ten, 44 are of at least eleven."""
    planned = SuiteRun(
        suite="s",
        name=SPEC.name,
        run_spec_id="r",
        planned_at=datetime(2026, 3, 1, tzinfo=UTC),
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=SPEC,
    )
    run = BoardRun(planned=planned, cell=None, info=None, is_summarized=True, is_current=True)
    of_all = replace(run, stats=(stat("exact_match", 200), stat("accuracy", 200 - further)))
    table, num_hidden = results_of([of_all], ShareKeys(), 11)
    hidden = dict(zip(table["metric"].to_pylist(), table["is_hidden"].to_pylist(), strict=True))
    assert hidden == {"exact_match": False, "accuracy": is_hidden}
    assert num_hidden == is_hidden
