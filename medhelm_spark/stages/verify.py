"""verify: whether every value that a release pinned still is what was published."""

from medhelm_spark.domain.counting import counted
from medhelm_spark.lake.release import members_of, read_release, refuse_changed
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.release_values import row_changes


def verify(ctx: Context, release: str) -> str:
    """Hash all rows of a release again; returns its manifest hash. Writes nothing.

    The hashes stand in the lake themselves: this tells a value that was changed, not a person who
    changed the hashes with it.

    Raises:
        IntegrityError: Something was changed; it names tables and runs.
    """
    rows = read_release(ctx.lake, members_of(ctx.lake, release))
    refuse_changed(release, rows, row_changes(ctx.lake, rows))
    held = rows.members[0].manifest_hash
    size = counted(len(rows.members), "run")
    ctx.say(f"verify: release {release!r}, {size}: every value is as published (integrity only)")
    return held
