"""HELM's run expanders that set one value of the adapter (facts section 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from medhelm_spark.domain.run import AdapterSpec
from medhelm_spark.domain.scenario import Split
from medhelm_spark.errors import ConfigError

Value = str | int | float

STOPS = {"hash": "###", "semicolon": ";", "br": "<br>"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expander:
    """One key of a run entry: what it changes, and how HELM joins it to the run name.

    HELM writes `:` before the first part of a name and `,` before the others; after some keys it
    always writes `,`, and `separator` says so. `apply` raises ValueError saying what is allowed.
    """

    apply: Callable[[AdapterSpec, Value], AdapterSpec]
    separator: str | None = None


def _set(spec: AdapterSpec, value: Value, *, name: str, least: int) -> AdapterSpec:
    if not isinstance(value, int) or value < least:
        raise ValueError(f"a whole number, {least} or more")
    changes: dict[str, Any] = {name: value}
    return replace(spec, **changes)


def _count(name: str, *, least: int = 1) -> Expander:
    return Expander(apply=partial(_set, name=name, least=least))


def _temperature(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if isinstance(value, str) or value < 0:
        raise ValueError("a number, 0 or more")
    return replace(spec, temperature=float(value))


def _eval_split(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value not in (Split.VALID, Split.TEST):
        raise ValueError("test or valid")
    return replace(spec, eval_splits=(str(value),))


def _stop(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value == "none":
        return replace(spec, stop_sequences=())
    if value not in STOPS:
        raise ValueError(f"none, {', '.join(STOPS)}")
    stop = STOPS[str(value)]
    return replace(spec, stop_sequences=(stop,), instance_prefix=f"{stop}\n\n")


def _instructions(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value != "none":
        raise ValueError("none")
    return replace(spec, instructions="")


EXPANDERS: Mapping[str, Expander] = {
    "max_eval_instances": _count("max_eval_instances"),
    "num_output_tokens": _count("max_tokens"),
    "max_train_instances": _count("max_train_instances", least=0),
    "num_train_trials": _count("num_train_trials"),
    "num_trials": _count("num_trials"),
    "num_outputs": _count("num_outputs"),
    # HELM leaves the temperature out of the name, so that two runs overwrite each other.
    "temperature": Expander(apply=_temperature),
    "eval_split": Expander(apply=_eval_split),
    "stop": Expander(apply=_stop, separator=","),
    "instructions": Expander(apply=_instructions, separator=","),
    # It changes the instances and not the adapter: `augmentation` says how.
    "data_augmentation": Expander(apply=lambda spec, _: spec, separator=","),
}

UNSUPPORTED = (
    "prompt",
    "newline",
    "add_to_stop",
    "format_prompt",
    "follow_format_instructions",
    "output_format_instructions",
    "global_prefix",
    "tokenizer",
    "num_prompt_tokens",
    "increase_max_tokens",
    "increase_temperature",
    "chatml",
    "process_output",
)
"""HELM's other expanders: known, so that they are refused by name and not as a spelling mistake."""


def apply_expander(spec: AdapterSpec, key: str, value: Value, where: str) -> AdapterSpec:
    """The adapter with one expander applied.

    Raises:
        ConfigError: If the value is not one that the key takes.
    """
    try:
        return EXPANDERS[key].apply(spec, value)
    except ValueError as error:
        raise ConfigError(f"{where}: {key} is {value!r}; allowed: {error}.") from None
