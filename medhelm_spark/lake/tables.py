"""Every table, once: name, row type, key, and what may be indexed.

`docs/tables.md` is generated from here. The Delta properties keep clinical text out of the log
(statistics would copy its first characters there) and every table readable without a JVM. The rows
of leases and releases stand here, for only the lake itself needs them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime

from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.left_out import LeftOut
from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.domain.mlflow_run import MlflowRun
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest
from medhelm_spark.domain.request import (
    EVALUATION_KEY,
    Annotation,
    PlannedRequest,
    Prompt,
    RequestResult,
)
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.scenario import Instance, Pin, Quarantined, ScenarioVersion
from medhelm_spark.domain.sending import BegunWave
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.errors import NewerLakeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Row of `leases`: a driver's claim to ask one deployment for one suite until `expires_at`.

    Of lakes in a catalog, or through Spark Connect; others keep leases as files in `_leases`.

    `version` counts the suite's lease commits; two drivers cannot commit the same one. A released
    claim is a row whose `expires_at` is its `claimed_at`.
    """

    suite: str
    version: int
    model_deployment: str
    holder: str
    claimed_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseMember:
    """Row of `releases`: one run of a release and the write that holds its stats.

    `status` is the one that the release began with; what became of it stands in `release_changes`.
    `writes` names by table the writes that hold the run's rows, parted by spaces; `value_hashes` is
    by table the hash of the values of those rows (`lake.value_hash`), which is that of their copies
    too. `manifest_hash` covers all that the rows of `releases` and `release_manifests` say.
    """

    release: str
    status: str
    suite: str
    name: str
    run_spec_id: str
    stats_write_id: str
    created_at: datetime
    manifest_hash: str
    writes: Mapping[str, str] | None = None
    value_hashes: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedStat(Stat):
    """Row of `release_stats`: a stat of a run as the release `release` holds it."""

    release: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedScores(PerInstanceStats):
    """Row of `release_scores`: the stats of one evaluation key as `release` holds them."""

    release: str


SCHEMA_VERSION = 1
WRITE_ID = "write_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One Delta table; `indexed` are the columns whose statistics may stand in the log.

    They are those that a reader narrows by and that are alike within a file: the smallest and
    largest of random ids would tell nothing, and cost a comparison per row. `level` is, in SQL, the
    access level of a row with text.
    """

    name: str
    row: type
    key: tuple[str, ...]
    indexed: tuple[str, ...]
    has_text: bool = False
    level: str = "access_level"
    description: str = ""


_ALL = (
    Table(
        name="scenarios",
        row=ScenarioVersion,
        key=("scenario_name", "data_version"),
        indexed=("scenario_name", "data_version"),
        description="One ingested data version of a scenario.",
    ),
    Table(
        name="pins",
        row=Pin,
        key=("address", "pinned_at"),
        indexed=("scenario_name",),
        description="What addresses gave that no card pins, when this lake first fetched them.",
    ),
    Table(
        name="instances",
        row=Instance,
        key=("data_version", "instance_id", "perturbation"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        description="The data points of a data version.",
    ),
    Table(
        name="level_changes",
        row=LevelChange,
        key=("scenario_name", "data_version", "changed_at"),
        indexed=("scenario_name", "data_version"),
        description="Levels that were lowered: by whom, when, why, and approved by whom.",
    ),
    Table(
        name="quarantine",
        row=Quarantined,
        key=("data_version", "source_file", "source_row"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        description="Raw records that could not become instances, with file, row and reason: a "
        "file's name may be a record number.",
    ),
    Table(
        name="left_out",
        row=LeftOut,
        key=("suite", "name", "left_out_at"),
        indexed=("suite",),
        description="Runs that a suite was asked for and that lack the data of their scenario.",
    ),
    Table(
        name="imported_scenarios",
        row=ImportedScenario,
        key=("scenario_name", "imported_at"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        description="Scenarios read out of another package; the newest of a name is current.",
    ),
    Table(
        name="run_specs",
        row=SuiteRun,
        key=("suite", "name", "planned_at"),
        indexed=("suite", "run_spec_id"),
        has_text=True,
        level="run_spec['access_level']",
        description="RunSpecs planned for a suite, with the words of their prompts; the newest per "
        "(suite, name) is current.",
    ),
    Table(
        name="policy_decisions",
        row=PolicyDecision,
        key=("suite", "run_name", "role", "subject", "decided_at"),
        indexed=("suite",),
        description="Who was allowed to see what, and by which rule.",
    ),
    Table(
        name="prompts",
        row=Prompt,
        key=("render_id", "subject_id", "perturbation", "train_trial_index", "rubric_item"),
        indexed=("render_id",),
        has_text=True,
        description="Rendered text, once for all deployments that are asked it.",
    ),
    Table(
        name="requests",
        row=PlannedRequest,
        key=(*EVALUATION_KEY, "purpose", "annotator", "judge", "rubric_item"),
        indexed=("run_spec_id", "model_deployment"),
        description="What each evaluation key of a RunSpec asks, without text.",
    ),
    Table(
        name="begun_waves",
        row=BegunWave,
        key=("write_id", "model_deployment", "access_level"),
        indexed=("model_deployment",),
        description="How many texts a wave was about to send where, beyond local deployments.",
    ),
    Table(
        name="request_results",
        row=RequestResult,
        key=("request_id", "completed_at"),
        indexed=("model_deployment",),
        has_text=True,
        description="Outcomes of asking: the cache that no stage asks past.",
    ),
    Table(
        name="annotations",
        row=Annotation,
        key=(*EVALUATION_KEY, "annotator", "judge", "rubric_item"),
        indexed=("run_spec_id",),
        has_text=True,
        description="One judge's verdict on one answer, or on one rubric item of it.",
    ),
    Table(
        name="per_instance_stats",
        row=PerInstanceStats,
        key=EVALUATION_KEY,
        indexed=("run_spec_id",),
        description="All stats of one evaluation key.",
    ),
    Table(
        name="stats",
        row=Stat,
        key=("run_spec_id", "name", "split", "perturbation", "computed_on"),
        indexed=("run_spec_id", "name"),
        description="Means with counts, unscored counts and intervals.",
    ),
    Table(
        name="runs",
        row=RunRecord,
        key=("stage", "unit_id", "write_id"),
        indexed=("stage", "unit_id", "suite"),
        description="Finished units of work; decides which stage output is current.",
    ),
    Table(
        name="leases",
        row=Lease,
        key=("suite", "version", "model_deployment"),
        indexed=("suite", "version"),
        description="Which driver may infer for a suite's deployment, until when.",
    ),
    Table(
        name="releases",
        row=ReleaseMember,
        key=("release", "created_at", "suite", "run_spec_id"),
        indexed=("release", "run_spec_id"),
        description="The runs of a release, each pinned to the write that holds its stats.",
    ),
    Table(
        name="release_manifests",
        row=ReleaseManifest,
        key=("release", "created_at"),
        indexed=("release",),
        description="What a release froze beside its runs: suites, schema, taxonomy, judges, "
        "policy, Delta versions, and who made and ran it.",
    ),
    Table(
        name="release_changes",
        row=ReleaseChange,
        key=("release", "manifest_hash", "changed_at"),
        indexed=("release",),
        description="The statuses that releases were given: by whom, when, with which note.",
    ),
    Table(
        name="release_stats",
        row=ReleasedStat,
        key=("release", "run_spec_id", "name", "split", "perturbation", "computed_on"),
        indexed=("release", "run_spec_id"),
        description="A release's own copy of the stats of its runs.",
    ),
    Table(
        name="release_scores",
        row=ReleasedScores,
        key=("release", *EVALUATION_KEY),
        indexed=("release", "run_spec_id"),
        description="A release's own copy of the scores of each evaluation key, without text.",
    ),
    Table(
        name="mlflow_runs",
        row=MlflowRun,
        key=("kind", "name", "model_deployment", "run_spec_id", "tracked_at"),
        indexed=("kind", "name"),
        description="Which MLflow run has the numbers of a model, and of each of its runs; the "
        "newest is current.",
    ),
)

TABLES: Mapping[str, Table] = {table.name: table for table in _ALL}


def columns(table: Table) -> tuple[str, ...]:
    """A table's columns: its row's fields and `write_id` (which `runs` has as a field)."""
    names = tuple(field.name for field in fields(table.row))
    return names if WRITE_ID in names else (*names, WRITE_ID)


def properties(table: Table) -> dict[str, str]:
    """Delta table properties, set when the table is created.

    Every table is append-only, and Delta itself refuses to change or delete a row of it: whoever
    wants to has to take the property away first, in a commit that the table's history keeps.
    """
    return {
        "delta.dataSkippingStatsColumns": ",".join((*table.indexed, WRITE_ID)),
        "delta.appendOnly": "true",
        "delta.enableDeletionVectors": "false",
        "delta.checkpointPolicy": "classic",
        "delta.checkpointInterval": "50",
        "delta.setTransactionRetentionDuration": "interval 3650 days",
        "delta.autoOptimize.optimizeWrite": "false",
    }


def refuse_newer(version: int | None, what: str = "the lake") -> None:
    """Raise NewerLakeError for what was written by a newer schema than this package knows."""
    if version is not None and version > SCHEMA_VERSION:
        raise NewerLakeError(
            f"{what} was written with schema version {version}; this package knows up to "
            f"{SCHEMA_VERSION}. Install a newer medhelm-spark."
        )
