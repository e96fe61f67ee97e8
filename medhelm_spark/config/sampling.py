"""`sampling` of a card, benchmark or suite file, run entry or flag: short forms and mistakes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.run import AdapterSpec
from medhelm_spark.domain.sampling import (
    CHARACTERS,
    EXTRA,
    SPLIT,
    SUB_SPLIT,
    Condition,
    Sampling,
    SamplingOrder,
)
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, UnknownNameError

KEY = "sampling"
FLAG = "--sampling"
COUNT, SHORT_COUNT = "max_eval_instances", "count"
MAX_SEED = 2**32 - 1
ORDERS = tuple(order.value for order in SamplingOrder)


def expand_short_forms(data: Any) -> Any:
    """A parsed document with `sampling: medhelm` written as `{order: medhelm}`.

    In it `count` means `max_eval_instances`, and in its filter `sub_split: a` and
    `sub_split: [a, b]` for `{values: [...]}`.
    """
    if not isinstance(data, dict) or KEY not in data:
        return data
    return {**data, KEY: _expand_sampling(data[KEY])}


def _expand_sampling(sampling: Any) -> Any:
    return {"order": sampling} if isinstance(sampling, str) else _expand_rule(sampling)


def _expand_rule(sampling: Any) -> Any:
    if not isinstance(sampling, dict):
        return sampling
    if isinstance(sampling.get("filter"), dict):
        conditions = {name: _condition(value) for name, value in sampling["filter"].items()}
        sampling = {**sampling, "filter": conditions}
    if SHORT_COUNT in sampling and COUNT not in sampling:
        return {COUNT if key == SHORT_COUNT else key: value for key, value in sampling.items()}
    return sampling


def _condition(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    return {"values": value if isinstance(value, list) else [value]}


def check_sampling(sampling: Sampling, where: str) -> None:
    """Refuse a rule that cannot be followed.

    Raises:
        ConfigError: A number is out of its bounds, a seed belongs to no draw, or a condition speaks
            of no column or has no use.
    """
    if not 0 <= sampling.seed <= MAX_SEED:
        raise ConfigError(f"{where}: {KEY}.seed is {sampling.seed}; allowed: 0 to {MAX_SEED}.")
    if sampling.seed and sampling.order is SamplingOrder.SOURCE:
        raise ConfigError(
            f"{where}: {KEY}.seed is {sampling.seed}, but the order source draws nothing; "
            "leave it out, or give the order hash or medhelm."
        )
    count = sampling.max_eval_instances
    if count is not None and count < 1:
        raise ConfigError(f"{where}: {KEY}.{COUNT} is {count}; allowed: 1 or more.")
    for column, condition in sampling.filter.items():
        _check_condition(column, condition, f"{where}: {KEY}.filter")


def _check_condition(column: str, condition: Condition, where: str) -> None:
    low, high = condition.minimum, condition.maximum
    if column == CHARACTERS:
        bounds = [0, *(bound for bound in (low, high) if bound is not None)]
        if condition.values or len(bounds) == 1 or bounds != sorted(bounds):
            raise ConfigError(
                f"{where}.{column} takes minimum, maximum or both, whole numbers with "
                "0 <= minimum <= maximum."
            )
        return
    is_extra = column.startswith(EXTRA) and column != EXTRA
    if column not in (SPLIT, SUB_SPLIT) and not is_extra:
        raise UnknownNameError(
            "column", column, (SPLIT, SUB_SPLIT, CHARACTERS, f"{EXTRA}NAME"), where=where
        )
    if not condition.values or low is not None or high is not None:
        raise ConfigError(f"{where}.{column} takes values: one text or a list of texts.")
    evaluated = (Split.VALID.value, Split.TEST.value)
    for value in condition.values if column == SPLIT else ():
        if value not in evaluated:
            raise ConfigError(f"{where}.split is {value!r}; allowed: {', '.join(evaluated)}.")


def sampling_named(value: object, own: Sampling, where: str) -> Sampling:
    """What a run entry's `sampling=medhelm` makes of the card's own rule: its order, no seed."""
    if value not in ORDERS:
        raise ConfigError(f"{where}: {KEY} is {value!r}; allowed: {', '.join(ORDERS)}.")
    return replace(own, order=SamplingOrder(str(value)), seed=0)


def load_sampling(text: str) -> Sampling:
    """The rule of `--sampling`: an order, or a YAML file of the form of a card's `sampling`.

    Raises:
        ConfigError: It is neither, or the file is wrong.
    """
    if text in ORDERS:
        return Sampling(order=SamplingOrder(text))
    if not Path(text).is_file():
        raise ConfigError(
            f"{FLAG} is {text!r}; allowed: {', '.join(ORDERS)}, or a YAML file with order, "
            "seed, max_eval_instances and filter."
        )
    sampling = load_yaml(Path(text), Sampling, _expand_rule)
    check_sampling(sampling, text)
    return sampling


def with_max_eval_instances(spec: AdapterSpec, sampling: Sampling) -> AdapterSpec:
    """The adapter with the rule's `max_eval_instances`, where the rule has it."""
    count = sampling.max_eval_instances
    return spec if count is None else replace(spec, max_eval_instances=count)


def sampled(
    card: ScenarioCard, args: Mapping[str, object], flag: Sampling | None, where: str
) -> ScenarioCard:
    """The card with the rule of an entry: its own order, else the flag's rule, else the card's."""
    if KEY in args:
        return replace(card, sampling=sampling_named(args[KEY], card.sampling, where))
    return card if flag is None else replace(card, sampling=flag)
