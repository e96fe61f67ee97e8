"""Rows of `stats_by_group` from counted values, worked out by hand."""

import math
from dataclasses import replace

import pytest
import scipy.stats

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import IntervalMethod, Stat
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.subgroups.group_stats import (
    GroupedScores,
    GroupedValue,
    RunGroups,
    rows_of_scores as grouped_rows,
)
from medhelm_spark.subgroups.of_whole_runs import CountedStat, rows_of_run
from medhelm_spark.subgroups.part_summarizer import MARK
from medhelm_spark.subgroups.render import size_text
from medhelm_spark.subgroups.tables import GroupStat

EXACT = (MetricSpec(name="exact_match"),)
DIAGNOSTIC = (MetricSpec(name="diagnostic_accuracy", args={"labels": "yes|no", "positive": "yes"}),)


def run(minimum: int = 11, metrics: tuple[MetricSpec, ...] = EXACT) -> RunGroups:
    level = AccessLevel.PUBLIC if minimum == 1 else AccessLevel.PRIVATE
    return RunGroups(metrics=metrics, split="test", access_level=level, minimum=minimum)


def values(column: str, group: str, right: int, wrong: int, **more: int) -> list[GroupedValue]:
    named = {"group_column": column, "group_value": group, "units": (), "failures": 0}
    counts = {1.0: right, 0.0: wrong, None: more.get("missing", 0)}
    scored = [
        GroupedValue(
            **{**named, "failures": rows if value is None else 0},
            name="exact_match",
            value=value,
            rows=rows,
            unread=0,
        )
        for value, rows in counts.items()
        if rows
    ]
    return scored + [
        GroupedValue(**named, name=name, value=value, rows=rows, unread=0)
        for name, count in (
            ("answer_unreadable", more.get("unread", 0)),
            ("finish_reason_refusal", more.get("refused", 0)),
        )
        for value, rows in ((1.0, count), (0.0, right + wrong - count))
        if rows
    ]


def made(*groups: list[GroupedValue], minimum: int = 11) -> dict[tuple[str, str], GroupStat]:
    scores = GroupedScores(
        run_spec_id="r",
        is_clustered=False,
        values=tuple(value for each in groups for value in each),
    )
    return {(row.group_column, row.group_value): row for row in grouped_rows(scores, run(minimum))}


def test_a_group_has_its_mean_its_counts_and_its_difference_to_the_rest():
    rows = made(
        values("sex", "f", 36, 4, missing=3, unread=2, refused=1),
        values("sex", "m", 20, 20),
        values("sex", "", 15, 5),
    )
    row = rows["sex", "f"]
    assert (row.count, row.num_unscored, row.num_failures, row.num_unread) == (40, 3, 3, 2)
    assert (row.num_refused, rows["sex", "m"].num_refused) == (1, 0)
    assert (row.num_patients, row.num_clusters) == (43, None)
    assert row.mean == 0.9
    interval = wilson(36, 40)
    assert (row.ci_low, row.ci_high, row.ci_method) == (
        interval.low,
        interval.high,
        IntervalMethod.WILSON,
    )
    assert row.rest_mean == pytest.approx(35 / 60)
    assert row.difference == pytest.approx(0.9 - 35 / 60)
    assert row.difference_low > 0
    assert row.p_value < row.adjusted_p < 0.05


def test_an_answer_that_could_not_be_read_counts_once():
    """It has no value for this reason, and the stat of unread answers is 1."""
    unscored = GroupedValue(
        name="exact_match",
        group_column="sex",
        group_value="f",
        value=None,
        rows=2,
        failures=0,
        unread=2,
        units=(),
    )
    rows = made([*values("sex", "f", 36, 4, unread=2), unscored], values("sex", "m", 20, 20))
    assert rows["sex", "f"].num_unread == 2
    scored = [score for score in values("sex", "f", 36, 4) if score.name == "exact_match"]
    alone = made([*scored, unscored])["sex", "f"]
    assert (alone.num_unread, alone.num_refused) == (2, None)


def test_the_answers_of_one_patient_count_as_one_try():
    once = [
        GroupedValue(
            name="exact_match",
            group_column="sex",
            group_value=group,
            value=value,
            rows=20,
            failures=0,
            unread=0,
            units=tuple(patient for patient in patients for _ in range(2)),
        )
        for group, value, patients in (
            ("f", 1.0, range(10)),
            ("f", 0.0, range(10, 20)),
            ("m", 1.0, range(20, 30)),
            ("m", 0.0, range(30, 40)),
        )
    ]
    scores = GroupedScores(run_spec_id="r", is_clustered=True, values=tuple(once))
    first, second = grouped_rows(scores, run())
    assert (first.count, first.num_patients, first.num_clusters) == (40, 20, 20)
    assert first.ci_method is IntervalMethod.CLUSTERED
    plain = wilson(20, 40)
    assert first.ci_high - first.ci_low > 1.3 * (plain.high - plain.low)
    assert second.difference == 0


def test_patients_are_counted_not_answers():
    """Twenty answers of five patients are too few."""
    few = GroupedValue(
        name="exact_match",
        group_column="site",
        group_value="ward",
        value=1.0,
        rows=20,
        failures=0,
        unread=0,
        units=tuple(i % 5 for i in range(20)),
    )
    others = [
        GroupedValue(
            name="exact_match",
            group_column="site",
            group_value=name,
            value=1.0,
            rows=50,
            failures=0,
            unread=0,
            units=tuple(range(start, start + 50)),
        )
        for name, start in (("north", 100), ("south", 200))
    ]
    scores = GroupedScores(run_spec_id="r", is_clustered=True, values=(few, *others))
    hidden = {row.group_value: row.is_hidden for row in grouped_rows(scores, run())}
    assert hidden == {"north": True, "south": False, "ward": True}


def test_of_a_hidden_group_names_alone_are_stored():
    rows = made(values("sex", "f", 30, 10), values("sex", "m", 3, 1))
    for row in rows.values():
        assert row.is_hidden
        fields = {name: getattr(row, name) for name in GroupStat.__dataclass_fields__}
        numbers = list(fields)[list(fields).index("count") :]
        assert all(fields[name] is None for name in numbers)


def test_public_rows_are_never_hidden():
    rows = made(values("sex", "f", 30, 10), values("sex", "m", 3, 1), minimum=1)
    assert not any(row.is_hidden for row in rows.values())


def stat(
    name: str,
    group: str,
    mean: float,
    denominator: int | None,
    count: int = 40,
    *,
    is_rest: bool = False,
) -> CountedStat:
    return CountedStat(
        run_spec_id="r",
        name=name,
        split=f"{MARK if is_rest else ''}sex{MARK}{group}",
        perturbation="",
        count=count,
        num_unscored=0,
        mean=mean,
        stddev=None,
        minimum=None,
        maximum=None,
        ci_low=mean - 0.05,
        ci_high=mean + 0.05,
        ci_method=IntervalMethod.WILSON,
        denominator=denominator,
        patients=None if is_rest else count,
    )


def share(group: str, hits: int, count: int, *, is_rest: bool = False) -> CountedStat:
    """A sensitivity of so many positive answers of 200, each of a patient of their own."""
    interval = wilson(hits, count)
    counted = stat("sensitivity", group, hits / count, count, 200, is_rest=is_rest)
    return replace(counted, ci_low=interval.low, ci_high=interval.high)


def test_a_sensitivity_has_its_difference_to_the_rest_as_worked_out_by_hand():
    """Newcombe's interval of two independent shares (1998), which scipy has in no version."""
    hits = {"f": (36, 40), "m": (20, 40), "x": (30, 40)}
    stats = []
    for group in hits:
        rest = [counts for other, counts in hits.items() if other != group]
        right, positive = (sum(numbers) for numbers in zip(*rest, strict=True))
        stats += [share(group, *hits[group]), share(group, right, positive, is_rest=True)]
    rows = {row.group_value: row for row in rows_of_run(stats, run(metrics=DIAGNOSTIC))}
    assert rows["m"].rest_mean == 66 / 80
    assert rows["m"].difference == pytest.approx(0.5 - 66 / 80)
    (low, high), (rest_low, rest_high) = (
        scipy.stats.binomtest(k, n).proportion_ci(method="wilson") for k, n in ((20, 40), (66, 80))
    )
    below = math.hypot(0.5 - low, rest_high - 66 / 80)
    above = math.hypot(high - 0.5, 66 / 80 - rest_low)
    ends = (rows["m"].difference_low, rows["m"].difference_high)
    assert ends == pytest.approx((-0.325 - below, -0.325 + above))
    z = 0.325 / above * scipy.stats.norm.ppf(0.975)
    assert rows["m"].p_value == pytest.approx(2 * scipy.stats.norm.sf(z), rel=1e-3)
    expected = scipy.stats.false_discovery_control([rows[group].p_value for group in hits])
    assert [rows[group].adjusted_p for group in hits] == pytest.approx(list(expected))


def test_of_a_hidden_group_neither_its_rest_nor_its_difference_is_stored():
    """Nor does the number of tests show that it was tested: p is adjusted for the shown groups."""
    stats = [
        *(share(group, 30, 40) for group in ("f", "m", "n")),
        share("x", 3, 4),
        *(share(group, 63, 84, is_rest=True) for group in ("f", "m", "n")),
        share("x", 90, 120, is_rest=True),
    ]
    rows = {row.group_value: row for row in rows_of_run(stats, run(metrics=DIAGNOSTIC))}
    assert {group for group, row in rows.items() if row.is_hidden} == {"f", "x"}
    for group in ("f", "x"):
        hidden = rows[group]
        assert (hidden.rest_mean, hidden.difference, hidden.p_value, hidden.adjusted_p) == (
            None,
        ) * 4
    assert rows["m"].rest_mean == 0.75


def test_a_sensitivity_without_a_positive_answer_beside_it_is_not_tested():
    nothing = replace(stat("sensitivity", "m", 0.0, 0), mean=None, ci_low=None, ci_high=None)
    rest = replace(nothing, split=f"{MARK}{nothing.split[:-1]}f", patients=None)
    stats = [share("f", 36, 40), nothing, rest, share("m", 36, 40, is_rest=True)]
    for row in rows_of_run(stats, run(minimum=1, metrics=DIAGNOSTIC)):
        assert row.p_value is row.adjusted_p is row.difference is None


def test_a_sensitivity_over_few_positives_hides_what_it_could_be_computed_from():
    stats = [
        stat("sensitivity", "f", 0.8, 20),
        stat("specificity", "f", 0.8, 20),
        stat("sensitivity", "m", 0.8, 5),
        stat("specificity", "m", 0.8, 35),
    ]
    rows = list(rows_of_run(stats, run(metrics=DIAGNOSTIC)))
    assert {(row.name, row.group_value): row.mean for row in rows} == {
        ("sensitivity", "f"): None,
        ("specificity", "f"): None,
        ("sensitivity", "m"): None,
        ("specificity", "m"): None,
    }


def test_a_predictive_value_over_no_answers_hides_nothing():
    """Whom a model calls positive is no fact of the data."""
    stats = [
        stat(name, group, 0.8, denominator)
        for group in "fm"
        for name, denominator in (("sensitivity", 20), ("specificity", 20), ("npv", 0))
    ]
    assert not any(row.is_hidden for row in rows_of_run(stats, run(metrics=DIAGNOSTIC)))


def test_neither_does_one_of_a_single_class():
    per_class = (MetricSpec(name="diagnostic_accuracy", args={"labels": "yes|no"}),)
    stats = [
        stat(name, group, 0.8, denominator)
        for group in "fm"
        for name, denominator in (("sensitivity[yes]", 20), ("ppv[yes]", 0))
    ]
    assert not any(row.is_hidden for row in rows_of_run(stats, run(metrics=per_class)))


def test_positive_answers_of_one_patient_are_one_patient():
    stats = [
        replace(stat(name, group, 0.8, 20), num_clusters=clusters)
        for group, positives in (("f", 1), ("m", 20))
        for name, clusters in (("sensitivity", positives), ("specificity", 20))
    ]
    assert all(row.is_hidden for row in rows_of_run(stats, run(metrics=DIAGNOSTIC)))
    of_ten_more = [
        replace(each, num_clusters=11) if each.num_clusters == 1 else each for each in stats
    ]
    assert not any(row.is_hidden for row in rows_of_run(of_ten_more, run(metrics=DIAGNOSTIC)))


def test_scored_answers_of_one_patient_are_one_patient():
    stats = [
        replace(stat("cost_weighted_error", group, 0.2, None), num_clusters=clusters)
        for group, clusters in (("f", 1), ("m", 40))
    ]
    costs = {"labels": "yes|no", "positive": "yes", "costs": "yes>no=1"}
    metrics = (MetricSpec(name="diagnostic_accuracy", args=costs),)
    assert all(row.is_hidden for row in rows_of_run(stats, run(metrics=metrics)))


@pytest.mark.parametrize(("positives", "is_hidden"), [(15, True), (50, True), (51, False)])
def test_repeated_answers_to_a_positive_instance_are_one_patient(positives: int, is_hidden: bool):
    """Of five answers to each instance; 51 are of at least 11 instances."""
    stats = [
        replace(stat(name, group, 0.8, denominator, 200), patients=40)
        for group, found in (("f", positives), ("m", 100))
        for name, denominator in (("sensitivity", found), ("specificity", 100))
    ]
    repeated = replace(run(metrics=DIAGNOSTIC), requests_per_instance=5)
    assert {row.is_hidden for row in rows_of_run(stats, repeated)} == {is_hidden}


def test_a_two_by_two_table_is_not_told_by_group():
    """Its cells are of few patients, and it has no better end."""
    counts = stat("confusion[yes>no]", "f", 3.0, None)
    assert isinstance(counts, Stat)
    assert not list(rows_of_run([counts], run(metrics=DIAGNOSTIC)))


def test_a_sensitivity_says_how_many_positive_answers_and_patients_it_rests_on() -> None:
    stat = GroupStat(
        run_spec_id="r",
        name="sensitivity",
        split="test",
        group_column="sex",
        group_value="f",
        access_level=AccessLevel.PUBLIC,
        minimum=1,
        is_hidden=False,
        count=96,
        num_patients=30,
        num_clusters=10,
        denominator=13,
    )
    assert size_text(stat) == "13 of 96 (10 patients)"
    assert size_text(replace(stat, denominator=None, num_clusters=30)) == "96 (30 patients)"
