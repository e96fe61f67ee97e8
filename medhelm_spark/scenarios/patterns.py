"""Paths with `*`: a folder of files, one record or more in each."""

from dataclasses import replace
from pathlib import Path

from medhelm_spark.domain.scenario import DataSource
from medhelm_spark.errors import ConfigError, DataError

STAR = "*"


def spread(source: DataSource) -> DataSource:
    """The source with every path that has a `*` replaced by the files it matches, in name order.

    Raises:
        DataError: no file matches.
        ConfigError: the pattern lies in an object store, whose files are not listed.
    """
    history = source.history
    if history is not None:
        paths = (one for path in history.files for one in _matches(path, source))
        history = replace(history, files=tuple(paths))
    files = tuple(
        replace(file, path=path) for file in source.files for path in _matches(file.path, source)
    )
    return replace(source, files=files, history=history)


def _matches(pattern: str, source: DataSource) -> list[str]:
    if STAR not in pattern:
        return [pattern]
    if "://" in pattern:
        raise ConfigError(f"{pattern}: a pattern is for local folders; copy the folder here.")
    path = Path(pattern).expanduser()
    first = next(place for place, part in enumerate(path.parts) if STAR in part)
    found = sorted(map(str, Path(*path.parts[:first]).glob("/".join(path.parts[first:]))))
    if not found:
        raise DataError(f"{pattern}: no such file; {advice(source)}.")
    return found


def advice(source: DataSource) -> str:
    """What a person can do who lacks the data."""
    come_from = f"it comes from {source.origin}; " if source.origin else ""
    return f"{come_from}give the data with --source"
