"""Counted rows of per-instance values in, stats of whole runs out: without Spark."""

import random
from dataclasses import replace

import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import ComputedOn, IntervalMethod
from medhelm_spark.stages.summarize.run_level import versions
from medhelm_spark.stages.summarize.run_summarizer import Observed, RunSummarizer
from medhelm_spark.statistics.intervals import wilson

METRICS = {
    "r": (
        MetricSpec(name="exact_match"),
        MetricSpec(name="classification", args={"labels": "yes|no"}),
        MetricSpec(name="calibration"),
    )
}


def observed(index, *counted, split="test", perturbation=""):
    return [
        Observed(
            run_spec_id="r",
            place=index,
            split=split,
            perturbation=perturbation,
            values=values,
            rows=rows,
        )
        for values, rows in counted
    ]


def stats(rows):
    made = list(RunSummarizer(METRICS)(rows))
    return {(stat.name, stat.split, stat.perturbation): stat for stat in made}


def test_each_group_gets_every_stat_of_its_metric():
    yes, no = 1.0, 2.0
    rows = [
        *observed(0, ((yes, yes), 3), ((no, yes), 1)),
        *observed(0, ((no, no), 2), split="valid"),
        *observed(0, ((yes, no), 1), perturbation="typos"),
        *observed(1, ((0.9, 1.0), 3), ((0.9, 0.0), 1)),
    ]
    found = stats(rows)
    assert len(found) == 3 * (3 + 2) + 6
    assert found["classification_f1[yes]", "test", ""].mean == pytest.approx(6 / 7)
    assert found["classification_f1[no]", "test", ""].mean == 0.0
    assert found["classification_f1[yes]", "valid", ""].mean is None
    # yes: tp 3, fp 1; no: fn 1
    main = found["classification_macro_f1", "test", ""]
    assert main.mean == pytest.approx((6 / 7 + 0) / 2)
    assert (main.count, main.num_unscored) == (4, 0)
    assert main.ci_method is IntervalMethod.MOVER
    assert main.ci_low <= main.mean <= main.ci_high
    assert found["classification_micro_f1", "valid", ""].mean == 1.0
    assert found["classification_micro_f1", "test", "typos"].mean == 0.0
    error = found["ece_1_bin", "test", ""]
    assert error.mean == pytest.approx(0.15)
    assert (error.ci_low, error.ci_method) == (None, IntervalMethod.NONE)


def test_an_instance_without_one_of_the_values_is_counted_and_left_out():
    rows = observed(1, ((0.8, 1.0), 2), ((None, 1.0), 5), ((0.3, None), 1))
    found = stats(rows)["brier_score", "test", ""]
    assert (found.count, found.num_unscored) == (2, 6)
    assert found.mean == pytest.approx(0.04)


def test_no_value_at_all_is_not_zero():
    found = stats(observed(1, ((None, None), 4)))
    assert {stat.mean for stat in found.values()} == {None}
    assert {(stat.count, stat.num_unscored) for stat in found.values()} == {(0, 4)}


def test_the_order_of_the_rows_does_not_matter():
    rows = observed(1, *(((index / 60, float(index % 2)), 1 + index % 3) for index in range(60)))
    shuffled = random.Random(1).sample(rows, len(rows))
    assert stats(shuffled) == stats(rows)


def test_only_run_level_metrics_have_a_say_in_the_fingerprint():
    assert len(versions(METRICS["r"])) == 2
    assert versions(METRICS["r"][:1]) == []


URGENT = {"labels": "urgent|routine", "positive": "urgent"}
YES = {"labels": "yes|no"}
LETTERS = [((1.0, 1.0), 10), ((1.0, 2.0), 5), ((2.0, 1.0), 9), ((2.0, 2.0), 276)]
"""300 letters, 15 of them urgent: right and predicted class by number of letters."""


def of_letters(name, params, letters, units=None, trials=1, *, turned=False):
    """The stats of one metric; `units` names the cluster of each letter, in the order of rows.

    `turned`: the rows, and the units in each, come in the opposite order.
    """
    starts = [sum(rows for _, rows in letters[:index]) for index in range(len(letters))]
    rows = [
        Observed(
            run_spec_id="r",
            place=0,
            split="test",
            perturbation="",
            values=values,
            rows=number,
            is_clustered=units is not None and trials == 1,
            units=tuple(units[start : start + number]) if units else (),
        )
        for (values, number), start in zip(letters, starts, strict=True)
    ]
    metrics = {"r": (MetricSpec(name=name, args=params),)}
    if turned:
        rows = [replace(row, units=row.units[::-1]) for row in reversed(rows)]
    made = RunSummarizer(metrics, trials={"r": trials})(rows)
    return {stat.name: stat for stat in made}


def test_the_f1_of_a_rare_class_rests_on_the_letters_that_concern_it():
    stats = of_letters(
        "classification",
        {"labels": "urgent|routine"},
        [
            ((1.0, 1.0), 10),
            ((1.0, 2.0), 5),
            ((2.0, 1.0), 9),
            ((2.0, 2.0), 276),
        ],
    )
    rare = stats["classification_f1[urgent]"]
    assert rare.mean == pytest.approx(20 / 34)
    # Wilson's interval of 10 of 24, J, as 2 J / (1 + J).
    assert (rare.ci_low, rare.ci_high) == pytest.approx((0.393, 0.759), abs=5e-4)
    macro = stats["classification_macro_f1"]
    assert macro.ci_high - macro.ci_low > 0.45 * (rare.ci_high - rare.ci_low)


def test_letters_that_are_clusters_of_their_own_change_nothing():
    letters = [((1.0, 1.0), 10), ((1.0, 2.0), 2), ((2.0, 2.0), 288)]
    alone = of_letters("diagnostic_accuracy", URGENT, letters, range(300))
    plain = of_letters("diagnostic_accuracy", URGENT, letters)
    for name, stat in plain.items():
        assert (stat.ci_low, stat.ci_high) == (alone[name].ci_low, alone[name].ci_high), name
    assert (plain["sensitivity"].ci_low, plain["sensitivity"].ci_high) == pytest.approx(
        (0.552, 0.953), abs=5e-4
    )
    assert (alone["accuracy"].num_clusters, plain["accuracy"].num_clusters) == (300, None)
    assert alone["sensitivity"].num_clusters == alone["sensitivity"].denominator == 12


def test_a_share_of_clustered_answers_counts_the_clusters_that_have_such_answers():
    by_four = [index // 4 for index in range(300)]
    clustered = of_letters("diagnostic_accuracy", URGENT, LETTERS, by_four)["sensitivity"]
    alone = of_letters("diagnostic_accuracy", URGENT, LETTERS)["sensitivity"]
    assert clustered.ci_method is IntervalMethod.CLUSTERED
    assert clustered.num_clusters == 4
    # 15 urgent letters of four clusters, all alike within a cluster but one.
    assert clustered.ci_high - clustered.ci_low > 1.3 * (alone.ci_high - alone.ci_low)


def test_several_answers_to_an_instance_are_a_cluster():
    costs = {**URGENT, "costs": "urgent>routine=10"}
    once = of_letters("diagnostic_accuracy", costs, LETTERS)
    twice = [(values, 2 * rows) for values, rows in LETTERS]
    same = of_letters("diagnostic_accuracy", costs, twice, [n // 2 for n in range(600)], trials=2)
    for name in ("sensitivity", "cost_weighted_error"):
        widths = [stat.ci_high - stat.ci_low for stat in (once[name], same[name])]
        assert widths[1] == pytest.approx(widths[0], rel=0.15), name
        assert same[name].num_clusters is None


def test_a_value_that_is_no_finite_number_is_absent():
    counted = ((0.9, 1.0), 3), ((float("nan"), 1.0), 2), ((0.9, float("-inf")), 1)
    found = stats(observed(1, *counted))
    error = found["ece_1_bin", "test", ""]
    assert (error.count, error.num_unscored) == (3, 3)
    assert error.mean == pytest.approx(0.1)


def test_a_share_says_how_many_answers_it_rests_on():
    stats = of_letters("diagnostic_accuracy", URGENT, LETTERS)
    denominators = {name: stat.denominator for name, stat in stats.items()}
    assert {stat.count for stat in stats.values()} == {300}
    assert (denominators["sensitivity"], denominators["ppv"]) == (15, 19)
    assert (denominators["accuracy"], denominators["balanced_accuracy"]) == (300, None)


def test_a_share_of_many_distinct_rows_keeps_its_interval(monkeypatch):
    monkeypatch.setattr("medhelm_spark.stages.summarize.run_summarizer.MAX_ROWS", 3)
    stats = of_letters("diagnostic_accuracy", {**URGENT, "costs": "urgent>routine=10"}, LETTERS)
    assert stats["sensitivity"].ci_method is IntervalMethod.WILSON
    assert stats["cost_weighted_error"].ci_method is IntervalMethod.NONE


@pytest.mark.parametrize("name", ["diagnostic_accuracy", "classification"])
def test_the_order_in_which_spark_brings_rows_changes_no_bit(name):
    by_seven = [index % 7 for index in range(300)]
    forward, backward = (
        of_letters(
            name,
            URGENT if name != "classification" else {"labels": "urgent|routine"},
            LETTERS,
            by_seven,
            turned=turned,
        )
        for turned in (False, True)
    )
    assert forward == backward


def test_what_an_error_costs_changes_no_other_stat():
    by_seven = [index % 7 for index in range(300)]
    cheap, dear = (
        of_letters("diagnostic_accuracy", {**URGENT, "costs": costs}, LETTERS, by_seven)
        for costs in ("urgent>routine=1", "urgent>routine=10")
    )
    assert cheap.pop("cost_weighted_error") != dear.pop("cost_weighted_error")
    assert cheap == dear


def of_copies(name, params, *rows):
    """Stats by name and what they are computed on; of (computed on, whole, values, number)."""
    observed = [
        Observed(
            run_spec_id="r",
            place=0,
            split="test",
            perturbation="robustness",
            computed_on=computed_on,
            whole=whole,
            values=values,
            rows=number,
        )
        for computed_on, whole, values, number in rows
    ]
    made = RunSummarizer({"r": (MetricSpec(name=name, args=params),)})(observed)
    return {(stat.name, stat.computed_on): stat for stat in made}


URGENT_YES, URGENT_NO, ROUTINE_YES, ROUTINE_NO = (1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0)
ROUTINE_NEITHER = (2.0, 0.0)


def test_the_worst_of_a_whole_run_takes_a_wrong_answer_where_there_is_one():
    found = of_copies(
        "diagnostic_accuracy",
        URGENT,
        ("worst", "", URGENT_YES, 6),  # alike on original and copies
        ("worst", "", (*URGENT_YES, *URGENT_NO), 2),
        ("worst", "", (*ROUTINE_NEITHER, *ROUTINE_YES, *ROUTINE_NO), 3),
        ("worst", "", ROUTINE_NO, 9),
        ("worst", "", (*URGENT_YES, 1.0, None), 1),
    )
    sensitivity = found["sensitivity", ComputedOn.WORST]
    assert (sensitivity.mean, sensitivity.count, sensitivity.num_unscored) == (6 / 8, 20, 1)
    assert sensitivity.denominator == 8
    assert found["specificity", ComputedOn.WORST].mean == 9 / 12
    assert found["ppv", ComputedOn.WORST].mean == 6 / 9, "a false alarm, not the abstention"
    assert not [name for name, _ in found if name.startswith("confusion")]


def test_the_invariance_of_a_whole_run_is_the_share_of_instances_that_are_read_alike():
    found = of_copies(
        "diagnostic_accuracy",
        URGENT,
        ("invariance", "", URGENT_YES, 3),
        ("invariance", "", (*ROUTINE_YES, *ROUTINE_NO), 1),
        ("invariance", "", (2.0, None), 2),
    )
    same = found["ppv", ComputedOn.INVARIANCE]
    assert (same.mean, same.count, same.num_unscored) == (0.75, 4, 2)
    expected = wilson(3, 4)
    assert (same.ci_low, same.ci_high) == (expected.low, expected.high)
    nothing = of_copies("diagnostic_accuracy", URGENT, ("invariance", "", (None, None), 2))
    empty = nothing["ppv", ComputedOn.INVARIANCE]
    assert (empty.mean, empty.count, empty.num_unscored) == (None, 0, 2)


def test_prompts_have_the_mean_the_worst_and_the_spread_of_a_whole_runs_value():
    found = of_copies(
        "diagnostic_accuracy",
        {**URGENT, "costs": "urgent>routine=10"},
        ("mean", "", URGENT_YES, 3),
        ("mean", "", URGENT_NO, 1),
        ("mean", "prompt.terse", URGENT_YES, 1),
        ("mean", "prompt.terse", URGENT_NO, 3),
    )
    kinds = (ComputedOn.MEAN, ComputedOn.WORST, ComputedOn.SPREAD)
    assert [found["sensitivity", kind].mean for kind in kinds] == [0.5, 0.25, 0.5]
    assert [found["cost_weighted_error", kind].mean for kind in kinds] == [5.0, 7.5, 5.0]
    assert {stat.count for stat in found.values()} == {2}
    assert {stat.ci_method for stat in found.values()} == {IntervalMethod.NONE}
    assert ("specificity", ComputedOn.MEAN) not in found, "there is no routine letter"


def test_a_metric_that_says_of_no_answer_that_it_is_wrong_has_no_worst():
    rows = [("worst", "", (0.9, 1.0, 0.8, 0.0), 3), ("original", "", (0.9, 1.0), 3)]
    found = of_copies("calibration", {}, *rows)
    assert {computed_on for _, computed_on in found} == {ComputedOn.ORIGINAL}
    assert found["brier_score", ComputedOn.ORIGINAL].mean == pytest.approx(0.01)
