"""Metric keys, metric values and params in the form that MLflow accepts: pure functions.

MLflow's names may hold letters, digits and `_ - . / space`, up to 250 characters. Params hold up
to 6,000 characters and can never be changed.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from medhelm_spark.domain.ids import canonical_json, digest
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Stat
from medhelm_spark.statistics.ranking import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE
from medhelm_spark.tracking.records import TrackedRun

MAX_NAME = 250
MAX_PARAM_BYTES = 6000

# A leading dot would read as a relative path; a slash separates scenario and metric.
_REFUSED = re.compile(r"[^\w.-]|^\.")
_MAPPED = re.compile(r" (at|[0-9a-f]+) ")


def allowed_name(name: str) -> str:
    """Map characters that MLflow refuses: `@` to ` at `, others to their code point in spaces.

    >>> allowed_name("accuracy@medhelm-0.8")
    'accuracy at medhelm-0.8'
    >>> allowed_name("f1[yes]")
    'f1 5b yes 5d '
    """
    return _REFUSED.sub(lambda m: " at " if m[0] == "@" else f" {ord(m[0]):x} ", name)


def original_name(name: str) -> str:
    """The inverse of `allowed_name`.

    >>> original_name("f1 5b yes 5d ")
    'f1[yes]'
    """
    return _MAPPED.sub(lambda m: "@" if m[1] == "at" else chr(int(m[1], 16)), name)


def fitting(key: str) -> str:
    """A key of at most 250 characters; the end of a longer one gives way to the key's hash."""
    return key if len(key) <= MAX_NAME else f"{key[: MAX_NAME - 33]}.{digest(key)}"


def metric_key(scenario_name: str, stat: str, suffix: str = "") -> str:
    """`<scenario>/<stat><suffix>`.

    >>> metric_key("medcalc_bench", "accuracy@medhelm-0.8", "_ci_low")
    'medcalc_bench/accuracy at medhelm-0.8_ci_low'
    """
    return fitting(f"{allowed_name(scenario_name)}/{allowed_name(stat)}{suffix}")


def _leaf(value: Any) -> str:
    plain = value.value if isinstance(value, Enum) else value
    shown = plain if isinstance(plain, str) and plain.strip() else canonical_json(plain)
    return shown if len(shown.encode()) <= MAX_PARAM_BYTES else f"hash:{digest(shown)}"


def flatten(value: Any, key: str = "") -> dict[str, str]:
    """A nested value as params with dotted keys.

    Dataclasses, mappings and sequences of dataclasses are entered; all else becomes text: strings
    as they are, the rest, and strings of mere white space, as JSON. A text of more than 6,000
    bytes is over MLflow's limit and stands there as `hash:` and its content id.

    >>> flatten({"a": {"b": 1, "c": ("x", "y")}, "d": ""})
    {'a.b': '1', 'a.c': '["x","y"]', 'd': '""'}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner: Iterable[tuple[str, Any]] = [
            (field.name, getattr(value, field.name)) for field in dataclasses.fields(value)
        ]
    elif isinstance(value, Mapping) and value:
        inner = value.items()
    elif isinstance(value, tuple | list) and any(dataclasses.is_dataclass(v) for v in value):
        inner = [(str(index), item) for index, item in enumerate(value)]
    else:
        return {fitting(key): _leaf(value)}
    dot = f"{key}." if key else ""
    pairs = [flatten(item, f"{dot}{allowed_name(name)}") for name, item in inner]
    return {name: text for part in pairs for name, text in part.items()}


def params_of(run_spec: RunSpec) -> dict[str, str]:
    """The params of a RunSpec: exactly its fields, flattened."""
    return flatten(run_spec)


def _values(scenario: str, stat: Stat, *, is_main: bool) -> dict[str, float | None]:
    counts: dict[str, float | None] = {"n": stat.count, "n_unscored": stat.num_unscored}
    return {
        metric_key(scenario, stat.name): stat.mean,
        metric_key(scenario, stat.name, "_ci_low"): stat.ci_low,
        metric_key(scenario, stat.name, "_ci_high"): stat.ci_high,
    } | ({metric_key(scenario, k): v for k, v in counts.items()} if is_main else {})


def work_metrics(work: Mapping[str, float]) -> dict[str, float]:
    """What asking cost, under keys of its own.

    >>> work_metrics({"tokens_per_second": 61.5})
    {'infer/tokens_per_second': 61.5}
    """
    return {fitting(f"infer/{allowed_name(name)}"): value for name, value in work.items()}


def metrics_of(
    runs: Iterable[TrackedRun],
    mean_win_rate: float | None = None,
    medhelm_mean_win_rate: float | None = None,
) -> dict[str, float]:
    """Metric values of one deployment's runs by key; what has no value is left out.

    All stats of the main split without perturbation; `n` and `n_unscored` are the main metric's.
    A further run of a scenario stands under `<scenario>@<what differs>`, as on the leaderboard.
    The win rates are the board's.
    """
    found: dict[str, float | None] = {
        MEAN_WIN_RATE: mean_win_rate,
        allowed_name(MEDHELM_MEAN_WIN_RATE): medhelm_mean_win_rate,
    }
    for run in runs:
        spec = run.run_spec
        scenario = f"{spec.scenario_name}@{run.variant}" if run.variant else spec.scenario_name
        for stat in run.stats:
            if stat.split == spec.main_split and not stat.perturbation:
                found |= _values(scenario, stat, is_main=stat.name == spec.main_metric)
    return {key: float(value) for key, value in found.items() if value is not None}
