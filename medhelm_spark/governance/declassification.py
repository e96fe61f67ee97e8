"""Levels lowered on record: who lowered them, and the data version that a reviewed change makes.

Rows keep their level for good. A reviewed change makes another data version of them, with the
lower level; without a review the data stays as it is, and its text on local deployments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import (
    Approval,
    LevelChange,
    lowering_of,
    lowest_approved,
    review,
)
from medhelm_spark.domain.scenario import LOWERED_SOURCE, ScenarioVersion
from medhelm_spark.domain.stages import INGEST, LOWER_LEVEL
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import literal
from medhelm_spark.policy.levels import level_sql, strictness_sql
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.stages.run_stage import Written, run_stage

DERIVED = ("perturbed ", LOWERED_SOURCE)
"""How the `source` of a data version begins that was made of another one."""


LOWERED = """
SELECT * EXCEPT (access_level, data_version, write_id),
       @level AS access_level, @target AS data_version
FROM {base}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lowered:
    """A data version to be made of `base`: its rows, none above `access_level`."""

    name: str
    base: Ingested
    access_level: AccessLevel


def lower_level(
    ctx: Context,
    scenario: str,
    to_level: AccessLevel,
    reason: str,
    *,
    changed_by: str,
    approvals: Sequence[Approval] = (),
) -> LevelChange:
    """Record that the level of a scenario's newest data is lower than was stated.

    Raises:
        ConfigError: no reason is given, or the level is not lower.
        UnknownNameError: the lake has no data of the scenario.
    """
    ctx = ctx.within(LOWER_LEVEL)
    if not reason.strip():
        raise ConfigError("--reason is empty; allowed: why the level is lower, in a sentence.")
    newest = _newest(ctx, scenario)
    changes = _changes(ctx)
    level = lowering_of(newest.access_level, newest.data_version, changes, approvals).access_level
    if to_level.strictness >= level.strictness:
        raise ConfigError(f"--to {to_level}: the data of scenario {scenario!r} is {level} already.")
    change = review(
        LevelChange(
            scenario_name=scenario,
            data_version=newest.data_version,
            from_level=level,
            to_level=to_level,
            reason=reason.strip(),
            changed_by=changed_by,
            changed_at=now(each.changed_at for each in changes),
        ),
        approvals,
    )
    ctx.lake.append_rows("level_changes", [change], new_write_id())
    return change


def _newest(ctx: Context, scenario: str) -> ScenarioVersion:
    """The data version of the scenario that was ingested last, not one made of another."""
    rows = {
        row.data_version: row
        for row in ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
        if not row.source.startswith(DERIVED)
    }
    own = [version for version, row in rows.items() if row.scenario_name == scenario]
    finished = ctx.finished(INGEST, own).values()
    if not finished:
        known = {row.scenario_name for row in rows.values()}
        raise UnknownNameError("scenario with data in this lake", scenario, known)
    return rows[max(finished, key=lambda record: record.finished_at).unit_id]


def _changes(ctx: Context) -> list[LevelChange]:
    return ctx.lake.rows("SELECT * FROM {level_changes}", LevelChange)


def approved_levels(ctx: Context, approvals: Sequence[Approval]) -> dict[str, AccessLevel]:
    """By scenario name, the lowest level that approved changes may give its data."""
    return lowest_approved(_changes(ctx.within(INGEST)), approvals) if approvals else {}


def lowered_level(
    ctx: Context, level: AccessLevel, data_version: str, approvals: Sequence[Approval]
) -> AccessLevel:
    """The level of a data version as its recorded and approved changes make it."""
    changes = _changes(ctx.within(INGEST))
    return lowering_of(level, data_version, changes, approvals).access_level


def lowered(
    ctx: Context, data: Mapping[str, Ingested], approvals: Sequence[Approval]
) -> dict[str, Ingested]:
    """The data by scenario name as its recorded changes make it: lower where they are reviewed."""
    ctx = ctx.within(INGEST)
    changes, current, versions = _changes(ctx), dict(data), {}
    for name, base in data.items():
        lowering = lowering_of(base.access_level, base.data_version, changes, approvals)
        current[name] = replace(base, is_unreviewed=lowering.is_unreviewed)
        if lowering.access_level is not base.access_level:
            target = INGEST.fingerprint("lowered", base.data_version, lowering.access_level)
            versions[target] = _Lowered(name=name, base=base, access_level=lowering.access_level)
            current[name] = replace(
                current[name], data_version=target, access_level=lowering.access_level
            )
            ctx.say(
                f"ingest: {name} counts as {lowering.access_level}, not {base.access_level}: "
                "lowered on record and approved in the binding policy"
            )

    def write(ctx: Context, targets: Sequence[str], write_id: str) -> Written:
        for target in targets:
            _copy(ctx, versions[target], target, write_id)
        rows = list(_entered(ctx, {target: versions[target] for target in targets}))
        ctx.lake.append_rows("scenarios", rows, write_id)
        return Written(counts={target: versions[target].base.counts for target in targets})

    run_stage(ctx, INGEST, {target: target for target in versions}, write)
    return current


def _copy(ctx: Context, version: _Lowered, target: str, write_id: str) -> None:
    """Append the base's rows as the target's; rows of a stricter level get the lower one."""
    base = ctx.current("instances", INGEST, [version.base.data_version], "data_version")
    strictness = f"least({strictness_sql('access_level')}, {version.access_level.strictness})"
    sql = LOWERED.replace("@target", literal(target)).replace("@level", level_sql(strictness))
    ctx.lake.append("instances", ctx.lake.query(sql, base=base), write_id)


def _entered(ctx: Context, targets: Mapping[str, _Lowered]) -> Iterator[ScenarioVersion]:
    rows = ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    known = {row.data_version: row for row in rows}
    for target, version in targets.items():
        base = version.base.data_version
        if base in known:
            yield replace(
                known[base],
                data_version=target,
                card_hash=target,
                access_level=version.access_level,
                source=f"{LOWERED_SOURCE}{base}",
            )
