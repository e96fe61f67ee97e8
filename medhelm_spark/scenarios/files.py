"""The files of a scenario: patterns of paths, downloads, and whether the data is there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from medhelm_spark.domain.data_source import DataSource, SourceFile, numbered
from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import AbsentDataError, ConfigError
from medhelm_spark.scenarios.downloads import (
    FIRST_FETCH,
    Pins,
    Received,
    cached,
    fetch,
    first_fetch,
    no_progress,
)
from medhelm_spark.scenarios.sources import is_web

STAR = "*"
ARGUMENT = re.compile(r"\{\w+(\.words)?\}")
"""A path's argument that has no value yet."""


def spread(source: DataSource) -> DataSource:
    """The source with every path that has a `*` replaced by the files it matches, in name order.

    A pattern that matches nothing and has an address stays: its files are fetched.

    Raises:
        AbsentDataError: no file matches.
        ConfigError: the pattern lies in an object store, whose files are not listed.
    """
    history = source.history
    if history is not None:
        paths = (path for pattern in history.files for path in _matches(pattern, source))
        history = replace(history, files=tuple(paths))
    files = tuple(each for file in source.files for each in _spread_file(file, source))
    return replace(source, files=files, history=history)


def _is_fetched(file: SourceFile) -> bool:
    return file.url is not None and not any(_glob(file.path))


def _spread_file(file: SourceFile, source: DataSource) -> Sequence[SourceFile]:
    """The files that a path matches, by their numbers in messages: their names are data.

    A path that names its file stays as it is, with the label that the file may have.
    """
    if STAR not in file.path or _is_fetched(file):
        return [file]
    matches = [replace(file, path=path) for path in _matches(file.path, source)]
    return numbered(matches, f"of {file.path}")


def _matches(pattern: str, source: DataSource) -> list[str]:
    if STAR not in pattern:
        return [pattern]
    if is_uri(pattern):
        raise ConfigError(f"{pattern}: a pattern is for local folders; copy the folder here.")
    paths = sorted(map(str, _glob(pattern)))
    if not paths:
        raise AbsentDataError(f"{pattern}: no such file; {advice(source)}.")
    return paths


def _glob(pattern: str) -> Iterator[Path]:
    """The local files that a path with `*` matches."""
    path = Path(pattern).expanduser()
    first = next(index for index, part in enumerate(path.parts) if STAR in part)
    return iter(Path(*path.parts[:first]).glob("/".join(path.parts[first:])))


def advice(source: DataSource) -> str:
    """The end of a message: where the data comes from, where to put it, and how to give it."""
    come_from = f"it comes from {source.origin}; " if source.origin else ""
    return f"{come_from}give the data with --source"


def by_hand(source: DataSource) -> str:
    """Where a person puts data that is not fetched, as a path from the working directory."""
    return source.files[0].path if source.files else (source.dataset or "").partition(":")[0]


def localize(
    card: ScenarioCard, cache: Path, pins: Pins | None = None, received: Received = no_progress
) -> ScenarioCard:
    """The card with every file that must be downloaded replaced by its verified local copy.

    A file that is on disk or in an object store stays as it is; so do lookups. An address without a
    hash is checked against the one in `pins`; a hash that is new is entered there.

    Raises:
        AbsentDataError: a file is absent and no address is known, or the download failed.
    """

    def local(file: SourceFile) -> SourceFile:
        return _local(file, card.source, cache, pins or Pins(), received)

    texts = {column: local(file).path for column, file in _texts(card.source)}
    source = replace(card.source, files=tuple(map(local, card.source.files)), texts=texts)
    _refuse_absent_beside(source)
    return replace(card, source=source)


def _texts(source: DataSource) -> Iterator[tuple[str, SourceFile]]:
    """The texts by column, each as a file with its address."""
    for column, path in source.texts.items():
        yield column, SourceFile(path=path, url=source.text_urls.get(column))


def refuse_absent(source: DataSource) -> None:
    """Refuse a source of which a file is neither at its path nor has an address.

    Opens no file and no connection. Events of a history are not looked for: whether they are needed
    is seen in the records.

    Raises:
        AbsentDataError: such a file.
    """
    source = spread(replace(source, history=None))
    for file in (*source.files, *(file for _, file in _texts(source))):
        _address(file, source)
    _refuse_absent_beside(replace(source, texts={}))


def _refuse_absent_beside(source: DataSource) -> None:
    for path in beside(source):
        if not is_uri(path) and not Path(path).expanduser().is_file():
            raise AbsentDataError(f"{path}: no such file; {advice(source)}.")


def beside(source: DataSource) -> tuple[str, ...]:
    """The paths of what is read beside the records' own files."""
    events = source.history.files if source.history else ()
    return (*(lookup.path for lookup in source.lookups), *source.texts.values(), *events)


def _local(
    file: SourceFile, source: DataSource, cache: Path, pins: Pins, received: Received
) -> SourceFile:
    url = _address(file, source)
    if url is None:
        return replace(file, sha256=None) if file.archive else file  # the archive's hash
    if is_web(file.path):
        return replace(file, path=str(fetch(url, file.sha256, cache, received=received)))
    name, known = file.archive or "", pins.known.get(url)
    if file.sha256:
        sha256, path = file.sha256, fetch(url, file.sha256, cache, name=name, received=received)
    elif known:
        path = fetch(url, known, cache, name=name, pinned_by=FIRST_FETCH, received=received)
        sha256 = known
    else:
        sha256, path = first_fetch(url, cache, name=name, received=received)
        pins.new[url] = sha256
    member = file.member or (file.inside if file.archive else None)
    return replace(file, path=str(path), sha256=sha256, member=member)


def _address(file: SourceFile, source: DataSource) -> str | None:
    """Where a file is downloaded from; None for one that is read at its path."""
    if is_web(file.path):
        return file.path
    if is_uri(file.path) or Path(file.path).expanduser().is_file():
        return None
    if file.url is None:
        raise AbsentDataError(f"{file.shown_path}: no such file; {advice(source)}.")
    return file.url


class Presence(StrEnum):
    """Where a scenario's data is, by file names alone."""

    HERE = "here"
    PART = "part"
    DOWNLOAD = "download"
    HUB = "hub"
    TABLE = "table"
    ABSENT = "absent"


def presence(card: ScenarioCard, cache: Path) -> Presence:
    """Where the card's data is, seen from the working directory and the cache of downloads.

    PART is some of the files, DOWNLOAD an address that has not been fetched, HUB a data set
    of the Hugging Face hub. A path that waits for an argument is found by any value of it.
    """
    source = card.source
    if source.table is not None:
        return Presence.TABLE
    if source.dataset is not None:
        folder = Path(ARGUMENT.sub(STAR, source.dataset)).expanduser()
        return Presence.HERE if folder.is_dir() else Presence.HUB
    files = _files(source)
    lacking = [file for file in files if not _is_here(file, cache)]
    if not lacking:
        return Presence.HERE
    if all(file.url for file in lacking):
        return Presence.DOWNLOAD
    return Presence.PART if len(lacking) < len(files) else Presence.ABSENT


def _files(source: DataSource) -> list[SourceFile]:
    """All files that the source names, texts with their addresses."""
    joined = (SourceFile(path=path) for path in beside(replace(source, texts={})))
    return [*source.files, *joined, *(file for _, file in _texts(source))]


def _is_here(file: SourceFile, cache: Path) -> bool:
    if is_uri(file.path):
        return True
    pattern = ARGUMENT.sub(STAR, file.path)
    if STAR not in pattern:
        return Path(pattern).expanduser().is_file() or cached(file, cache)
    return any(_glob(pattern)) or cached(file, cache)
