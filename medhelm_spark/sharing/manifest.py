"""The manifest of a share's folder, and whether the files are what it says."""

import hashlib
import json
from pathlib import Path
from typing import Any

from medhelm_spark.errors import PolicyError
from medhelm_spark.sharing.tables import MANIFEST

STANDING = "where_it_stands"
"""The key of the lines on the release's status and approval."""


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a share; None of any other folder."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    is_share = isinstance(document, dict) and {"share", "files"} <= document.keys()
    is_share = is_share and _are_files(document["files"]) and _are_texts(document.get(STANDING, []))
    return document if is_share else None


def _are_files(listed: Any) -> bool:
    return isinstance(listed, list) and all(
        isinstance(each, dict) and _are_texts([each.get("name"), each.get("sha256")])
        for each in listed
    )


def _are_texts(listed: Any) -> bool:
    return isinstance(listed, list) and all(isinstance(each, str) for each in listed)


def changed_files(folder: Path) -> list[str]:
    """The files of a share that are not what its manifest says, or are missing or too many.

    A link is none of its files, whatever it leads to.

    Raises:
        PolicyError: the folder has no manifest.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise PolicyError(f"{folder} has no {MANIFEST} of a share: it is no share.")
    listed = {each["name"]: each["sha256"] for each in manifest["files"]}
    there = {*file_names(folder)} - {MANIFEST}
    wrong = [n for n, digest in listed.items() if n in there and _is_other(folder / n, digest)]
    return sorted([*wrong, *(there ^ set(listed))])


def _is_other(path: Path, digest: str) -> bool:
    return path.is_symlink() or not path.is_file() or sha256_of(path) != digest


def file_names(folder: Path) -> list[str]:
    """The paths below the folder at any depth: of files, links and empty folders."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    )


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
