"""Runs a stage for the units that are outdated, and records them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.stages import INGEST, PLAN, SCORE, SUMMARIZE, Stage
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.stages.context import Context, now


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the records of units contain beside their fingerprints, by unit."""

    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    comparability: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


ROWS_OF: Mapping[str, str] = {
    INGEST.name: "instances",
    PLAN.name: "requests",
    SCORE.name: "per_instance_stats",
    SUMMARIZE.name: "stats",
}
"""By stage, the table that has rows of every unit that the stage finishes."""

Write = Callable[[Context, Sequence[str], str], Written | None]
"""Appends the rows of some units under a write id."""


def outdated(ctx: Context, stage: Stage, fingerprints: Mapping[str, str]) -> list[str]:
    """The units that the stage has not finished by these fingerprints, or whose rows are gone.

    Rows are gone if power failed during a commit of their table: the record has another commit.
    """
    done = ctx.finished(stage, fingerprints)
    table = ROWS_OF.get(stage.name)
    written = {record.write_id for record in done.values()}
    lost = ctx.lake.lacks(table, written) if table and written else set()
    return [
        unit
        for unit, fingerprint in fingerprints.items()
        if unit not in done or done[unit].fingerprint != fingerprint or done[unit].write_id in lost
    ]


def run_stage(
    ctx: Context, stage: Stage, fingerprints: Mapping[str, str], write: Write
) -> list[str]:
    """Write the units that are outdated, then record them; returns them.

    The rows that `write` appends become current with the record, so a crash leaves the earlier rows
    current. `write` gets a context whose lake refuses undeclared tables.

    Args:
        ctx: the lake and suite.
        stage: the stage.
        fingerprints: by unit that should be finished, the fingerprint of its inputs.
        write: appends the rows of some units.
    """
    ctx, started_at, write_id = ctx.within(stage), now(), new_write_id()
    todo = outdated(ctx, stage, fingerprints)
    if todo:
        written = write(ctx, todo, write_id) or Written()
        ctx.record(
            stage,
            {unit: fingerprints[unit] for unit in todo},
            write_id,
            started_at,
            written.counts,
            comparability=written.comparability,
        )
    if stage.done:
        ctx.say(
            f"{stage.name}: {len(todo)} of {counted(len(fingerprints), 'run spec')} {stage.done}"
        )
    return todo
