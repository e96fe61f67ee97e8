"""Releases beside the planted lake's R1, which an earlier version made."""

from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest, ReleaseStatus
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.releases.pinned import read_release
from medhelm_spark.releases.tables import ReleasedScores, ReleasedStat, ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash, values_hash
from tests.unit.board.planted import ALPHA, START, append, unit

COPY = "w-copy"


def plant_release(lake: Path, name: str = "R2", scenario: str = "triage_choice") -> str:
    """A draft of one run with rows of its own: ada's, who ran it. Returns its hash.

    The mean of `triage_choice` is 0.75.
    """
    run = unit(ALPHA, scenario)
    reader = open_reader(str(lake))
    where = f"WHERE write_id = 'w-{run}' AND run_spec_id = '{run}'"
    stats = reader.rows(f"SELECT * FROM {{stats}} {where}", Stat)
    scores = reader.rows(f"SELECT * FROM {{per_instance_stats}} {where}", PerInstanceStats)
    append(lake, "release_stats", [_released_row(ReleasedStat, row, name) for row in stats], COPY)
    append(
        lake, "release_scores", [_released_row(ReleasedScores, row, name) for row in scores], COPY
    )
    (old,) = reader.rows("SELECT * FROM {releases} WHERE release = 'R1'", ReleaseMember)
    writes = {
        "scenarios": f"{scenario}-w",
        "per_instance_stats": f"w-{run}",
        "release_stats": COPY,
        "release_scores": COPY,
    }
    member = replace(
        old,
        release=name,
        name=old.name.replace("triage_choice", scenario),
        run_spec_id=run,
        stats_write_id=f"w-{run}",
        manifest_hash="",
        writes={**(old.writes or {}), **writes},
    )
    hashes = read_release(reader, [member]).hashes(member)
    member = replace(member, value_hashes={**hashes, "stats": values_hash(stats)})
    manifest = ReleaseManifest(
        release=name,
        created_at=START,
        suites=("s1",),
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
    written = manifest_hash([member], manifest)
    append(lake, "release_manifests", [manifest], "m")
    append(lake, "releases", [replace(member, manifest_hash=written)], "m")
    return written


def plant_change(lake: Path, to: ReleaseStatus, manifest: str, note: str = "") -> None:
    """A status given to R2 by bob."""
    change = ReleaseChange(
        release="R2",
        manifest_hash=manifest,
        from_status=ReleaseStatus.DRAFT,
        to_status=to,
        changed_by="bob",
        changed_at=START + timedelta(minutes=list(ReleaseStatus).index(to)),
        note=note,
    )
    append(lake, "release_changes", [change], "c")


def _released_row(kind: type, row: object, release: str) -> object:
    return kind(
        release=release,
        **{field.name: getattr(row, field.name) for field in fields(row)},  # type: ignore[arg-type]
    )
