"""The tables of releases, with the rows that no other feature has."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest
from medhelm_spark.domain.request import EVALUATION_KEY
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.lake.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseMember:
    """Row of `releases`: one run of a release and the write of its stats.

    `status` is the one that the release began with; its later statuses are in `release_changes`.
    `writes` names by table the writes of the run's rows, separated by spaces; `value_hashes` is
    by table the hash of the values of those rows (`releases.value_hash`), which is their copies'
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
    """Row of `release_stats`: a stat of a run in the release `release`."""

    release: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedScores(PerInstanceStats):
    """Row of `release_scores`: the stats of one evaluation key in the release `release`."""

    release: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Row of `tombstones`: the digest that a row had before its text was purged.

    `replaced_by` is the digest that the row has since. To verify a release whose manifest hashed
    the row before the purge, `digest` is used wherever the lake has a row with the digest
    `replaced_by`.
    """

    purge_id: str
    table_name: str
    unit: str
    """The value of the column that names the row's run, data version, prompt or request."""
    row_write_id: str
    """The row's write; empty of rows that manifests hash by their unit alone."""
    digest: str
    replaced_by: str


TABLES = (
    Table(
        name="releases",
        row=ReleaseMember,
        key=("release", "created_at", "suite", "run_spec_id"),
        indexed=("release", "run_spec_id"),
        description="The runs of a release, each pinned to the write of its stats.",
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
        name="tombstones",
        row=Tombstone,
        key=("purge_id", "table_name", "unit", "digest"),
        indexed=("purge_id", "table_name"),
        description="The digests of rows whose text was purged, so that manifests still verify.",
    ),
)
