"""The writes that releases pin: gc keeps them whole."""

from medhelm_spark.releases.pinned import CURRENT_RELEASES, Rows
from medhelm_spark.releases.tables import ReleaseMember


def released_writes(source: Rows) -> set[str]:
    """The writes that the members of releases name."""
    return {
        write
        for member in source.rows(CURRENT_RELEASES, ReleaseMember)
        for text in (member.stats_write_id, *(member.writes or {}).values())
        for write in text.split()
    }
