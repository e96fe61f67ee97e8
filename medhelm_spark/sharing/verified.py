"""The folders of shares that are not as they were made, for `release verify`."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.sharing.manifest import changed_files
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.workspace.workspace import Workspace


def newest_by_folder(shares: Iterable[ReleaseShare]) -> dict[str | None, ReleaseShare]:
    """The share that a folder may still have; an earlier one is gone, as a folder is made anew."""
    return {share.folder: share for share in sorted(shares, key=lambda row: row.made_at)}


def changed(workspace: Workspace, release: StoredRelease) -> Iterator[str]:
    """The folders of shares of a release that differ, where this machine has them: a sentence each.

    The release itself is not affected.
    """
    shares: list[ReleaseShare] = workspace.reader.rows("SELECT * FROM {shares}", ReleaseShare)
    for share in newest_by_folder(shares).values():
        if share.release != release.name or not (wrong := _wrong(share)):
            continue
        yield (
            f"share {share.share} is not as it was made: {share.folder}: "
            f"{first_of(wrong, 3)}. The release is not affected; do not hand this folder on, "
            f"`release share {release.name}` makes another"
        )


def _wrong(share: ReleaseShare) -> list[str]:
    """The files of a share that differ; none where its folder is not here."""
    folder = Path(share.folder) if share.folder else None
    if folder is None or not folder.is_dir():
        return []
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"{MANIFEST} (gone)"]
    if sha256(manifest.read_bytes()).hexdigest() != share.manifest_sha256:
        return [MANIFEST]
    return changed_files(folder)
