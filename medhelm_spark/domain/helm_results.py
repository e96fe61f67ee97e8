"""Results that MedHELM or HELM left in a folder, on their way into the lake."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MEDHELM_08, MetricSpec, RunSpec

STORED = "stored"
"""The metric that takes over a value which came with an answer; its stats end in `SUFFIX`."""

STORED_STAT = "stat"
"""The argument of STORED: the name that the stat has in the file."""

SUFFIX = f"@{MEDHELM_08}"
"""The end of the name of an imported run, as of its stats."""

RESCORED = "@rescored"
"""The end of the name of a run that has the same answers, scored here."""

RUN_SPEC, SCENARIO, STATS = "run_spec.json", "scenario.json", "stats.json"
STATES, PER_INSTANCE = "scenario_state.json", "per_instance_stats.json"
RUNS, SCHEMA = "runs", "schema.json"
"""The files of HELM's output folder that are written here too."""

NUM_INSTANCES = "num_instances"
"""HELM's stat of how many instances a run has."""

HELM_RESULTS = "helm results"
"""The `source` of a data version whose instances came with imported results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmFiles:
    """Where the files of one run are, and what its rows are written under.

    `path` is the run's folder. `revision` is the id of its files' bytes. `run_spec_ids` are those
    that its answers count for: the run as imported, and the one that is scored here. `tables`
    names the tables that its files have rows of.
    """

    path: str
    name: str
    scenario_name: str
    model_deployment: str
    access_level: AccessLevel
    revision: str
    data_version: str = ""
    run_spec_ids: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What one run's large files contain, read once from end to end.

    `problem` says why they cannot be imported. `instances` is the id of the set of instances, and
    `splits` their number by split. Of `states`, `answers` have text that was not redacted,
    `silent` have none. `stats` are the names of the stats per instance, `verdicts` counts judges'
    verdicts of which `unread` have an unknown form.
    """

    path: str
    problem: str | None = None
    states: int = 0
    instances: str = ""
    splits: Mapping[str, int] = field(default_factory=dict)
    answers: int = 0
    silent: int = 0
    has_inputs: bool = False
    stats: tuple[str, ...] = ()
    verdicts: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownInstance:
    """An instance of the lake by its content: the same text, references and split."""

    content: str
    instance_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotImported:
    """A run that was left out: its path in the folder, and why.

    `is_copy`: another one of the same name counts in its place.
    """

    name: str
    reason: str
    is_copy: bool = False


def is_stored(spec: RunSpec) -> bool:
    """Whether the values of a RunSpec are those that its files had."""
    return any(metric.name == STORED for metric in spec.metrics)


def stored_stats(spec: RunSpec) -> list[str]:
    """The names, as the files have them, of the stats that a RunSpec takes over."""
    return [metric.args[STORED_STAT] for metric in spec.metrics if metric.name == STORED]


def stored_metric(stat: str, args: Mapping[str, str]) -> MetricSpec:
    """The metric that takes over a stat; `args` say how it is read and what else it depends on."""
    return MetricSpec(name=STORED, args={STORED_STAT: stat, **args})
