"""The table of robustness: which stat is in which cell."""

from dataclasses import replace

from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Stat
from medhelm_spark.statistics.robustness import RobustnessRow, ordered, with_numbers

RUN = RobustnessRow(
    model_deployment="acme/small",
    scenario_name="triage",
    display_name="Triage",
    main_metric="exact_match",
    lower_is_better=False,
)


def stat(perturbation: str, computed_on: str, mean: float | None, count: int = 3) -> Stat:
    return Stat(
        run_spec_id="r",
        name="exact_match",
        split="test",
        perturbation=perturbation,
        count=count,
        num_unscored=0,
        mean=mean,
        stddev=None,
        minimum=None,
        maximum=None,
        ci_low=0.1,
        ci_high=0.6,
        ci_method=IntervalMethod.BOOTSTRAP,
        computed_on=ComputedOn(computed_on),
    )


# Four instances: plain mean 0.75; three have a copy in small letters, two prompts were asked.
STATS = [
    stat("lowercase", "perturbed", 1 / 3),
    stat("lowercase", "original", 2 / 3),
    stat("lowercase", "worst", 1 / 3),
    stat("lowercase", "invariance", 2 / 3),
    stat("robustness", "worst", 0.5, 4),
    stat("robustness", "invariance", 2 / 3, 3),
    stat("prompt_variants", "mean", 0.5, 2),
    stat("prompt_variants", "worst", 0.25, 2),
    stat("prompt_variants", "spread", 0.5, 2),
    stat("prompt_variants", "invariance", 0.25, 4),
]


WHOLE = replace(stat("", "original", 0.75, 4), computed_on=None, ci_low=0.3, ci_high=0.95)


def rows() -> dict[str, RobustnessRow]:
    return {row.perturbation: row for row in with_numbers(RUN, STATS, WHOLE)}


def test_a_copy_is_compared_with_the_originals_that_have_one() -> None:
    row = rows()["lowercase"]
    assert (row.original, row.changed, row.worst) == (2 / 3, 1 / 3, 1 / 3)
    assert (row.invariance, row.spread, row.count) == (2 / 3, None, 3)
    for name in ("original", "changed", "worst", "invariance"):
        ends = (getattr(row, f"{name}_ci_low"), getattr(row, f"{name}_ci_high"))
        assert ends == (0.1, 0.6), name


def test_a_collection_is_compared_with_the_mean_of_all_originals() -> None:
    row = rows()["robustness"]
    assert (row.original, row.changed, row.worst, row.count) == (0.75, None, 0.5, 4)
    assert (row.original_ci_low, row.original_ci_high) == (0.3, 0.95)
    assert (row.changed_ci_low, row.changed_ci_high) == (None, None)


def test_prompts_have_a_mean_a_worst_and_a_spread() -> None:
    row = rows()["prompt_variants"]
    assert (row.original, row.changed, row.worst, row.spread) == (0.75, 0.5, 0.25, 0.5)
    assert (row.invariance, row.count) == (0.25, 2)


def test_a_stat_without_direction_has_no_worst() -> None:
    (row,) = with_numbers(RUN, [stat("lowercase", "invariance", 0.5)], WHOLE)
    assert (row.worst, row.worst_ci_low, row.invariance, row.count) == (None, None, 0.5, 3)


def test_collections_come_before_their_copies_and_benchmarks_stay_together() -> None:
    other = replace(RUN, display_name="Acute", model_deployment="acme/large")
    mixed = [*with_numbers(RUN, STATS, WHOLE), replace(other, perturbation="typos")]
    assert [(row.display_name, row.perturbation) for row in ordered(mixed)] == [
        ("Acute", "typos"),
        ("Triage", "prompt_variants"),
        ("Triage", "robustness"),
        ("Triage", "lowercase"),
    ]
