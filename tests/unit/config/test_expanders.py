"""Run expanders: what each key of an entry makes of the adapter."""

from typing import Any

import pytest

from medhelm_spark.config.expanders import EXPANDERS, UNSUPPORTED
from medhelm_spark.config.registry import Registry
from medhelm_spark.errors import ConfigError
from tests.unit.config.runs import SMALL, expand_one


def test_the_adapter_takes_card_then_flag_then_entry(registry: Registry) -> None:
    plain = expand_one(registry, f"triage:{SMALL}")
    assert plain.adapter_spec == registry.cards["triage"].adapter_spec
    flag = expand_one(registry, f"triage:{SMALL}", max_eval_instances=10)
    assert flag.adapter_spec.max_eval_instances == 10
    entry = expand_one(registry, f"triage:{SMALL},max_eval_instances=3", max_eval_instances=10)
    assert entry.adapter_spec.max_eval_instances == 3


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("num_output_tokens=4000", {"max_tokens": 4000}),
        ("max_train_instances=2", {"max_train_instances": 2}),
        ("num_trials=3", {"num_trials": 3}),
        ("num_outputs=4", {"num_outputs": 4}),
        ("temperature=1", {"temperature": 1.0}),
        ("eval_split=valid", {"eval_splits": ("valid",)}),
        ("stop=none", {"stop_sequences": ()}),
        ("stop=hash", {"stop_sequences": ("###",), "instance_prefix": "###\n\n"}),
        ("stop=semicolon", {"stop_sequences": (";",), "instance_prefix": ";\n\n"}),
        ("stop=br", {"stop_sequences": ("<br>",), "instance_prefix": "<br>\n\n"}),
        ("instructions=none", {"instructions": ""}),
        ("num_train_trials=3", {"num_train_trials": 1}),  # nothing to draw without examples
        ("max_train_instances=1,num_train_trials=3", {"num_train_trials": 3}),
    ],
)
def test_expanders_set_one_value(
    registry: Registry, argument: str, changes: dict[str, Any]
) -> None:
    spec = expand_one(registry, f"triage:{argument},{SMALL}").adapter_spec
    assert {key: getattr(spec, key) for key in changes} == changes


@pytest.mark.parametrize(
    ("argument", "allowed"),
    [
        ("num_output_tokens=0", "a whole number, 1 or more"),
        ("num_output_tokens=many", "a whole number, 1 or more"),
        ("max_train_instances=-1", "a whole number, 0 or more"),
        ("max_train_instances=all", "a whole number, 0 or more"),
        ("max_eval_instances=1.5", "a whole number, 1 or more"),
        ("temperature=hot", "a number, 0 or more"),
        ("temperature=-1", "a number, 0 or more"),
        ("eval_split=train", "test or valid"),
        ("stop=dot", "none, hash, semicolon, br"),
        ("instructions=expert", "none"),
    ],
)
def test_values_that_an_expander_does_not_take(registry, argument: str, allowed: str) -> None:
    key = argument.partition("=")[0]
    with pytest.raises(ConfigError) as caught:
        expand_one(registry, f"triage:{argument},{SMALL}")
    assert str(caught.value).startswith("--run-entries: run entry 'triage': " + key)
    assert str(caught.value).endswith(f"allowed: {allowed}.")


def test_flags_are_checked_like_entries(registry: Registry) -> None:
    with pytest.raises(ConfigError, match=r"--max-eval-instances: .* is 0; allowed: a whole"):
        expand_one(registry, f"triage:{SMALL}", max_eval_instances=0)


@pytest.mark.parametrize("key", UNSUPPORTED)
def test_helms_other_expanders_are_refused_by_name(registry: Registry, key: str) -> None:
    assert key not in EXPANDERS
    with pytest.raises(ConfigError, match=f"{key} is a run expander of HELM's not supported yet"):
        expand_one(registry, f"triage:{key}=x,{SMALL}")
