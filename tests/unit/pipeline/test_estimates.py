"""Tokens into hours and money, and budgets."""

import math

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality, Prices
from medhelm_spark.errors import BudgetError
from medhelm_spark.pipeline.estimates import check_budget, estimated, notes, table
from medhelm_spark.pipeline.request_estimate import Cost

COST = Cost(
    model_deployment="m",
    requests=10,
    prompt_tokens=3_000_000,
    output_tokens=600_000,
    longest_request=4_000,
)


def deployment(**changes: object) -> Deployment:
    values = {"engine": "openai", "prices": Prices(prompt=2.5, completion=10.0)} | changes
    return Deployment(name="m", model="m", locality=Locality.LOCAL, **values)  # type: ignore[arg-type]


def test_money_and_hours() -> None:
    """3 M tokens at 2.5 and 0.6 M at 10 a million are 13.5; 3.6 M tokens at 1,000/s are an hour."""
    row = estimated(deployment(tokens_per_second=1000.0), COST, {})
    assert (row.money, row.hours, row.gpu_hours) == (13.5, 1.0, 0.0)


def test_a_measured_speed_goes_before_a_given_one() -> None:
    row = estimated(deployment(tokens_per_second=1000.0), COST, {"m": 2000.0})
    assert (row.hours, row.is_measured) == (0.5, True)


def test_gpu_hours_count_every_gpu_of_the_slot() -> None:
    args = {"tensor_parallel_size": 4}
    row = estimated(deployment(engine="vllm", args=args, tokens_per_second=1000.0), COST, {})
    assert (row.hours, row.gpu_hours) == (1.0, 4.0)


def test_the_table_marks_what_is_not_measured_and_not_known() -> None:
    known = estimated(deployment(tokens_per_second=1000.0), COST, {})
    unknown = estimated(deployment(prices=None), COST, {})
    lines = list(table([known, unknown]))
    assert lines[2].split() == ["m", "10", "3,000,000~", "600,000", "1,000*", "1.00", "0", "13.50"]
    assert lines[3].split() == ["m", "10", "3,000,000~", "600,000", "?", "?", "?", "?"]
    assert lines[4].split() == ["all", "20", "6,000,000", "1,200,000", "0", "13.50"]
    assert [line[0] for line in notes([known, unknown])] == ["~", "*", "?"]
    assert list(notes([])) == ["Nothing is left to ask."]


def test_list_prices_say_of_which_day_they_are() -> None:
    prices = Prices(prompt=2.5, completion=10.0, as_of="2024-10-02")
    row = estimated(deployment(prices=prices, tokens_per_second=1000.0), COST, {"m": 1000.0})
    assert list(notes([row]))[1:] == ["Cost of m: by its list prices as of 2024-10-02; check them."]


def test_a_plan_within_its_budget_passes() -> None:
    rows = [estimated(deployment(tokens_per_second=1000.0), COST, {})]
    check_budget(rows, max_cost=13.5, max_gpu_hours=0.0)
    check_budget(rows, max_cost=None, max_gpu_hours=None)


@pytest.mark.parametrize(
    ("changes", "limits", "message"),
    [
        ({}, {"max_cost": 27.0}, None),
        ({}, {"max_cost": 26.99}, "--max-cost 26.99: this plan may need up to 27.00."),
        (
            {"engine": "vllm", "tokens_per_second": 1000.0},
            {"max_gpu_hours": 1.5},
            "--max-gpu-hours 1.5: this plan may need up to 2.00.",
        ),
        ({}, {"max_cost": math.nan}, "--max-cost nan: this plan may need up to 27.00."),
        ({"prices": None}, {"max_cost": 100.0}, "--max-cost 100: m, m has no prices"),
        ({"engine": "vllm"}, {"max_gpu_hours": 9.0}, "m, m has no tokens_per_second"),
    ],
)
def test_budgets(changes: dict[str, object], limits: dict[str, float], message: str | None) -> None:
    rows = [estimated(deployment(**changes), COST, {})] * 2
    both = {"max_cost": None, "max_gpu_hours": None} | limits
    if message is None:
        check_budget(rows, **both)
        return
    with pytest.raises(BudgetError) as caught:
        check_budget(rows, **both)
    assert message in str(caught.value)
