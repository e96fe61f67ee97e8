"""What the package logs to MLflow: runs and suites as plain rows, with MLflow's names.

The rows contain no text of an instance and no source id. Of gated and private prompts they contain
only hashes, and of such runs no stat of a single right answer. A name in MLflow has letters, digits
and `_ - . / space`, up to 250 characters. A param has up to 6,000 characters, and MLflow does not
let a program change it.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import canonical_json, digest
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Stat
from medhelm_spark.metrics.classification import labels_of
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.ranking import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE

MAX_NAME = 250
MAX_PARAM_BYTES = 6000
SCORES = "0_scores"
"""The group of metrics that the board shows: one for each scenario, and the win rate.

MLflow's pages sort metrics by name: in a scenario's own group `answer_unreadable` and
`jury_coverage` come first. The digit sorts this group before the groups of all scenarios.
"""

WORDED = (
    "adapter_spec.",
    "prompt_variants.",
    "answer_extraction.",
    "medhelm.",
    "sampling.filter.",
)
"""Beginnings of the names of params whose values may contain words of prompts or of data."""

NOT_WORDS = frozenset(
    [
        "name",
        "method",
        "unreadable",
        "max_train_instances",
        "max_eval_instances",
        "num_outputs",
        "num_train_trials",
        "num_trials",
        "sample_train",
        "temperature",
        "max_tokens",
        "multi_label",
        "eval_splits",
        "random",
    ]
)
"""Last parts of such names: the values of these params contain no words of prompts or data."""

ARGUMENTS = re.compile(r"(metrics|perturbations)\.\d+\.args\.")
"""Beginnings of the names of arguments, whose names do not show what their values contain."""

OF_ONE = re.compile(r"\[(.*)\]")
"""What a stat's name states beside the metric: a label or a pair of them, a criterion, a field."""

METRIC_NAME = re.compile(r"main_metric|metrics\.\d+\.name")
"""The params whose values are names of stats."""

BLANK = ("null", "true", "false", "[]", "{}", '""')

# MLflow would read a leading dot as a relative path; a slash separates scenario and metric.
_REFUSED = re.compile(r"[^\w.-]|^\.")
_MAPPED = re.compile(r" (at|[0-9a-f]+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """One current RunSpec with its stats."""

    run_spec: RunSpec

    stats: tuple[Stat, ...]

    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each stage, by the stage's name."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """Row counts by name."""

    variant: str = ""
    """The board's name for a further run of a model on the same scenario; empty for the first."""

    page: str = ""
    """Where the dashboard shows the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedSuite:
    """One model deployment's runs in one suite."""

    suite: str

    model_deployment: str

    runs: tuple[TrackedRun, ...]

    mean_win_rate: float | None = None
    """The win rate that the board shows."""

    medhelm_mean_win_rate: float | None = None
    """The win rate by MedHELM's rule."""

    superseded: tuple[str, ...] = ()
    """The run_spec_ids that the suite planned before and no longer reads."""

    work: Mapping[str, float] = field(default_factory=dict)
    """The cost of inference by name: requests, tokens, seconds, tokens per second, failures."""

    delta_versions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By table: its path, URI or catalog name, and the version that the numbers come from."""

    cells: Mapping[str, BoardCell] = field(default_factory=dict)
    """The model's cells of the board, by the name with which their metrics begin."""

    page: str = ""
    """Where the dashboard shows the model."""


def allowed_name(name: str) -> str:
    """Replaces characters that MLflow refuses: `@` by ` at `, others by their hex code in spaces.

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
    """A key of at most 250 characters; a longer key is cut and ends with the whole key's hash."""
    return key if len(key) <= MAX_NAME else f"{key[: MAX_NAME - 33]}.{digest(key)}"


def metric_key(scenario_name: str, stat: str, suffix: str = "") -> str:
    """The name of a metric in MLflow: `<scenario>/<stat><suffix>`.

    >>> metric_key("medcalc_bench", "accuracy@medhelm-0.8", "_ci_low")
    'medcalc_bench/accuracy at medhelm-0.8_ci_low'
    """
    return fitting(f"{allowed_name(scenario_name)}/{allowed_name(stat)}{suffix}")


def _leaf(value: Any) -> str:
    plain = value.value if isinstance(value, Enum) else value
    text = plain if isinstance(plain, str) and plain.strip() else canonical_json(plain)
    return text if len(text.encode()) <= MAX_PARAM_BYTES else f"hash:{digest(text)}"


def flatten(value: Any, key: str = "") -> dict[str, str]:
    """A nested value as params with dotted keys.

    The function flattens dataclasses, mappings and sequences of dataclasses. A string stays
    unchanged; any other value, also a blank string, becomes JSON. A text of more than 6,000 bytes
    (MLflow's limit) becomes `hash:` and its digest.

    >>> flatten({"a": {"b": 1, "c": ("x", "y")}, "d": ""})
    {'a.b': '1', 'a.c': '["x","y"]', 'd': '""'}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner: Iterable[tuple[str, Any]] = [
            (each.name, getattr(value, each.name)) for each in dataclasses.fields(value)
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
    """The params of a RunSpec: exactly its fields, flattened.

    If the data is not public, params about prompts and about reading answers may contain clinical
    text. Such a param becomes `hash:` and its digest, like a text that is too long, and so does a
    label in the name of a metric.
    """
    if run_spec.access_level == AccessLevel.PUBLIC:
        return flatten(run_spec)
    labels = _guarded_labels([run_spec])
    return {name: _hashed(name, text, labels) for name, text in flatten(run_spec).items()}


def _hashed(name: str, text: str, labels: frozenset[str]) -> str:
    if METRIC_NAME.fullmatch(name):
        return _without_label(text, labels)
    is_worded = name.startswith(WORDED) and name.rpartition(".")[2] not in NOT_WORDS
    is_hashed = (is_worded or ARGUMENTS.match(name)) and text not in BLANK
    return f"hash:{digest(text)}" if is_hashed else text


def _guarded_labels(run_specs: Iterable[RunSpec]) -> frozenset[str]:
    """The right answers that metrics of runs above public declare: one may be a patient's."""
    return frozenset(
        label
        for run_spec in run_specs
        if run_spec.access_level != AccessLevel.PUBLIC
        for metric in run_spec.metrics
        for label in labels_of(metric.args)
    )


def _without_label(stat: str, labels: frozenset[str]) -> str:
    """The name of a stat, with the hash of the label or of the pair that is in it.

    >>> _without_label("f1[yes]", frozenset()), _without_label("f1[yes]", frozenset(["yes"]))[:10]
    ('f1[yes]', 'f1[hash:81')
    """
    inside = OF_ONE.search(stat)
    if inside is None or not any(_is_of(label, inside[1]) for label in labels):
        return stat
    return f"{stat[: inside.start()]}[hash:{digest(inside[1])}]{stat[inside.end() :]}"


def _is_of(label: str, inside: str) -> bool:
    """Whether this part of a stat's name is the label, or a pair `right>given` with it."""
    return inside == label or inside.startswith(f"{label}>") or inside.endswith(f">{label}")


def _values(name: str, number: Stat | BoardCell, metric: str) -> dict[str, float | None]:
    """The mean and the interval of a stat or a cell, by the keys `<name>/<metric>...`."""
    return {
        metric_key(name, metric): number.mean,
        metric_key(name, metric, "_ci_low"): number.ci_low,
        metric_key(name, metric, "_ci_high"): number.ci_high,
    }


def _counts(name: str, number: Stat | BoardCell) -> dict[str, float | None]:
    return {
        metric_key(name, "n"): number.count,
        metric_key(name, "n_unscored"): number.num_unscored,
    }


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {key: float(value) for key, value in values.items() if value is not None}


def work_metrics(work: Mapping[str, float]) -> dict[str, float]:
    """The cost of inference as metrics under `infer/`.

    >>> work_metrics({"tokens_per_second": 61.5})
    {'infer/tokens_per_second': 61.5}
    """
    return {fitting(f"infer/{allowed_name(name)}"): value for name, value in work.items()}


def metrics_of(run: TrackedRun) -> dict[str, float]:
    """The metric values of one run, by key; a stat without a value is left out.

    The function takes all stats of the main split without perturbation. `n` and `n_unscored` belong
    to the main metric, whose mean is in the group SCORES too. The keys of a further run of a
    scenario begin with `<scenario>@<variant>`.

    Of a run that is not public the function leaves out the stats of one label or of a pair: they
    may be counts of one patient. A main metric of one label has the label's hash in its name.
    """
    spec = run.run_spec
    labels = _guarded_labels([spec])
    values: dict[str, float | None] = {}
    name = shown_name(spec.scenario_name, run.variant)
    for stat in run.stats:
        if stat.split == spec.main_split and not stat.perturbation:
            metric, is_main = _without_label(stat.name, labels), stat.name == spec.main_metric
            if is_main or metric == stat.name:
                values |= _values(name, stat, metric)
            if is_main:
                values |= _counts(name, stat) | {metric_key(SCORES, name): stat.mean}
    return _known(values)


def suite_metrics(suite: TrackedSuite) -> dict[str, float]:
    """Metric values of one model's runs and of its row of the board, by key.

    The group SCORES contains exactly the numbers that the board shows. For a scenario in parts the
    board shows the mean over the parts, which no single run has.
    """
    runs = (metrics_of(run).items() for run in suite.runs)
    values = {key: value for run in runs for key, value in run if not is_shown(key)}
    rates: dict[str, float | None] = {
        metric_key(SCORES, MEAN_WIN_RATE): suite.mean_win_rate,
        MEAN_WIN_RATE: suite.mean_win_rate,
        allowed_name(MEDHELM_MEAN_WIN_RATE): suite.medhelm_mean_win_rate,
    }
    labels = _guarded_labels(run.run_spec for run in suite.runs)
    for name, cell in suite.cells.items():
        is_public = cell.access_level == AccessLevel.PUBLIC
        metric = cell.main_metric if is_public else _without_label(cell.main_metric, labels)
        own = _values(name, cell, metric) | _counts(name, cell)
        values |= _known(own | {metric_key(SCORES, name): cell.mean})
    return values | _known(rates)


def shown_name(scenario_name: str, variant: str) -> str:
    """The beginning of a scenario's metric names; a further run of a model adds its variant.

    >>> shown_name("qa", ""), shown_name("qa", "n=3")
    ('qa', 'qa@n=3')
    """
    return f"{scenario_name}@{variant}" if variant else scenario_name


def is_shown(key: str) -> bool:
    """Whether a metric belongs to the group SCORES."""
    return key.startswith(f"{SCORES}/")
