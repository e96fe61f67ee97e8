"""The folders of shares that are not as they were made: `release verify` asks."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.sharing.manifest import changed_files
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.workspace.workspace import Workspace


def changed(workspace: Workspace, held: StoredRelease) -> Iterator[str]:
    """The files of shares of a release that differ, where this machine has their folders."""
    for share in workspace.reader.rows("SELECT * FROM {shares}", ReleaseShare):
        folder = Path(share.folder) if share.folder and share.release == held.name else None
        if folder is None or not folder.is_dir():
            continue
        manifest = folder / MANIFEST
        if not manifest.is_file():
            yield f"{folder} ({MANIFEST} gone)"
        elif sha256(manifest.read_bytes()).hexdigest() != share.manifest_sha256:
            yield str(manifest)
        else:
            yield from (str(folder / name) for name in changed_files(folder))
