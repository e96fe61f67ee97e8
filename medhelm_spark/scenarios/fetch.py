"""Downloads of pinned files into a cache folder: whole and verified, or not at all."""

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from medhelm_spark.domain.scenario import DataSource, ScenarioCard, SourceFile
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios.patterns import advice
from medhelm_spark.scenarios.sources import BLOCK, is_uri, is_web

TIMEOUT_SECONDS = 60.0


def localize(card: ScenarioCard, cache: Path) -> ScenarioCard:
    """The card with every file that must be downloaded replaced by its verified local copy.

    A file that is on disk or in an object store stays as it is; so do lookups and texts.

    Raises:
        DataError: a file is absent and no address is known, or the download failed.
    """
    files = tuple(_local(file, card.source, cache) for file in card.source.files)
    for path in beside(card.source):
        if not is_uri(path) and not Path(path).expanduser().is_file():
            raise DataError(f"{path}: no such file; {advice(card.source)}.")
    return replace(card, source=replace(card.source, files=files))


def beside(source: DataSource) -> tuple[str, ...]:
    """The paths of what is read beside the records' own files."""
    events = source.history.files if source.history else ()
    return (*(one.path for one in source.lookups), *source.texts.values(), *events)


def _local(file: SourceFile, source: DataSource, cache: Path) -> SourceFile:
    address = file.path if is_web(file.path) else file.url
    if not is_web(file.path) and (is_uri(file.path) or Path(file.path).expanduser().is_file()):
        return file
    if address is None:
        raise DataError(f"{file.path}: no such file; {advice(source)}.")
    return replace(file, path=str(fetch(address, file.sha256, cache)))


def fetch(url: str, sha256: str | None, cache: Path) -> Path:
    """Download `url` to `cache/<sha256>/<name>` unless it is there already.

    Raises:
        ConfigError: the address has no pinned hash, or is not http or https.
        DataError: the server cannot be reached, refuses, or sends other bytes.
    """
    if not is_web(url):
        raise ConfigError(f"{url}: only http:// and https:// addresses are downloaded.")
    if sha256 is None:
        raise ConfigError(f"{url}: a download needs a pinned sha256.")
    target = _target(url, sha256, cache)
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        _download(url, sha256.lower(), target)
    return target


def cached(file: SourceFile, cache: Path) -> bool:
    """Whether a file's download is in the cache."""
    if file.url is None or file.sha256 is None:
        return False
    return _target(file.url, file.sha256, cache).is_file()


def _target(url: str, sha256: str, cache: Path) -> Path:
    return cache / sha256.lower() / (PurePosixPath(url.split("?")[0]).name or "data")


def _download(url: str, sha256: str, target: Path) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            actual = _copy(url, out)
        if actual != sha256:
            raise DataError(f"{url}: SHA-256 is {actual}, pinned is {sha256}; nothing was kept.")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _copy(url: str, out: IO[bytes]) -> str:
    found = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            while block := answer.read(BLOCK):
                found.update(block)
                out.write(block)
    except urllib.error.HTTPError as error:
        raise DataError(
            f"{url}: the server answered {error.code}; give the data with --source."
        ) from None
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{url}: cannot be downloaded ({type(reason).__name__}); give the data with --source."
        ) from None
    return found.hexdigest()
