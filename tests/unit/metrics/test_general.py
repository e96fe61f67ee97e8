"""General information and efficiency: what is known of the request and its answer."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state


def values(metric, scored_state):
    (row,) = METRICS[metric].fn([scored_state], {})
    return {score.name: score.value for score in row}


@pytest.mark.parametrize("reason", FinishReason)
def test_exactly_the_way_it_ended_is_one(reason):
    ended = replace(state(""), completions=(Completion(text="x", finish_reason=reason),))
    stats = values("general_information", ended)
    kinds = {name: value for name, value in stats.items() if name.startswith("finish_reason_")}
    assert kinds.pop(f"finish_reason_{reason}") == 1.0
    assert set(kinds.values()) == {0.0}


def test_the_first_completion_counts():
    both = tuple(
        Completion(text="x", finish_reason=reason)
        for reason in (FinishReason.LENGTH, FinishReason.STOP)
    )
    stats = values("general_information", replace(state(""), completions=both))
    assert (stats["finish_reason_length"], stats["finish_reason_stop"]) == (1.0, 0.0)


def test_references_and_few_shot_examples():
    scored_state = replace(
        state("x", correct("a", "b")), num_train_instances=5, prompt_truncated=True
    )
    stats = values("general_information", scored_state)
    assert stats["num_references"] == 2.0
    assert stats["num_train_instances"] == 5.0
    assert stats["prompt_truncated"] == 1.0


def test_cost_as_the_engine_counted_it():
    scored_state = replace(state("x"), prompt_tokens=120, completion_tokens=7, request_time=0.25)
    assert values("efficiency", scored_state) == {
        "num_prompt_tokens": 120.0,
        "num_completion_tokens": 7.0,
        "num_output_tokens": 7.0,
        "inference_runtime": 0.25,
    }


def test_what_the_engine_did_not_count_is_not_zero():
    (row,) = METRICS["efficiency"].fn([replace(state("x"), prompt_tokens=0)], {})
    stats = {score.name: (score.value, score.status) for score in row}
    assert stats["num_prompt_tokens"] == (0.0, ScoreStatus.OK)
    assert stats["inference_runtime"] == (None, ScoreStatus.NOT_APPLICABLE)
