"""Hashes of what this process's environment has installed: the code, its wheel, all packages."""

import hashlib
import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE = "medhelm-spark"
CODE, WHEEL, LOCK = "code", "wheel", "lock"


@cache
def installed() -> Mapping[str, str]:
    """SHA-256 of the package's modules (`code`), of its wheel and of all packages (`lock`).

    `lock` hashes the sorted lines NAME==VERSION of all distributions. `wheel` is the hash that pip
    stores when it installs the package from a file; it is absent after any other installation.
    """
    hashes = {CODE: _code(Path(__file__).parent), LOCK: _sha256("\n".join(distributions()))}
    wheel = _wheel()
    return hashes | ({WHEEL: wheel} if wheel else {})


def distributions() -> list[str]:
    """Every installed distribution as NAME==VERSION, sorted, from the names of their folders."""
    folders = [folder for entry in sys.path if (folder := Path(entry or ".")).is_dir()]
    stems = {path.stem for folder in folders for path in folder.glob("*.dist-info")}
    return sorted("==".join(stem.rsplit("-", 1)).lower() for stem in stems)


def _code(folder: Path) -> str:
    lines = [
        f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*.py"))
    ]
    return _sha256("\n".join(lines))


def _wheel() -> str:
    try:
        stated = metadata.distribution(PACKAGE).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return ""
    archive = json.loads(stated).get("archive_info", {}) if stated else {}
    return str(archive.get("hashes", {}).get("sha256", ""))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
