"""Releases of whole planted suites, and groups of patients with a small one hidden."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest, ReleaseStatus
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.views import current_run_specs
from medhelm_spark.releases.pinned import read_release
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from medhelm_spark.subgroups.tables import GroupStat
from tests.unit.board.planted import START, append, finish

SMALL = "rare ward"
"""A group of 4 patients, whose row has names alone."""


def plant_suite_release(lake: Path, suite: str, name: str = "2026-q1", at: datetime = START) -> str:
    """A draft of all summarised runs of a suite, pinned as releases of earlier versions are."""
    reader = open_reader(str(lake))
    runs = sorted(
        reader.rows("SELECT * FROM {runs}", RunRecord), key=lambda record: record.finished_at
    )
    summarized = {row.unit_id: row.write_id for row in runs if row.stage == "summarize"}
    ingested = {row.unit_id: row.write_id for row in runs if row.stage == "ingest"}
    planned = reader.rows(current_run_specs([suite]), SuiteRun)
    members = [
        ReleaseMember(
            release=name,
            status="draft",
            suite=suite,
            name=row.name,
            run_spec_id=row.run_spec_id,
            stats_write_id=summarized[row.run_spec_id],
            created_at=at,
            manifest_hash="",
            writes={"scenarios": ingested[row.run_spec.data_version]},
        )
        for row in planned
        if row.suite == suite and row.run_spec_id in summarized
    ]
    rows = read_release(reader, members)
    members = [replace(each, value_hashes=rows.hashes(each)) for each in members]
    manifest = ReleaseManifest(
        release=name,
        created_at=at,
        suites=(suite,),
        lacking=(),
        made_by="ada",
        ran_by=("ada",),
        num_unnamed=0,
        schema_hash="",
        taxonomy={},
        judges={},
        policy_version="p",
        policy="policy.yaml",
        delta_versions={"stats": 1},
        code_version="0",
        lake_schema_version=1,
    )
    written = manifest_hash(members, manifest)
    append(lake, "release_manifests", [manifest], f"m-{name}")
    append(lake, "releases", [replace(each, manifest_hash=written) for each in members], name)
    return written


def plant_status(lake: Path, name: str, manifest: str, to: ReleaseStatus, note: str = "") -> None:
    """A status given to a draft by bob."""
    change = ReleaseChange(
        release=name,
        manifest_hash=manifest,
        from_status=ReleaseStatus.DRAFT,
        to_status=to,
        changed_by="bob",
        changed_at=START,
        note=note,
    )
    append(lake, "release_changes", [change], f"c-{name}")


def plant_groups(lake: Path, unit: str, metric: str) -> None:
    """Groups by ward of a private run: two are shown, the small one and another are hidden."""
    groups = {"north": (120, 0.9), "south": (60, 0.6)}
    rows = [_shown(unit, metric, ward, count, mean) for ward, (count, mean) in groups.items()]
    rows += [_names(unit, metric, ward) for ward in (SMALL, "west")]
    append(lake, "stats_by_group", rows, f"g-{unit}")
    finish(lake, "summarize-groups", unit, f"g-{unit}")


def _names(unit: str, metric: str, ward: str) -> GroupStat:
    """A row of a hidden group."""
    return GroupStat(
        run_spec_id=unit,
        name=metric,
        split="test",
        group_column="ward",
        group_value=ward,
        access_level=AccessLevel.PRIVATE,
        minimum=11,
        is_hidden=True,
    )


def _shown(unit: str, metric: str, ward: str, count: int, mean: float) -> GroupStat:
    return replace(
        _names(unit, metric, ward),
        is_hidden=False,
        count=count,
        num_unscored=0,
        num_failures=0,
        num_unread=0,
        num_patients=count,
        mean=mean,
        ci_low=mean - 0.05,
        ci_high=mean + 0.05,
        ci_method=IntervalMethod.WILSON,
    )
