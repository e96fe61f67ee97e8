"""What a lake has on record of purges, and the refusal of a purged scenario."""

from collections.abc import Iterable

from medhelm_spark.domain.purge import Purge
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.location import Location
from medhelm_spark.workspace.workspace import Workspace


def purges_of(workspace: Workspace) -> list[Purge]:
    """The purges of a lake, oldest first; of each its newest row."""
    if not Location.of(workspace.location).may_exist:
        return []
    rows = workspace.reader.rows("SELECT * FROM {purges}", Purge)
    newest = {
        row.purge_id: row for row in sorted(rows, key=lambda row: row.finished_at is not None)
    }
    return sorted(newest.values(), key=lambda row: (row.begun_at, row.purge_id))


def refuse_purged(workspace: Workspace, scenarios: Iterable[str]) -> None:
    """Refuse scenarios whose text was purged: no command brings it into the lake again.

    Raises:
        PolicyError: it names the agreement and the day.
    """
    purged = {row.scenario_name: row for row in purges_of(workspace)}
    for name in scenarios:
        if name in purged:
            row = purged[name]
            raise PolicyError(
                f"scenario {name!r} was purged from this lake under agreement {row.agreement!r} on "
                f"{row.begun_at:%Y-%m-%d} by {row.purged_by}; under another agreement its data "
                "goes into another lake."
            )
