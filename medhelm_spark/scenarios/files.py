"""The files of a scenario: patterns of paths, downloads, and whether the data is there.

A download is pinned by its hash and kept in a cache folder, whole and verified, or not at all.
"""

import hashlib
import os
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import IO

from medhelm_spark.domain.scenario import DataSource, ScenarioCard, SourceFile
from medhelm_spark.errors import AbsentDataError, ConfigError
from medhelm_spark.scenarios.sources import BLOCK, is_uri, is_web

STAR = "*"
TIMEOUT_SECONDS = 60.0
ARGUMENT = re.compile(r"\{\w+(\.words)?\}")
"""A path's argument that has no value yet."""

Received = Callable[[int], None]
"""Is told of each block of a download, in bytes."""


def untold(_: int) -> None:
    """For callers who show no progress."""


def spread(source: DataSource) -> DataSource:
    """The source with every path that has a `*` replaced by the files it matches, in name order.

    Raises:
        AbsentDataError: no file matches.
        ConfigError: the pattern lies in an object store, whose files are not listed.
    """
    history = source.history
    if history is not None:
        paths = (path for pattern in history.files for path in _matches(pattern, source))
        history = replace(history, files=tuple(paths))
    files = tuple(
        each for file in source.files for each in labelled(file, _matches(file.path, source))
    )
    return replace(source, files=files, history=history)


def labelled(file: SourceFile, paths: Sequence[str]) -> Iterator[SourceFile]:
    """The files that a pattern matched: their names are data, so messages give their number."""
    for number, path in enumerate(paths, 1):
        is_named = path == file.path
        label = "" if is_named else f"file {number} of {len(paths)} of {file.path}"
        yield replace(file, path=path, label=label)


def _matches(pattern: str, source: DataSource) -> list[str]:
    if STAR not in pattern:
        return [pattern]
    if "://" in pattern:
        raise ConfigError(f"{pattern}: a pattern is for local folders; copy the folder here.")
    paths = sorted(map(str, _glob(pattern)))
    if not paths:
        raise AbsentDataError(f"{pattern}: no such file; {advice(source)}.")
    return paths


def _glob(pattern: str) -> Iterator[Path]:
    """The local files that a path with `*` matches."""
    path = Path(pattern).expanduser()
    first = next(place for place, part in enumerate(path.parts) if STAR in part)
    return iter(Path(*path.parts[:first]).glob("/".join(path.parts[first:])))


def advice(source: DataSource) -> str:
    """The end of a message: where the data comes from, and how to give it."""
    come_from = f"it comes from {source.origin}; " if source.origin else ""
    return f"{come_from}give the data with --source"


def localize(card: ScenarioCard, cache: Path, received: Received = untold) -> ScenarioCard:
    """The card with every file that must be downloaded replaced by its verified local copy.

    A file that is on disk or in an object store stays as it is; so do lookups and texts.

    Raises:
        AbsentDataError: a file is absent and no address is known, or the download failed.
    """
    files = tuple(_local(file, card.source, cache, received) for file in card.source.files)
    _refuse_absent_beside(card.source)
    return replace(card, source=replace(card.source, files=files))


def refuse_absent(source: DataSource) -> None:
    """Refuse a source of which a file is neither at its place nor has an address.

    Opens no file and no connection. Events of a history are not looked for: whether they are needed
    is seen in the records.

    Raises:
        AbsentDataError: such a file.
    """
    source = spread(replace(source, history=None))
    for file in source.files:
        _address(file, source)
    _refuse_absent_beside(source)


def _refuse_absent_beside(source: DataSource) -> None:
    for path in beside(source):
        if not is_uri(path) and not Path(path).expanduser().is_file():
            raise AbsentDataError(f"{path}: no such file; {advice(source)}.")


def beside(source: DataSource) -> tuple[str, ...]:
    """The paths of what is read beside the records' own files."""
    events = source.history.files if source.history else ()
    return (*(lookup.path for lookup in source.lookups), *source.texts.values(), *events)


def _local(file: SourceFile, source: DataSource, cache: Path, received: Received) -> SourceFile:
    address = _address(file, source)
    if address is None:
        return file
    return replace(file, path=str(fetch(address, file.sha256, cache, received)))


def _address(file: SourceFile, source: DataSource) -> str | None:
    """Where a file is downloaded from; None for one that is read at its place."""
    if is_web(file.path):
        return file.path
    if is_uri(file.path) or Path(file.path).expanduser().is_file():
        return None
    if file.url is None:
        raise AbsentDataError(f"{file.path}: no such file; {advice(source)}.")
    return file.url


def fetch(url: str, sha256: str | None, cache: Path, received: Received = untold) -> Path:
    """Download `url` to `cache/<sha256>/<name>` unless it is there already.

    Raises:
        ConfigError: the address has no pinned hash, or is not http or https.
        AbsentDataError: the server cannot be reached, refuses, or sends other bytes.
    """
    if not is_web(url):
        raise ConfigError(f"{url}: only http:// and https:// addresses are downloaded.")
    if sha256 is None:
        raise ConfigError(f"{url}: a download needs a pinned sha256.")
    target = _target(url, sha256, cache)
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        _download(url, sha256.lower(), target, received)
    return target


def cached(file: SourceFile, cache: Path) -> bool:
    """Whether a file's download is in the cache."""
    if file.url is None or file.sha256 is None:
        return False
    return _target(file.url, file.sha256, cache).is_file()


def _target(url: str, sha256: str, cache: Path) -> Path:
    return cache / sha256.lower() / (PurePosixPath(url.split("?")[0]).name or "data")


def _download(url: str, sha256: str, target: Path, received: Received) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            actual = _copy(url, out, received)
        if actual != sha256:
            raise AbsentDataError(
                f"{url}: SHA-256 is {actual}, pinned is {sha256}; nothing was kept."
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _copy(url: str, out: IO[bytes], received: Received) -> str:
    sha256 = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            while block := answer.read(BLOCK):
                sha256.update(block)
                out.write(block)
                received(len(block))
    except urllib.error.HTTPError as error:
        raise AbsentDataError(
            f"{url}: the server answered {error.code}; give the data with --source."
        ) from None
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise AbsentDataError(
            f"{url}: cannot be downloaded ({type(reason).__name__}); give the data with --source."
        ) from None
    return sha256.hexdigest()


class Presence(StrEnum):
    """Where a scenario's data is, as far as file names tell."""

    HERE = "here"
    PART = "part"
    DOWNLOAD = "download"
    HUB = "hub"
    TABLE = "table"
    ABSENT = "absent"


def presence(card: ScenarioCard, cache: Path) -> Presence:
    """Where the card's data is, seen from the working directory and the cache of downloads.

    PART is some of the files, DOWNLOAD a pinned address that has not been fetched, HUB a data set
    of the Hugging Face hub. A path that waits for an argument is found by any value of it.
    """
    source = card.source
    if source.table is not None:
        return Presence.TABLE
    if source.dataset is not None:
        folder = Path(ARGUMENT.sub(STAR, source.dataset)).expanduser()
        return Presence.HERE if folder.is_dir() else Presence.HUB
    files = [*source.files, *(SourceFile(path=path) for path in beside(source))]
    here = [_is_here(file, cache) for file in files]
    if all(here):
        return Presence.HERE
    if all(is_here or file.url for is_here, file in zip(here, files, strict=True)):
        return Presence.DOWNLOAD
    return Presence.PART if any(here) else Presence.ABSENT


def _is_here(file: SourceFile, cache: Path) -> bool:
    if "://" in file.path:
        return True
    pattern = ARGUMENT.sub(STAR, file.path)
    if STAR not in pattern:
        return Path(pattern).expanduser().is_file() or cached(file, cache)
    return any(_glob(pattern))
