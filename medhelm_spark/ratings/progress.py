"""The invitations of a lake as a table: who rates what, how far, until when."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.queue import RaterQueue
from medhelm_spark.ratings.tables import Invitation
from medhelm_spark.render.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationProgress:
    """An invitation and how far its rater is."""

    invitation: Invitation
    num_rated: int
    num_items: int
    """The instances that can be rated now: an instance whose level rose cannot."""

    @property
    def status(self) -> str:
        """`open`, `ended` or `revoked`."""
        if self.invitation.revoked_at is not None:
            return "revoked"
        return "ended" if self.invitation.ends_at <= datetime.now(UTC) else "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitations(Result):
    """Invitations with their progress; raters are pseudonyms."""

    HEADER = (
        *("invitation", "rater", "suite", "scenario", "level", "rated", "items", "status"),
        *("ends_at", "invited_by", "invited_at"),
    )
    invitations: tuple[InvitationProgress, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per invitation."""
        for each in self.invitations:
            row = each.invitation
            yield {
                "invitation": row.invitation_id,
                "rater": row.rater,
                "suite": row.suite,
                "scenario": row.scenario_name,
                "level": row.highest_level.value,
                "rated": each.num_rated,
                "items": each.num_items,
                "status": each.status,
                "ends_at": f"{row.ends_at:%Y-%m-%d %H:%M} UTC",
                "invited_by": row.invited_by,
                "invited_at": f"{row.invited_at:%Y-%m-%d %H:%M} UTC",
            }

    @property
    def notes(self) -> Sequence[str]:
        """What the table does not show."""
        return () if self.invitations else ("no invitation; `ratings invite` makes some",)


def progress_of(reader: Reader, rows: Iterable[Invitation]) -> Iterator[InvitationProgress]:
    """What was rated of each invitation."""
    for row in rows:
        queue = RaterQueue(reader, row, row.highest_level)
        yield InvitationProgress(invitation=row, num_rated=queue.num_rated, num_items=queue.size)
