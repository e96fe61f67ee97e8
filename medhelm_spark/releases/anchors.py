"""Anchors: the hashes of manifests, kept in a file outside the lake.

Whoever may write the lake can rewrite rows, hashes and manifest together; the file then names
another manifest than the lake has. A line is only ever added.
"""

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.errors import ConfigError, IntegrityError

NONE = "integrity only"
"""What is guaranteed without a file: rows fit the manifest, which lies beside them."""


def anchor_file(file: str | None, lake: str) -> Path | None:
    """The file that the settings name; None where they name none.

    Raises:
        ConfigError: it lies in the lake, or its folder is not there.
    """
    if not file:
        return None
    path = Path(file).expanduser().absolute()
    if path.resolve().is_relative_to(Path(lake).resolve()):
        raise ConfigError(
            f"setting anchor_file is {file!r}, which lies in the lake; allowed: a file that "
            "nobody who writes the lake may change, only add to."
        )
    if not path.parent.is_dir():
        raise ConfigError(f"setting anchor_file is {file!r}, whose folder is not there.")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestAnchor:
    """A line of the file: a release's manifest, and the last record of its provenance then."""

    manifest_hash: str
    record: str = ""
    """The record's hash; empty where the release has none."""


def add_anchor(path: Path, lake: str, release: str, manifest_hash: str, record: str = "") -> bool:
    """Add an anchor in one write; False where it is the last of this release already."""
    anchor = ManifestAnchor(manifest_hash=manifest_hash, record=record)
    if anchored(path, lake, release)[-1:] == [anchor]:
        return False
    entry = {"lake": lake, "release": release, "manifest_hash": manifest_hash}
    line = json.dumps(entry | ({"record": record} if record else {}))
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    return True


def anchored(path: Path, lake: str, release: str) -> list[ManifestAnchor]:
    """The anchors that the file has of a release of a lake, oldest first.

    Raises:
        IntegrityError: a line of the file is not as it was written.
    """
    anchors = []
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if (entry["lake"], entry["release"]) == (lake, release):
                anchors.append(
                    ManifestAnchor(
                        manifest_hash=entry["manifest_hash"], record=entry.get("record", "")
                    )
                )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise IntegrityError(f"{path}: line {number} is no anchor; restore the file.") from None
    return anchors


def guarantee(
    path: Path | None,
    lake: str,
    release: str,
    manifest_hash: str,
    records: Collection[str] = (),
) -> str:
    """That a file outside the lake has the manifest of a release; empty where none has.

    Args:
        path: the file.
        lake: the lake's name there.
        release: the release.
        manifest_hash: the manifest that the lake has.
        records: the hashes of the release's records that the lake has.

    Raises:
        IntegrityError: the file's last anchor of the release has another manifest, or one has a
            record that the lake has not.
    """
    anchors = anchored(path, lake, release) if path else []
    if path is None or not anchors:
        return ""
    if anchors[-1].manifest_hash != manifest_hash:
        raise IntegrityError(
            f"release {release!r}: the lake has manifest {manifest_hash[:12]}, and {path} names "
            f"{anchors[-1].manifest_hash[:12]}: rows and manifest were rewritten since it was "
            "published, or the release was made again without the setting anchor_file."
        )
    if lost := [each.record for each in anchors if each.record and each.record not in records]:
        raise IntegrityError(
            f"release {release!r}: {path} names record {lost[0][:12]} of its provenance, which the "
            "lake has not: the chain was rewritten, or its end removed."
        )
    return f"anchored in {path}"
