"""Sentences and verdicts that a clinician reads."""

from dataclasses import replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.subgroups.model_groups import ModelGroups, adjusted
from medhelm_spark.subgroups.pairs import GroupDecision, GroupPair
from medhelm_spark.subgroups.render import groups_report, lead, notes, watched
from medhelm_spark.subgroups.render_pairs import pair_sentences, pairs_table
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.verdicts import GroupVerdict

BLANK = GroupStat(
    run_spec_id="r",
    name="sensitivity",
    split="test",
    group_column="language",
    group_value="",
    access_level=AccessLevel.PUBLIC,
    minimum=1,
    is_hidden=False,
)


def stat(group: str, mean: float | None, rest: float | None, p: float | None) -> GroupStat:
    """A sensitivity over 20 of 90 answers."""
    return replace(
        BLANK,
        group_value=group,
        count=90,
        num_patients=90,
        denominator=20 if mean is not None else 0,
        mean=mean,
        ci_low=None if mean is None else mean - 0.1,
        ci_high=None if mean is None else mean + 0.1,
        rest_mean=rest,
        difference=None if p is None or mean is None or rest is None else mean - rest,
        p_value=p,
    )


def of_model(name: str, *stats: GroupStat) -> ModelGroups:
    return ModelGroups(
        run_spec_id=name,
        scenario_name="letters",
        display_name="Letters",
        model_deployment=name,
        metric="sensitivity",
        lower_is_better=False,
        group_column=stats[0].group_column,
        stats=stats,
        gap=None,
        overall=0.8,
    )


EQUAL = (stat("Dutch", 0.8, 0.75, 0.6), stat("Turkish", 0.75, 0.8, 0.6))
WORSE = (stat("Dutch", 0.95, 0.5, 0.001), stat("Turkish", 0.5, 0.95, 0.001))


def test_one_line_names_the_groups_of_all_columns_and_models_that_are_worse():
    sites = tuple(replace(each, group_column="site") for each in EQUAL)
    groups = adjusted([of_model("a", *EQUAL), of_model("b", *WORSE), of_model("b", *sites)])
    first, second = watched(groups)
    assert first == (
        "Watch: language Turkish (b). Of 4 groups tested with 2 models, no other group is shown "
        "to be worse."
    )
    assert second == (
        "b missed 10 of 20 for language Turkish, 1 of 20 for Dutch (Letters; p adjusted 0.003)."
    )
    assert list(lead(groups[1:2])) == ["b is worse for language Turkish."]


def test_p_is_adjusted_for_all_models_so_that_a_line_over_all_of_them_has_one_level():
    unequal = (stat("Dutch", 0.95, 0.5, 0.03), stat("Turkish", 0.5, 0.95, 0.03))
    assert adjusted([of_model("b", *unequal)])[0].worse
    both = adjusted([of_model("a", *EQUAL), of_model("b", *unequal)])
    assert [row.adjusted_p for row in both[1].stats] == [0.06, 0.06]
    assert not both[1].worse
    assert both[1].num_adjusted == 4
    first, second = watched(both)
    assert first == "Of 2 groups tested with 2 models, no model is shown to be worse for any."
    assert second.startswith("The largest difference, which is not shown: b missed 10 of 20 for ")


def test_a_group_that_is_not_tested_is_said_not_to_be():
    alone = stat("Polish", None, 0.8, None)
    groups = adjusted([of_model("a", *EQUAL, alone)])
    assert "Not tested, no answer counts in it: language Polish (a)." in list(watched(groups))
    assert list(lead(groups)) == [
        "a: none of the 2 groups of language that were tested, of 3, is shown to be worse."
    ]
    cells = groups_report(groups).tables[0].rows[2]
    assert cells[4] == "not tested: no answer counts in it"
    nothing = adjusted([of_model("a", alone)])
    assert next(iter(watched(nothing))) == "No group was tested."
    assert list(lead(nothing)) == ["a: no group of language was tested."]


def test_a_hidden_group_is_named_as_not_tested_without_a_number():
    hidden = replace(BLANK, group_value="Polish", minimum=11, is_hidden=True)
    groups = adjusted([of_model("a", *EQUAL, hidden)])
    assert "Not tested, hidden: language Polish (a)." in list(watched(groups))
    assert groups[0].verdict(hidden) is GroupVerdict.HIDDEN
    assert any("fewer than 11 patients" in line for line in notes(groups))
    public = adjusted([of_model("a", *EQUAL)])
    assert any("public: no group is hidden" in line for line in notes(public))


def pair(**more: object) -> GroupPair:
    group_pair = GroupPair(
        scenario_name="letters",
        display_name="Letters",
        main_metric="sensitivity",
        lower_is_better=False,
        first="new",
        second="today",
        group_column="age",
        group_value="under 40",
        n=19,
        first_mean=0.842,
        second_mean=0.947,
        in_group=-0.105,
        in_group_low=-0.254,
        in_group_high=0.044,
        in_group_adjusted_p=0.2,
        difference=-0.3,
        adjusted_p=0.01,
    )
    return replace(group_pair, **more)


def test_a_smaller_advantage_is_not_said_to_be_a_worse_score():
    group_pair = pair()
    assert (group_pair.verdict, group_pair.decision) == (
        GroupVerdict.NOT_SHOWN,
        GroupDecision.SMALLER,
    )
    assert list(pair_sentences([group_pair])) == [
        "new is not shown to be worse than today (Letters: sensitivity) for any of 1 group tested.",
        "For age under 40, new scores 0.842 and today 0.947, n 19: no difference is shown "
        "(p adjusted 0.200). Its advantage over today is smaller there than among all others: "
        "shown (p adjusted 0.010).",
    ]
    table = pairs_table([group_pair])
    assert table.title == "Letters: sensitivity, new less today"
    assert dict(zip(table.header, table.rows[0], strict=True))["In this group"] == "not shown"


def test_a_model_that_is_worse_in_a_group_is_named_though_it_is_so_elsewhere():
    group_pair = pair(in_group_adjusted_p=0.01, adjusted_p=0.9)
    first, second = pair_sentences([group_pair])
    assert first == "new is worse than today (Letters: sensitivity) for: age under 40."
    assert "worse is shown (p adjusted 0.010)" in second
    assert "not shown to be another there" in second


def test_several_models_and_benchmarks_stand_in_the_rows_of_a_table():
    table = pairs_table([pair(), pair(second="other", display_name="Notes")])
    assert table.header[:4] == ["Benchmark", "First", "Second", "Group"]
    assert table.title == ""
