"""The table of runs that were offline."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.lake.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineRun:
    """Row of `offline_runs`: an evaluation began while its process refused other addresses."""

    suite: str
    began_at: datetime
    began_by: str
    """The operating system's user, which nobody has checked."""
    addresses: tuple[str, ...]
    """The list in force, each with why it is on the list; this machine is never refused."""
    switches: tuple[str, ...]
    """The variables that were set for libraries, as NAME=VALUE."""


TABLES = (
    Table(
        name="offline_runs",
        row=OfflineRun,
        key=("suite", "began_at"),
        indexed=("suite",),
        description="Evaluations that were run with --offline, and the addresses left to each.",
    ),
)
