"""A release's own rows: copies of the stats and scores of its runs, which nothing later touches.

They are written under an id that follows from their values, so that the same release made twice, or
made again after a crash, has them once.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.domain.stats import Stat, values_of
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.rows import Frame, sorted_rows
from medhelm_spark.lake.tables import TABLES, WRITE_ID, columns
from medhelm_spark.releases.parts import parts_of
from medhelm_spark.releases.pinned import COPIES, Change, ReleaseRows, own_stats
from medhelm_spark.releases.tables import ReleasedStat, ReleaseMember
from medhelm_spark.releases.value_hash import values_hash
from medhelm_spark.releases.values import ValuePin, copied_changes, pinned
from medhelm_spark.stages.context import Context

SCORES = "per_instance_stats"


def with_copies(release: str, members: Sequence[ReleaseMember]) -> list[ReleaseMember]:
    """The members, whose value hashes are known, with the write of the release's own rows."""
    write_id = content_id(release, {row.run_spec_id: row.value_hashes for row in members})
    own = dict.fromkeys(COPIES, write_id)
    return [replace(member, writes={**(member.writes or {}), **own}) for member in members]


def write_copies(ctx: Context, rows: ReleaseRows, scores: Collection[ValuePin]) -> None:
    """Append the release's own rows; `scores` are the writes of the runs' scores.

    Args:
        ctx: the lake.
        rows: the release, its members naming the write of the copies, its stats the lake's.
        scores: the writes of the scores of its runs.

    Raises:
        LakeError: What was written is not what was to be copied.
    """
    stats_table, scores_table = COPIES
    release = rows.members[0].release
    write_id = (rows.members[0].writes or {})[stats_table]
    txn = (write_id, 1)
    ctx.lake.append_rows(stats_table, _stats(rows, release), write_id, txn=txn)
    names = ", ".join(name for name in columns(TABLES[SCORES]) if name != WRITE_ID)
    sql = f"SELECT {names}, {literal(release)} AS release FROM {{pinned}}"

    def copied() -> Iterator[Frame]:
        for units in parts_of(ctx.lake, SCORES, {pin.unit for pin in scores}):
            of_part = pinned(SCORES, (pin for pin in scores if pin.unit in units))
            part = ctx.lake.query(sql, pinned=ctx.lake.read(SCORES, of_part))
            yield sorted_rows(part, "run_spec_id", by=("run_spec_id",))

    ctx.lake.ensure(scores_table)
    in_turn = ctx.lake.in_turn(copied)
    ctx.lake.append(scores_table, in_turn, write_id, txn=txn, at_most=_size(ctx, rows))
    with ctx.metered("publish: copied rows hashed") as watch:
        wrong = [*copied_changes(ctx.lake, rows, watch), *_stats_changes(ctx, rows)]
    if wrong:
        raise LakeError(
            f"release {release!r} is not made: its own rows are not those of the lake "
            f"({', '.join(map(str, wrong[:3]))}); was the lake written meanwhile? Publish again."
        )


def _stats_changes(ctx: Context, rows: ReleaseRows) -> Iterator[Change]:
    stats = own_stats(ctx.lake, rows.members)
    for member in rows.members:
        written = values_hash(stats.get(member.run_spec_id, ()))
        if written != (member.value_hashes or {}).get("stats"):
            yield Change(table=COPIES[0], name=member.name)


def _stats(rows: ReleaseRows, release: str) -> list[ReleasedStat]:
    return [
        ReleasedStat(release=release, **values_of(stat, Stat))
        for stats in rows.stats.values()
        for stat in stats
    ]


def _size(ctx: Context, rows: ReleaseRows) -> int | None:
    """How many scores there can be; None where an earlier record lacks the number."""
    records = ctx.finished(SCORE, [member.run_spec_id for member in rows.members]).values()
    counts = [record.counts.get("requests") for record in records]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(rows.members) else None
