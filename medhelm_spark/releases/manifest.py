"""What a release freezes beside its runs: suites, schema, taxonomy, judges, policy, versions."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from medhelm_spark.domain.comparability import JURY, UNKNOWN
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.release import ReleaseManifest
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import (
    ANNOTATE,
    INFER,
    INGEST,
    PLAN,
    PLAN_JUDGES,
    SCORE,
    SUMMARIZE,
)
from medhelm_spark.lake.tables import SCHEMA_VERSION
from medhelm_spark.releases.pinned import ReleaseRows
from medhelm_spark.releases.values import ROW_TABLES, data_versions
from medhelm_spark.stages.context import Context
from medhelm_spark.version import VERSION

FROZEN = ("run_specs", "scenarios", "stats", *ROW_TABLES)
"""The tables whose versions a manifest names."""

OF_RUNS = frozenset(stage.name for stage in (PLAN, PLAN_JUDGES, ANNOTATE, SCORE, SUMMARIZE))
"""The stages whose unit is a run; those of ingest are data versions, those of infer deployments."""

OF_THE_MAKING = (
    "created_at",
    "made_by",
    "ran_by",
    "num_unnamed",
    "delta_versions",
    "code_version",
    "lake_schema_version",
    "stage_versions",
)
"""What a manifest says of its making: a release that differs in nothing else is the same."""


def manifest_of(
    ctx: Context,
    rows: ReleaseRows,
    at: datetime,
    *,
    suites: Sequence[str],
    lacking: Sequence[str],
    policy: Policy,
    schema_hash: str,
) -> ReleaseManifest:
    """The manifest of a release made now, `at` the time in its members' rows."""
    records = _records(ctx, rows)
    versions = {table: ctx.lake.version(table) for table in FROZEN}
    return ReleaseManifest(
        release=rows.members[0].release,
        created_at=at,
        suites=tuple(suites),
        lacking=tuple(sorted(lacking)),
        made_by=ctx.user,
        ran_by=tuple(sorted({record.run_by for record in records if record.run_by})),
        num_unnamed=sum(not record.run_by for record in records),
        schema_hash=schema_hash,
        taxonomy={
            row.scenario_name: " / ".join(filter(None, (row.category, row.subcategory)))
            for row in rows.scenarios.values()
        },
        judges=_judges(ctx, rows),
        policy_version=policy.version,
        policy=policy.label,
        delta_versions={
            table: version for table, version in versions.items() if version is not None
        },
        code_version=VERSION,
        lake_schema_version=SCHEMA_VERSION,
        stage_versions={stage.name: stage.version for stage in (SCORE, SUMMARIZE)},
    )


def as_made_before(manifest: ReleaseManifest, before: ReleaseManifest) -> ReleaseManifest:
    """The manifest with what another one says of its making."""
    return replace(manifest, **{name: getattr(before, name) for name in OF_THE_MAKING})


def _records(ctx: Context, rows: ReleaseRows) -> list[RunRecord]:
    """The finished work behind a release."""
    units = {member.run_spec_id for member in rows.members}
    data = set(data_versions(rows).values())
    suites = {member.suite for member in rows.members}
    return [
        record
        for (stage, unit), record in ctx.ledger.all().items()
        if (stage in OF_RUNS and unit in units)
        or (stage == INGEST.name and unit in data)
        or (stage == INFER.name and record.suite in suites)
    ]


def _judges(ctx: Context, rows: ReleaseRows) -> dict[str, str]:
    """By the name of a judged run, rubric and judges, as the record of its verdicts says."""
    judged = {row.run_spec_id: row.name for row in rows.planned.values() if row.run_spec.annotators}
    records = ctx.finished(ANNOTATE, judged)
    return {
        name: (records[unit].comparability or {}).get(JURY, UNKNOWN) if unit in records else UNKNOWN
        for unit, name in judged.items()
    }
