"""The table of shares."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.lake.tables import Table

MANIFEST = "manifest.json"
"""The file of a share's folder that has the hash of every other file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseShare:
    """Row of `shares`: a folder that was made of a release, scanned and found without a match."""

    share: str
    release: str
    release_manifest: str
    """The manifest hash of the release that it was made of."""
    audience: str
    content: str
    made_at: datetime
    made_by: str
    """The operating system's user, which nobody has checked."""
    manifest_sha256: str
    """The hash of the folder's `manifest.json`, which has the hash of every other file."""
    num_texts: int
    """The texts of gated and private rows that every string of the files was compared with."""
    folder: str | None = None
    """Where it was made, on the machine that made it; None in older rows."""
    num_purged: int | None = None
    """The texts that were purged before, with which nothing was compared; None in older rows."""
    num_waived: int | None = None
    """The matches of patterns that somebody answers for; None in older rows."""
    scan_sha256: str | None = None
    """The hash of the scan's result, which the manifest has too; None in older rows."""


TABLES = (
    Table(
        name="shares",
        row=ReleaseShare,
        key=("share",),
        indexed=("release",),
        description="What was made of releases to be handed on: for whom, when, with which hash.",
    ),
)
