"""How compared values are read: the worst in the stat's own direction, and MedHELM's beside it."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS, MetricSpec
from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Stat
from medhelm_spark.metrics import METRICS
from medhelm_spark.stages.summarize.robustness import HIGHEST, LOWEST, LOWEST_SCORED
from medhelm_spark.stages.summarize.stage import Histogram, Summarizer, ValueRows

WORST = ComputedOn.WORST


@pytest.fixture(autouse=True)
def stats_of_every_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = METRICS["exact_match"]
    (scale,) = (one for one in exact.emits if one.name == "exact_match")
    directions = {"up": False, "down": True, "none": None, "old@medhelm-0.8": True}
    emits = tuple(
        replace(scale, name=name, lower_is_better=value) for name, value in directions.items()
    )
    made = replace(exact, emits=emits, aliases=())
    monkeypatch.setattr("medhelm_spark.metrics.METRICS", {"made": made})


def read(name: str, computed_on: str | None, perturbation: str = "typos") -> list[Stat]:
    row = Histogram(
        run_spec_id="r",
        name=name,
        split="test",
        perturbation=perturbation,
        computed_on=computed_on,
        num_unscored=1,
        histogram=(ValueRows(value=0.0, rows=3), ValueRows(value=1.0, rows=1)),
    )
    return list(Summarizer({"r": (MetricSpec(name="made"),)})([row]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("up", {LOWEST: ("up", WORST)}),
        ("down", {HIGHEST: ("down", WORST), LOWEST_SCORED: ("down@medhelm-0.8", WORST)}),
        ("none", {LOWEST_SCORED: ("none@medhelm-0.8", WORST)}),
        ("old@medhelm-0.8", {LOWEST_SCORED: ("old@medhelm-0.8", WORST)}),
    ],
)
def test_the_worst_respects_lower_is_better(
    name: str, expected: dict[str, tuple[str, ComputedOn]]
) -> None:
    found = {on: read(name, on) for on in (LOWEST, HIGHEST, LOWEST_SCORED)}
    assert {on: (s.name, s.computed_on) for on, (s,) in _made(found)} == expected


def _made(found: dict[str, list[Stat]]) -> list[tuple[str, list[Stat]]]:
    return [(on, stats) for on, stats in found.items() if stats]


def test_other_rows_are_summarised_as_they_are() -> None:
    (plain,) = read("up", None, "")
    assert (plain.computed_on, plain.mean, plain.count, plain.num_unscored) == (None, 0.25, 4, 1)
    (copies,) = read("up", "perturbed")
    assert copies.computed_on is ComputedOn.PERTURBED
    (same,) = read("none", "invariance")
    assert same.ci_method is IntervalMethod.WILSON


@pytest.mark.parametrize("collection", [PROMPT_VARIANTS, REPEATS])
@pytest.mark.parametrize("computed_on", ["mean", "spread", LOWEST])
def test_numbers_of_prompts_and_repeats_have_no_interval(computed_on: str, collection: str) -> None:
    (stat,) = read("up", computed_on, collection)
    assert (stat.ci_low, stat.ci_high, stat.ci_method) == (None, None, IntervalMethod.NONE)
