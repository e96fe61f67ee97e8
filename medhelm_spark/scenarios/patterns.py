"""Paths with `*`: a folder of files, one record or more in each."""

from dataclasses import replace
from pathlib import Path

from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError

STAR = "*"


def spread(source: DataSource) -> DataSource:
    """The source with every path that has a `*` replaced by the files it matches, in name order.

    Raises:
        DataError: no file matches.
        ConfigError: the pattern lies in an object store, whose files are not listed.
    """
    if not any(STAR in file.path for file in source.files):
        return source
    files = tuple(one for file in source.files for one in _matches(file, source))
    return replace(source, files=files)


def _matches(file: SourceFile, source: DataSource) -> list[SourceFile]:
    if STAR not in file.path:
        return [file]
    if "://" in file.path:
        raise ConfigError(f"{file.path}: a pattern is for local folders; copy the folder here.")
    path = Path(file.path).expanduser()
    first = next(place for place, part in enumerate(path.parts) if STAR in part)
    found = sorted(map(str, Path(*path.parts[:first]).glob("/".join(path.parts[first:]))))
    if not found:
        raise DataError(f"{file.path}: no such file; {advice(source)}.")
    return [replace(file, path=path) for path in found]


def advice(source: DataSource) -> str:
    """What a person can do who lacks the data."""
    come_from = f"it comes from {source.origin}; " if source.origin else ""
    return f"{come_from}give the data with --source"
