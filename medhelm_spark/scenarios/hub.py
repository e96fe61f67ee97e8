"""Hugging Face data sets: from the hub through the `datasets` package, or from a local folder."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.errors import DataError, SetupError
from medhelm_spark.scenarios.records import Record
from medhelm_spark.scenarios.sources import split_of_name
from medhelm_spark.scenarios.tables import check_columns


def folder_files(dataset: str) -> tuple[SourceFile, ...] | None:
    """The Parquet files of a data set kept as a local folder; None where it is no folder.

    Raises:
        DataError: the folder holds no Parquet file.
    """
    folder = Path(dataset).expanduser()
    if not folder.is_dir():
        return None
    paths = sorted(folder.glob("**/*.parquet"))
    if not paths:
        raise DataError(f"{dataset}: the folder holds no .parquet file.")
    return tuple(SourceFile(path=str(path), split=split_of_name(path.name)) for path in paths)


def read_hub(source: DataSource, required: Sequence[str]) -> Iterator[Record]:
    """The rows of a hub data set, all its splits; `org/name:config` picks a configuration.

    Raises:
        SetupError: the `datasets` package is absent.
        DataError: the hub or the data set cannot be reached, or a column is missing.
    """
    for split, rows in _load(source).items():
        name = f"{source.dataset}/{split}"
        check_columns(name, required, rows.column_names)
        for number, row in enumerate(rows, 1):
            yield Record(source_file=name, row=number, split=split_of_name(split), fields=row)


def _load(source: DataSource) -> Mapping[str, Any]:
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise SetupError(
            f"{source.dataset}: reading the Hugging Face hub needs the package `datasets`; "
            "install it or give the files with --source."
        ) from None
    name, _, config = str(source.dataset).partition(":")
    try:
        loaded = datasets.load_dataset(name, config or None, revision=source.revision)
    except Exception as error:
        raise DataError(
            f"{source.dataset}: the data set cannot be loaded ({type(error).__name__}) at revision "
            f"{source.revision}; give the files with --source."
        ) from None
    return cast(Mapping[str, Any], loaded)
