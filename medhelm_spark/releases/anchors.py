"""Anchors: the hashes of manifests, kept in a file outside the lake.

Whoever may write the lake can rewrite rows, hashes and manifest together; the file then names
another manifest than the lake has. A line is only ever added.
"""

import json
import os
from pathlib import Path

from medhelm_spark.errors import ConfigError, IntegrityError

NONE = "integrity only"
"""What is guaranteed without a file: rows fit the manifest, which lies beside them."""


def anchor_file(place: str | None, lake: str) -> Path | None:
    """The file that the settings name; None where they name none.

    Raises:
        ConfigError: it lies in the lake, or its folder is not there.
    """
    if not place:
        return None
    path = Path(place).expanduser().absolute()
    if path.resolve().is_relative_to(Path(lake).resolve()):
        raise ConfigError(
            f"setting anchor_file is {place!r}, which lies in the lake; allowed: a file that "
            "nobody who writes the lake may change, only add to."
        )
    if not path.parent.is_dir():
        raise ConfigError(f"setting anchor_file is {place!r}, whose folder is not there.")
    return path


def add_anchor(path: Path, lake: str, release: str, manifest_hash: str) -> bool:
    """Add a manifest's hash in one write; False where it is the last of this release already."""
    if anchored(path, lake, release)[-1:] == [manifest_hash]:
        return False
    line = json.dumps({"lake": lake, "release": release, "manifest_hash": manifest_hash})
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    return True


def anchored(path: Path, lake: str, release: str) -> list[str]:
    """The hashes that the file has of a release of a lake, oldest first.

    Raises:
        IntegrityError: a line of the file is not as it was written.
    """
    hashes = []
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            held = json.loads(line)
            if (held["lake"], held["release"]) == (lake, release):
                hashes.append(str(held["manifest_hash"]))
        except (ValueError, KeyError, TypeError):
            raise IntegrityError(f"{path}: line {number} is no anchor; restore the file.") from None
    return hashes


def guarantee(path: Path | None, lake: str, release: str, manifest_hash: str) -> str:
    """What is guaranteed of a release whose rows fit its manifest.

    Raises:
        IntegrityError: the file's last hash of the release is another one.
    """
    hashes = anchored(path, lake, release) if path else []
    if path is None or not hashes:
        return NONE
    if hashes[-1] != manifest_hash:
        raise IntegrityError(
            f"release {release!r}: the lake has manifest {manifest_hash[:12]}, and {path} names "
            f"{hashes[-1][:12]}: rows and manifest were rewritten since it was published, or the "
            "release was made again without the setting anchor_file."
        )
    return f"anchored in {path}"
