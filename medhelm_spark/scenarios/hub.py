"""Hugging Face data sets: from the hub through the `datasets` package, or from a local folder."""

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from medhelm_spark.domain.data_source import NEWEST, DataSource, SourceFile
from medhelm_spark.errors import AbsentDataError, ConfigError, DataError
from medhelm_spark.scenarios.downloads import Pins
from medhelm_spark.scenarios.raw_files import check_columns
from medhelm_spark.scenarios.records import Record
from medhelm_spark.scenarios.sources import split_of_path

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
COMMIT = re.compile("[0-9a-f]{40}")
NO_DATA = ("README.md", ".gitattributes")


def as_files(source: DataSource) -> DataSource:
    """The source with a data set that is a local folder replaced by the folder's Parquet files.

    Raises:
        AbsentDataError: the folder contains no Parquet file.
    """
    if not source.dataset or not Path(source.dataset).expanduser().is_dir():
        return source
    folder = Path(source.dataset).expanduser().absolute()
    paths = sorted(folder.glob("**/*.parquet"))
    if not paths:
        raise AbsentDataError(
            f"{source.dataset}: the folder has no .parquet file; give its files with --source."
        )
    files = tuple(
        SourceFile(path=str(path), split=split_of_path(str(path), source.splits)) for path in paths
    )
    return replace(source, format="parquet", files=files, dataset=None)


def at_commit(source: DataSource, pins: Pins | None = None) -> DataSource:
    """The source with the revision `main` of a hub data set replaced by a commit.

    The commit is the one in `pins`, else the newest, or without the hub the one that its cache has
    as `main`; it is entered in `pins`.

    Raises:
        AbsentDataError: the `datasets` package is absent, or the hub cannot be reached and its
            cache has none.
    """
    if source.dataset is None or source.revision != NEWEST:
        return source
    pins = pins or Pins()
    name = source.dataset.partition(":")[0]
    address = f"{name}@{NEWEST}"
    commit = pins.known.get(address) or pins.new.get(address)
    if commit is None:
        _package(source)
        commit = pins.new[address] = _newest(name, source)
    return replace(source, revision=commit)


def hub_copies(dataset: str) -> Iterator[Path]:
    """The folders that the hub's packages keep of a data set in their caches on this machine."""
    name = dataset.partition(":")[0]
    if Path(name).is_dir() or find_spec("huggingface_hub") is None:
        return
    from huggingface_hub import constants

    downloads = Path(constants.HF_HUB_CACHE, f"datasets--{name.replace('/', '--')}")
    if downloads.is_dir():
        yield downloads
    tables = Path(os.environ.get("HF_DATASETS_CACHE") or Path(constants.HF_HOME, "datasets"))
    for folder in sorted(tables.glob("*")) if tables.is_dir() else ():
        if folder.is_dir() and _plain_name(folder.name) == _plain_name(name):
            yield folder


def _plain_name(name: str) -> tuple[str, ...]:
    """A data set's name as it and as the folder of its tables are written: `A/MedQA`, `A___med_qa`.

    >>> _plain_name("A/MedQA") == _plain_name("A___med_qa")
    True
    """
    return tuple(part.replace("_", "").casefold() for part in re.split("/|___", name))


def _newest(name: str, source: DataSource) -> str:
    import huggingface_hub as hub

    if (snapshot := _snapshot(name, NEWEST)) is not None:
        return snapshot.name
    try:
        return str(hub.HfApi().dataset_info(name, revision=NEWEST).sha)
    except Exception as error:
        raise _unloadable(source, error) from None


def _snapshot(name: str, revision: str | None) -> Path | None:
    """Without the hub, the folder of a revision in its cache, if there is data in the folder."""
    import huggingface_hub as hub

    if not hub.constants.HF_HUB_OFFLINE:
        return None
    try:
        folder = Path(
            hub.snapshot_download(
                name, repo_type="dataset", revision=revision, local_files_only=True
            )
        )
    except (hub.errors.LocalEntryNotFoundError, hub.errors.HFValidationError):
        return None
    has_data = any(path.is_file() for path in folder.rglob("*") if path.name not in NO_DATA)
    return folder if has_data else None


def _unloadable(source: DataSource, error: Exception) -> AbsentDataError:
    at = f" at revision {source.revision}" if source.revision else ""
    return AbsentDataError(
        f"{source.dataset}: the data set cannot be loaded{at} ({type(error).__name__}); give "
        "a folder of its .parquet files, or its files with --source."
    )


def read_hub(source: DataSource, required: Sequence[str]) -> Iterator[Record]:
    """The rows of a hub data set, all its splits; `org/name:config` picks a configuration.

    Raises:
        AbsentDataError: the data set cannot be had at that commit, or the package is absent.
        ConfigError: the revision is no commit.
        DataError: the data set cannot be had unchanged, or lacks a column.
    """
    for split, rows in _load(source).items():
        name = f"{source.dataset}/{split}"
        check_columns(name, required, rows.column_names, from_schema=True)
        here = split_of_path(split, source.splits)
        for number, row in enumerate(rows, 1):
            yield Record(source_file=name, row=number, split=here, fields=row)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubCopy:
    """A hub data set in the cache of this machine; `is_new` where it was not there before."""

    is_new: bool
    files: int
    size_in_bytes: int


@dataclass(slots=True)
class Hub:
    """The hub, from which one data set after the other is loaded.

    Once it was not reached, which takes half a minute of tries, the next data sets are looked for
    in the cache alone.
    """

    is_reached: bool = True

    def fetch(self, source: DataSource) -> HubCopy:
        """Have a data set in the cache of this machine, as `read_hub` does before it reads.

        Raises:
            AbsentDataError: it cannot be had at that commit, or the package is absent.
            ConfigError: the revision is no commit.
            DataError: it cannot be had unchanged.
        """
        with nullcontext() if self.is_reached else _offline(source):
            try:
                splits, is_new = _splits(source)
            except ConnectionError as error:
                self.is_reached = False
                raise _unloadable(source, error) from None
        paths = {file["filename"] for rows in splits.values() for file in rows.cache_files}
        sizes = [Path(path).stat().st_size for path in sorted(paths)]
        return HubCopy(is_new=is_new, files=len(sizes), size_in_bytes=sum(sizes))


@contextmanager
def _offline(source: DataSource) -> Iterator[None]:
    """Without a connection to the hub: both packages look into their caches."""
    modules = (_package(source).config, import_module("huggingface_hub").constants)
    before = [module.HF_HUB_OFFLINE for module in modules]
    try:
        for module in modules:
            module.HF_HUB_OFFLINE = True
        yield
    finally:
        for module, value in zip(modules, before, strict=True):
            module.HF_HUB_OFFLINE = value


def _load(source: DataSource) -> Mapping[str, Any]:
    try:
        return _splits(source)[0]
    except ConnectionError as error:
        raise _unloadable(source, error) from None


def _splits(source: DataSource) -> tuple[Mapping[str, Any], bool]:
    """The splits, and whether they were not in the cache before.

    Raises:
        ConnectionError: the hub was not reached, and the cache does not have them.
    """
    datasets = _package(source)
    name, _, config = str(source.dataset).partition(":")
    _check_pinned(name, source)
    # Its bars and warnings would be printed between a command's own lines.
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        snapshot = _snapshot(name, source.revision)
        path, revision = (name, source.revision) if snapshot is None else (str(snapshot), None)
        builder = datasets.load_dataset_builder(path, config or None, revision=revision)
        _check_builder(builder, replace(source, revision=revision))
        is_new = not Path(builder.cache_dir).is_dir()
        builder.download_and_prepare()
        return cast(Mapping[str, Any], builder.as_dataset()), is_new
    except (DataError, ConnectionError):
        raise
    except Exception as error:
        raise _unloadable(source, error) from None


def _package(source: DataSource) -> Any:
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # which is read at import
    try:
        return import_module("datasets")
    except ImportError:
        raise _without_package(source) from None


def check_package(source: DataSource) -> None:
    """Refuse a data set of the hub where the package that reads it is absent; imports nothing.

    Raises:
        AbsentDataError: it is.
    """
    if find_spec("datasets") is None:
        raise _without_package(source)


def _without_package(source: DataSource) -> AbsentDataError:
    return AbsentDataError(
        f"{source.dataset}: reading the Hugging Face hub needs the package `datasets`; "
        "install 'medhelm-spark[hub]' or give the files with --source."
    )


def _check_pinned(name: str, source: DataSource) -> None:
    if HUB_NAME.fullmatch(name) and not COMMIT.fullmatch(source.revision or ""):
        raise ConfigError(
            f"{source.dataset}: a data set of the hub needs a commit of 40 hexadecimal digits as "
            f"its revision, or {NEWEST}, received {source.revision!r}."
        )


def _check_builder(builder: Any, source: DataSource) -> None:
    # Where the hub is not reached, `datasets` takes whatever commit its cache has.
    if source.revision is not None and builder.hash != source.revision:
        raise AbsentDataError(
            f"{source.dataset}: the hub was not reached and the cache has another revision than "
            f"{source.revision}; give the files with --source."
        )
    if builder.name == "csv":
        raise DataError(
            f"{source.dataset}: its files are csv, and `datasets` would read 001 as 1 and NA as "
            "nothing; give the files with --source."
        )
