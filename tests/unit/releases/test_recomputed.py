"""Stats that a release would pin are those that the scores give, whatever made them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Stat
from medhelm_spark.releases.recomputed import are_alike

MEAN = Stat(
    run_spec_id="r",
    name="exact_match",
    split="test",
    perturbation="",
    count=12,
    num_unscored=0,
    mean=5 / 12,
    stddev=0.493,
    minimum=0.0,
    maximum=1.0,
    ci_low=0.193,
    ci_high=0.681,
    ci_method=IntervalMethod.WILSON,
    comparability={"data": "d"},
    num_model_failures=0,
    num_unscorable=0,
)
WORST = replace(MEAN, perturbation="typos", computed_on=ComputedOn.WORST, mean=0.25)


def test_order_and_the_last_digits_do_not_count() -> None:
    rounded = replace(MEAN, mean=5 / 12 + 1e-15, ci_low=0.193 * (1 + 1e-12))
    assert are_alike([WORST, rounded], [MEAN, WORST])
    assert are_alike([], [])


def test_the_last_digits_of_resampled_means_do_not_count() -> None:
    drawn = replace(MEAN, draws=(0.25, 0.5))
    assert are_alike([replace(drawn, draws=(0.25, 0.5 + 1e-15))], [drawn])
    for forged in ((0.25, 0.51), (0.5, 0.25), (0.25,)):
        assert not are_alike([replace(drawn, draws=forged)], [drawn])


def test_what_an_older_lake_does_not_say_is_not_compared() -> None:
    older = replace(MEAN, comparability=None, num_model_failures=None, num_unscorable=None)
    assert are_alike([older], [MEAN])


FORGED: list[dict[str, Any]] = [
    {"mean": 0.999},
    {"mean": None},
    {"count": 400},
    {"num_unscored": 1},
    {"ci_low": 0.4},
    {"ci_method": IntervalMethod.T},
    {"comparability": {"data": "other"}},
    {"num_model_failures": 3},
    {"name": "other"},
    {"split": "valid"},
    {"computed_on": ComputedOn.WORST},
]


@pytest.mark.attack("integrity", "a forged stat published as if the scores gave it")
@pytest.mark.parametrize("values", FORGED, ids=lambda values: next(iter(values)))
def test_a_forged_stat_is_seen(values: dict[str, Any]) -> None:
    assert not are_alike([replace(MEAN, **values), WORST], [MEAN, WORST])


@pytest.mark.parametrize(
    "change", [lambda rows: rows[1:], lambda rows: [*rows, rows[0]]], ids=["missing", "twice"]
)
def test_a_missing_or_doubled_stat_is_seen(change: Callable[[list[Stat]], list[Stat]]) -> None:
    assert not are_alike(change([MEAN, WORST]), [MEAN, WORST])
