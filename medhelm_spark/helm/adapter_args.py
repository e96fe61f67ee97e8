"""Arguments of HELM's scenarios that change how a model is asked, and not the data."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medhelm_spark.config.wording import LINE_ALONE, REASON_FIRST
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec
from medhelm_spark.errors import ConfigError

_CHAIN = AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT
_JOINT = AdapterMethod.MULTIPLE_CHOICE_JOINT

ADAPTER_ARGS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "method": {method.value: {"method": method} for method in (_JOINT, _CHAIN)},
    "use_chain_of_thought": {
        "true": {"method": _CHAIN, "global_suffix": REASON_FIRST},
        "false": {"method": _JOINT, "global_suffix": LINE_ALONE},
    },
    "use_few_shot": {"true": {"max_train_instances": 5}, "false": {"max_train_instances": 0}},
}
"""What each value of an argument sets in the adapter of a card that lists it among its `args`."""


def with_adapter_arg(spec: AdapterSpec, key: str, value: str, where: str) -> AdapterSpec:
    """The adapter with one of these arguments applied.

    Raises:
        ConfigError: If the argument takes no such value.
    """
    changes = ADAPTER_ARGS[key].get(value)
    if changes is None:
        raise ConfigError(f"{where}: {key} is {value!r}; allowed: {', '.join(ADAPTER_ARGS[key])}.")
    return replace(spec, **changes)
