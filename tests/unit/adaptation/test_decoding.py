"""What decides an answer is in the ids, what does not decide it is not."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.adaptation.decoding import (
    ESTIMATED_TOKENS_SQL,
    RENDER_FIELDS,
    REQUEST_ID_SQL,
    call_id,
    decoding_for,
    render_id,
)
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.request import Decoding
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec, Substitution
from tests.unit.adaptation.sql import evaluated

MC = AdapterMethod.MULTIPLE_CHOICE_JOINT
SPEC = AdapterSpec()
OTHER_VALUES: dict[str, Any] = {
    "method": MC,
    "reference_prefix_characters": "ABCD",
    "substitutions": (Substitution(source="a", target="b"),),
    "max_train_instances": 5,
    "max_eval_instances": 10,
    "num_outputs": 2,
    "num_train_trials": 3,
    "num_trials": 2,
    "sample_train": False,
    "temperature": 0.7,
    "max_tokens": 1,
    "stop_sequences": ("\n",),
    "random": "7",
    "multi_label": True,
    "eval_splits": ("test",),
    "output_mapping_pattern": "(.)",
}
DEPLOYMENT = Deployment(
    name="site/m",
    model="org/m",
    engine="openai",
    locality=Locality.LOCAL,
    args={"base_url": "u"},
    serving=frozenset({"base_url"}),
)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(AdapterSpec)])
def test_render_id_follows_exactly_the_fields_that_shape_the_text(name: str) -> None:
    changed = dataclasses.replace(SPEC, **{name: OTHER_VALUES.get(name, "changed")})
    assert changed != SPEC
    differs = render_id(changed, "v1", "t") != render_id(SPEC, "v1", "t")
    assert differs == (name in RENDER_FIELDS)


def test_render_id_follows_data_version_and_parts() -> None:
    ids = {render_id(SPEC, "v1"), render_id(SPEC, "v2"), render_id(SPEC, "v1", "template")}
    assert len(ids) == 3
    assert len(render_id(SPEC, "v1")) == 32


def test_generation_decoding() -> None:
    spec = AdapterSpec(max_tokens=16, num_outputs=2, stop_sequences=("\n", "#"))
    assert decoding_for(spec) == Decoding(
        max_tokens=16, stop_sequences=("\n", "#"), num_completions=2
    )


def test_joint_multiple_choice_sends_no_stop_and_asks_for_log_probabilities() -> None:
    spec = AdapterSpec(method=MC, max_tokens=1, num_outputs=5, stop_sequences=("\n",))
    assert decoding_for(spec) == Decoding(max_tokens=1, num_completions=1, logprobs=5)


@pytest.mark.parametrize("method", [MC, AdapterMethod.GENERATION])
def test_where_tokens_end_is_asked_for_by_one_log_probability(method: AdapterMethod) -> None:
    spec = AdapterSpec(method=method, max_tokens=64, num_outputs=1)
    assert decoding_for(spec, needs_tokens=True) == Decoding(max_tokens=64, logprobs=1)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize("random", [None, "0", "1", "run-b", "²", "123456789012"])
def test_trials_have_distinct_seeds_that_later_trials_do_not_change(
    temperature: float, random: str | None
) -> None:
    spec = AdapterSpec(temperature=temperature, random=random, num_trials=3)
    calls = [decoding_for(spec, trial_index=trial) for trial in range(3)]
    assert len({call_id(DEPLOYMENT, call) for call in calls}) == 3
    more = dataclasses.replace(spec, num_trials=9)
    assert [decoding_for(more, trial_index=trial) for trial in range(3)] == calls
    assert all(call.seed is None or 0 <= call.seed < 2**31 for call in calls)


def test_only_a_greedy_first_trial_has_no_seed() -> None:
    assert decoding_for(AdapterSpec()).seed is None
    assert decoding_for(AdapterSpec(temperature=1.0)).seed == 0
    assert decoding_for(AdapterSpec(random="41"), trial_index=1).seed == 42


@pytest.mark.parametrize(
    ("characters", "max_tokens", "num_completions", "tokens"),
    [(400, 100, 1, 125), (401, 100, 1, 126), (400, 100, 3, 175), (0, 0, 1, 1)],
)
def test_estimate_grows_with_prompt_and_output(
    tmp_path: Path, characters: int, max_tokens: int, num_completions: int, tokens: int
) -> None:
    """Characters as a float: Spark's `/` divides whole numbers without rounding."""
    sql = ESTIMATED_TOKENS_SQL.replace("decoding.", "")
    value = evaluated(
        tmp_path,
        sql,
        num_characters=float(characters),
        max_tokens=max_tokens,
        num_completions=num_completions,
    )
    assert value == tokens


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Decoding)])
def test_call_id_follows_every_decoding_parameter(name: str) -> None:
    values: dict[str, Any] = {"stop_sequences": ("\n",), "response_schema": "{}"}
    base = Decoding(max_tokens=8)
    changed = dataclasses.replace(base, **{name: values.get(name, 3)})
    assert call_id(DEPLOYMENT, changed) != call_id(DEPLOYMENT, base)


def test_call_id_follows_weights_but_not_the_place_of_the_server() -> None:
    decoding = Decoding(max_tokens=8)
    moved = dataclasses.replace(DEPLOYMENT, args={"base_url": "elsewhere"}, max_concurrency=1)
    requantised = dataclasses.replace(DEPLOYMENT, args={"base_url": "u", "quantization": "awq"})
    assert call_id(moved, decoding) == call_id(DEPLOYMENT, decoding)
    assert call_id(requantised, decoding) != call_id(DEPLOYMENT, decoding)


def test_request_id_is_the_md5_of_both_ids(tmp_path: Path) -> None:
    """The expected value is coreutils' `printf 'a|b' | md5sum`."""
    value = evaluated(tmp_path, REQUEST_ID_SQL, prompt_id="a", call_id="b")
    assert value == "d0726241020676b14aa6298ce6a18b21"
