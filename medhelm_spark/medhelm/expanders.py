"""What an entry changes in the adapter: HELM's run expanders and some arguments of its scenarios.

The expanders are those of facts section 3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from medhelm_spark.domain.comparability import NEVER_ZERO
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec, AnswerForm, RunEntry, Substitution
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.wording import (
    EXPERT,
    FOLLOW_FORMAT,
    FORMAT_BEFORE_LAST,
    LINE_ALONE,
    REASON_FIRST,
    output_format,
)

Value = str | int | float

STOPS = {"hash": "###", "semicolon": ";", "br": "<br>"}
NEWLINES = {"semicolon": ";\n", "br": "<br>\n"}
PROMPTS: Mapping[str, Mapping[str, Any]] = {
    "human_assistant": {
        "input_prefix": 'Human: What is the answer to "',
        "input_suffix": '"?\n',
        "output_prefix": 'Assistant: The answer is "',
        "output_suffix": '".\n',
        "stop_sequences": ('".',),
    },
    "question_answer": {"input_prefix": "Question: ", "output_prefix": "Answer: "},
    "qa": {"input_prefix": "Q: ", "output_prefix": "A: "},
    "input_output_html": {
        "input_prefix": "<input>",
        "input_suffix": "</input>\n",
        "output_prefix": "<output>",
        "output_suffix": "</output>\n",
    },
    "input_output": {"input_prefix": "Input: ", "output_prefix": "Output: "},
    "i_o": {"input_prefix": "I: ", "output_prefix": "O: "},
}
SWEEPS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "max_train_instances": {
        "zero": (0,),
        "one": (1,),
        "all": (0, 1, 2, 4, 8, 16),
        "big_bench_few_shot_setting": (0, 1, 2, 3),
        "vhelm": (0, 1, 2, 4, 8),
        "melt": (0, 1, 5),
    },
    "max_eval_instances": {"default": (1000,)},
    "num_outputs": {"default": (1,), "copyright_sweep": (1, 10)},
    "num_trials": {"heim_efficiency": (5,)},
    "num_output_tokens": {"default_sweep": (1, 2, 4, 8, 16, 32, 64)},
}
"""HELM's named values; one of several numbers makes a run of each."""


FOLLOW_FORMAT_KEY, IF_INSTRUCTED = "follow_format_instructions", "instruct"
INSTRUCTED_TAG = "INSTRUCTION_FOLLOWING_MODEL_TAG"
"""Of the models that carry it `instruct` means `all`; for others the key does nothing."""


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


def _hotter(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if isinstance(value, str) or spec.temperature + value < 0:
        raise ValueError("a number that leaves the temperature at 0 or more")
    return replace(spec, temperature=spec.temperature + value)


def _longer(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if not isinstance(value, int) or spec.max_tokens + value < 1:
        raise ValueError("a whole number that leaves max_tokens at 1 or more")
    return replace(spec, max_tokens=spec.max_tokens + value)


def _eval_split(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value not in (Split.VALID, Split.TEST):
        raise ValueError("test or valid")
    return replace(spec, eval_splits=(str(value),))


def _one_of(value: Value, known: Mapping[str, Any]) -> Any:
    if value not in known:
        raise ValueError(", ".join(known))
    return known[str(value)]


def _stop(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value == "none":
        return replace(spec, stop_sequences=())
    stop = _one_of(value, {"none": "", **STOPS})
    return replace(spec, stop_sequences=(stop,), instance_prefix=f"{stop}\n\n")


def _add_to_stop(spec: AdapterSpec, value: Value) -> AdapterSpec:
    added = "\n" if value == "newline" else str(value)
    return replace(spec, stop_sequences=(*spec.stop_sequences, added))


def _instructions(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value == "expert":
        return replace(spec, instructions=f"{EXPERT} {spec.instructions}")
    _one_of(value, {"none": "", "expert": EXPERT})
    return replace(spec, instructions="")


def _prompt(spec: AdapterSpec, value: Value) -> AdapterSpec:
    return replace(spec, **_one_of(value, PROMPTS))


def _newline(spec: AdapterSpec, value: Value) -> AdapterSpec:
    return replace(
        spec, substitutions=(Substitution(source="\n", target=_one_of(value, NEWLINES)),)
    )


def _answer_form(spec: AdapterSpec, value: Value) -> AdapterSpec:
    return replace(spec, answer_form=_one_of(value, {form.value: form for form in AnswerForm}))


def _format_prompt(spec: AdapterSpec, value: Value) -> AdapterSpec:
    return replace(spec, input_prefix=str(value), output_prefix="")


def _global_prefix(spec: AdapterSpec, value: Value) -> AdapterSpec:
    return replace(spec, global_prefix=_one_of(value, {"nlg": "[NLG]"}))


def _follow_format(spec: AdapterSpec, value: Value) -> AdapterSpec:
    if value != "all":
        raise ValueError("all, instruct")
    if spec.method != AdapterMethod.GENERATION:
        raise ValueError(f"all, for scenarios of the method generation; this one is {spec.method}")
    return replace(
        spec,
        global_prefix=f"{FOLLOW_FORMAT}\n\n",
        global_suffix=f"\n\n{FORMAT_BEFORE_LAST}\n{spec.output_prefix.strip()}",
    )


def _output_format(spec: AdapterSpec, value: Value) -> AdapterSpec:
    form = str(value).removesuffix("_suffix")
    wording = output_format(spec, form.removesuffix("_no_prefix"))
    if form.endswith("_no_prefix"):
        wording += f" Leave out '{spec.output_prefix.strip()}'."
    if str(value).endswith("_suffix"):
        return replace(spec, global_suffix=f"{spec.global_suffix}\n\n{wording}")
    after = f"\n\n{spec.instructions}" if spec.instructions else "\n"
    return replace(spec, instructions=f"{wording}{after}")


EXPANDERS: Mapping[str, Expander] = {
    "max_eval_instances": _count("max_eval_instances"),
    "num_output_tokens": _count("max_tokens"),
    "max_train_instances": _count("max_train_instances", least=0),
    "num_train_trials": _count("num_train_trials"),
    "num_trials": _count("num_trials"),
    "num_outputs": _count("num_outputs"),
    "eval_split": Expander(apply=_eval_split),
    "stop": Expander(apply=_stop, separator=","),
    "instructions": Expander(apply=_instructions, separator=","),
    "prompt": Expander(apply=_prompt, separator=","),
    "newline": Expander(apply=_newline, separator=","),
    "global_prefix": Expander(apply=_global_prefix, separator=","),
    # HELM leaves the next ones out of the name, so that two runs overwrite each other.
    "temperature": Expander(apply=_temperature),
    "increase_temperature": Expander(apply=_hotter),
    "increase_max_tokens": Expander(apply=_longer),
    "add_to_stop": Expander(apply=_add_to_stop),
    "format_prompt": Expander(apply=_format_prompt),
    FOLLOW_FORMAT_KEY: Expander(apply=_follow_format),
    "output_format_instructions": Expander(apply=_output_format),
    "answer_form": Expander(apply=_answer_form),
    # It changes the instances and not the adapter: `augmentation` says how.
    "data_augmentation": Expander(apply=lambda spec, _: spec, separator=","),
}

TOKEN_KEYS = frozenset({"num_output_tokens", "increase_max_tokens"})
"""The keys that say how long an answer may be."""


def _without_blank_stops(spec: AdapterSpec) -> AdapterSpec:
    """The vendor's API refuses stop sequences of white space alone."""
    stops = tuple(stop for stop in spec.stop_sequences if stop.strip())
    return replace(spec, stop_sequences=stops)


def _never_zero(spec: AdapterSpec) -> AdapterSpec:
    return spec if spec.temperature else replace(spec, temperature=NEVER_ZERO)


MODEL_TAGS: Mapping[str, Callable[[AdapterSpec], AdapterSpec]] = {
    "ANTHROPIC_CLAUDE_3_MODEL_TAG": _without_blank_stops,
    "BUGGY_TEMP_0_TAG": _never_zero,
}
"""What HELM changes for models whose metadata carries such a tag; the name does not show it."""

UNSUPPORTED = (
    "tokenizer",
    "num_prompt_tokens",
    "chatml",
    "process_output",
)
"""HELM's other expanders: known, so that they are refused by name and not as a spelling mistake."""


def spread(entry: RunEntry) -> Iterator[RunEntry]:
    """The entry once for each number that its named values mean, as written first to last."""
    choices = [
        [(key, number) for number in SWEEPS.get(key, {}).get(str(value), (value,))]
        for key, value in entry.args.items()
    ]
    for args in product(*choices):
        yield replace(entry, args=dict(args))


def suited_to(spec: AdapterSpec, tags: Iterable[str]) -> AdapterSpec:
    """The adapter with what these tags of a model change."""
    for tag in tags:
        if change := MODEL_TAGS.get(tag):
            spec = change(spec)
    return spec


def apply_expander(spec: AdapterSpec, key: str, value: Value, where: str) -> AdapterSpec:
    """The adapter with one expander applied.

    Raises:
        ConfigError: If the value is not one that the key takes.
    """
    try:
        return EXPANDERS[key].apply(spec, value)
    except ValueError as error:
        raise ConfigError(f"{where}: {key} is {value!r}; allowed: {error}.") from None


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
