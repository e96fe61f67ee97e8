"""A rubric that cannot give a verdict is refused by name before any model is loaded."""

import math
from dataclasses import replace

import pytest

from medhelm_spark.annotators.rubric_check import check_rubric
from medhelm_spark.domain.annotation import Criterion, Rubric
from medhelm_spark.errors import ConfigError
from tests.unit.annotators.rubrics import TWO


def scale(low: float, high: float) -> tuple[Criterion, ...]:
    return (Criterion(name="harm", minimum=low, maximum=high),)


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        (replace(TWO, criteria=()), "there are no criteria"),
        (replace(TWO, template="Rate {QUESTION} {response}"), r"has no \{RESPONSE\}"),
        (replace(TWO, max_tokens=0), "max_tokens is 0"),
        (replace(TWO, criteria=TWO.criteria * 2), "'accuracy' occurs twice"),
        (replace(TWO, criteria=(Criterion(name="x", keys=("explanation",)),)), "'score' must be"),
        (replace(TWO, criteria=scale(5, 1)), "scale 5 to 1"),
        (replace(TWO, criteria=scale(1, 1)), "scale 1 to 1"),
        (replace(TWO, criteria=scale(0, math.inf)), "scale 0 to inf"),
        (replace(TWO, criteria=scale(math.nan, 1)), "scale nan to 1"),
    ],
)
def test_refused_with_the_rubric_named(rubric: Rubric, message: str) -> None:
    with pytest.raises(ConfigError, match=f"rubric 'demo': .*{message}"):
        check_rubric(rubric)


def test_sound_rubrics_pass() -> None:
    check_rubric(TWO)
    check_rubric(replace(TWO, criteria=(Criterion(name="harm", keys=("score",), minimum=-1),)))
