"""Rows of twins from counted pairs of values, worked out by hand."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MetricSpec, PerturbationSpec
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.mcnemar import mcnemar_mid_p
from medhelm_spark.subgroups.group_answers import GroupedValue
from medhelm_spark.subgroups.group_stats import GroupedScores, RunGroups, rows_of_scores
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twins import TwinValue, twins_of
from tests.unit.board.planted import SCENARIOS, run_spec

COLUMN = "perturbation:gender"


def pair(
    original: float | None,
    perturbed: float | None,
    rows: int,
    *,
    has_copy: bool = True,
    units: tuple[int, ...] = (),
    name: str = "exact_match",
) -> TwinValue:
    return TwinValue(
        name=name,
        twin="gender",
        has_copy=has_copy,
        original=original,
        perturbed=perturbed,
        rows=rows,
        original_failures=0,
        perturbed_failures=rows if has_copy and perturbed is None else 0,
        original_unread=0,
        perturbed_unread=0,
        units=units,
    )


def made(
    *twins: TwinValue, minimum: int = 1, values: tuple[GroupedValue, ...] = ()
) -> dict[tuple[str, str], GroupStat]:
    level = AccessLevel.PUBLIC if minimum == 1 else AccessLevel.PRIVATE
    run = RunGroups(
        metrics=(MetricSpec(name="exact_match"),), split="test", access_level=level, minimum=minimum
    )
    is_clustered = any(twin.units for twin in twins)
    row = GroupedScores(run_spec_id="r", is_clustered=is_clustered, values=values, twins=twins)
    return {(row.group_column, row.group_value): row for row in rows_of_scores(row, run)}


PAIRS = (pair(1.0, 1.0, 60), pair(1.0, 0.0, 20), pair(0.0, 1.0, 5), pair(0.0, 0.0, 15))


def test_means_are_of_each_side_and_the_difference_is_of_the_pairs() -> None:
    rows = made(*PAIRS, pair(1.0, None, 4), pair(0.0, None, 9, has_copy=False))
    original, perturbed = rows[COLUMN, "original"], rows[COLUMN, "perturbed"]
    assert (original.count, original.num_unscored, original.mean) == (104, 0, 84 / 104)
    assert (perturbed.count, perturbed.num_unscored, perturbed.mean) == (100, 4, 0.65)
    assert perturbed.num_failures == 4
    assert (perturbed.ci_low, perturbed.ci_high) == (wilson(65, 100).low, wilson(65, 100).high)
    assert (perturbed.rest_mean, original.difference) == (84 / 104, None)
    assert perturbed.difference == pytest.approx(-0.15)
    assert perturbed.p_value == mcnemar_mid_p(5, 20)
    assert perturbed.difference_high is not None
    assert perturbed.difference_high < 0


def test_a_p_value_is_adjusted_beside_those_of_groups() -> None:
    named = {"name": "exact_match", "group_column": "sex", "failures": 0, "unread": 0, "units": ()}
    groups = tuple(
        GroupedValue(group_value=sex, value=value, rows=50, **named)
        for sex in "fm"
        for value in (0.0, 1.0)
    )
    alone = made(*PAIRS)[COLUMN, "perturbed"]
    beside = made(*PAIRS, values=groups)[COLUMN, "perturbed"]
    assert alone.adjusted_p == alone.p_value
    assert beside.adjusted_p == pytest.approx(3 * (beside.p_value or 0))


@pytest.mark.parametrize(
    ("with_copy", "without", "is_hidden"),
    [(11, 0, False), (10, 0, True), (40, 10, True), (40, 11, False)],
    ids=["enough", "few copies", "few without a copy", "enough of both"],
)
def test_few_patients_on_either_side_of_the_total_hide_both_rows(
    with_copy: int, without: int, is_hidden: bool
) -> None:
    alone = [pair(0.0, None, without, has_copy=False)] if without else []
    rows = made(pair(1.0, 0.0, with_copy), *alone, minimum=11)
    assert {row.is_hidden for row in rows.values()} == {is_hidden}
    if is_hidden:
        assert {row.mean for row in rows.values()} == {None}
        assert {row.difference for row in rows.values()} == {None}


def test_patients_with_several_questions_count_once() -> None:
    """Forty pairs of four patients: hidden, and where shown less sure than forty patients."""
    units = tuple(n // 10 for n in range(40))
    few = (pair(1.0, 0.0, 20, units=units[:20]), pair(1.0, 1.0, 20, units=units[20:]))
    assert made(*few, minimum=11)[COLUMN, "perturbed"].is_hidden
    clustered = made(*few)[COLUMN, "perturbed"]
    single = made(pair(1.0, 0.0, 20), pair(1.0, 1.0, 20))[COLUMN, "perturbed"]
    assert (clustered.num_patients, clustered.num_clusters) == (4, 4)
    assert (clustered.p_value or 0) > 0.05 > (single.p_value or 1)


def test_originals_alone_are_no_twins() -> None:
    assert made(pair(1.0, None, 30, has_copy=False)) == {}


def test_unread_answers_and_refusals_are_counted_by_side() -> None:
    counts = (
        pair(0.0, 1.0, 7, name="finish_reason_refusal"),
        pair(0.0, 0.0, 93, name="finish_reason_refusal"),
    )
    rows = made(*PAIRS, *counts)
    assert rows[COLUMN, "original"].num_refused == 0
    assert rows[COLUMN, "perturbed"].num_refused == 7


def test_perturbations_that_change_who_the_patient_is_make_twins() -> None:
    names = ("gender", "misspellings", "of_a_plug_in_that_is_not_loaded")
    perturbations = tuple(PerturbationSpec(name=name) for name in names)
    assert twins_of(
        replace(run_spec("r", "vllm/a", next(iter(SCENARIOS))), perturbations=perturbations)
    ) == ("gender",)
