"""Where the data of a `benchmark.yaml` lie: files beside it, of an object store, or a table.

Paths are looked for beside the YAML, then in the working directory.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from medhelm_spark.config.benchmark_file import BenchmarkFile
from medhelm_spark.config.dataset import ANSWER_COLUMN, csv_columns, require_columns
from medhelm_spark.config.juries import JURY_SCORE
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource, SourceFile, numbered
from medhelm_spark.domain.data_uri import (
    FORMATS,
    TABLE,
    ending_of,
    is_delta_path,
    is_uri,
    normal_location,
    table_of,
)
from medhelm_spark.domain.split import Split
from medhelm_spark.encoded_text import codec_of
from medhelm_spark.errors import ConfigError
from medhelm_spark.local_files import has_delta_log, part_files

CSV = "csv"
DELIMITERS = {CSV: ",", "tsv": "\t"}
DATASET_FORMATS = (*DELIMITERS, "json", "jsonl", "parquet", "feather", "xlsx")


def data_source(
    file: BenchmarkFile, path: Path, columns: tuple[str, ...], comparing: str | None
) -> DataSource:
    """The benchmark's data: a table, or a file by its ending, a csv if the ending is unknown.

    A folder means the files in it, as Spark writes a table. Rows of `train_file` are examples.

    The file that names a table cannot state whose data it is: it counts as a person's own, so
    that a level that lets its text out has to be stated beside the run.
    """
    name = file.dataset_file
    table = table_of(name)
    if table is not None:
        table = _found_table(table, path)
        return DataSource(table=table, columns=file.columns, is_own=True)
    files = _files(name, path, "dataset_file", None if file.split_column else Split.TEST)
    form = format_of(files[0].path)
    if file.train_file:
        files += _files(file.train_file, path, "train_file", Split.TRAIN)
    source = DataSource(
        format=form,
        files=tuple(files),
        columns=file.columns,
        sheet=file.sheet,
        separator=file.separator,
        encoding=file.encoding,
        record_path=file.record_path,
    )
    for each in files:
        if format_of(each.path) != form:
            raise ConfigError(f"{path}: {each.shown_path} is no {form} file as the others are.")
        if form in DELIMITERS and not (is_uri(each.path) or each.path.lower().endswith(".gz")):
            _check_header(file, each, columns, source, comparing)
    return source


def _files(name: str, path: Path, key: str, split: Split | None) -> list[SourceFile]:
    """The file that is named, or all of a folder."""
    if name.lower().startswith("file:"):
        raise ConfigError(f"{path}: {key} is {name!r}; write a local file as a path.")
    name = normal_location(name)
    if is_uri(name):
        return [SourceFile(path=name, split=split)]
    found = find_path(name, path, key)
    if found.is_file():
        return [SourceFile(path=str(found), split=split)]
    if has_delta_log(found):
        raise ConfigError(f"{path}: {key} is {name!r}, a Delta table; write {TABLE + name!r}.")
    parts = part_files(found)
    if not parts:
        raise ConfigError(f"{path}: {key} is {name!r}, a folder, and no such file lies in it.")
    files = [SourceFile(path=str(part), split=split) for part in parts]
    return [*numbered(files, f"in {found}")]


def format_of(name: str) -> str:
    """The format of a benchmark's file: by its ending, a csv if that is unknown."""
    form = FORMATS.get(ending_of(name), CSV)
    return form if form in DATASET_FORMATS else CSV


def _found_table(table: str, path: Path) -> str:
    """A table as it is named; a Delta folder is looked for where files are.

    A bare name is a folder's where there is one with a Delta table in it, else the catalog's.
    """
    if not table.strip():
        raise ConfigError(f"{path}: dataset_file is {TABLE!r}; allowed: {TABLE}NAME.")
    if ":/" in table or "`" in table:
        return table
    folders = [folder / Path(table).expanduser() for folder in (path.parent, Path())]
    if is_delta_path(table):
        found = next(filter(Path.is_dir, folders), None)
    else:
        found = next(filter(has_delta_log, folders), None)
    if found or not is_delta_path(table):
        return str(found.resolve()) if found else table
    raise ConfigError(
        f"{path}: dataset_file is {TABLE + table!r}, and there is no such folder (looked in "
        f"{path.parent} and the working directory)."
    )


def _check_header(
    file: BenchmarkFile,
    dataset: SourceFile,
    columns: tuple[str, ...],
    source: DataSource,
    comparing: str | None,
) -> None:
    """Refuse a csv or tsv whose header lacks what the benchmark needs.

    A file in an object store is checked when it is ingested.
    """

    def own(names: Iterable[str]) -> list[str]:
        return [file.columns.get(name, name) for name in names]

    needed_by = {f"the template {file.prompt_file}": own(columns)}
    for key in ("id_column", "cluster_column", "split_column"):
        needed_by[key] = own(filter(None, [getattr(file, key)]))
    needed_by["extra_columns"] = own(file.extra_columns)
    needed_by["groups"] = own(file.group_columns)
    needed_by[f"metric {comparing}"] = own([ANSWER_COLUMN]) if comparing else []
    needed_by["columns"] = list(file.columns.values())
    needed = [name for names in needed_by.values() for name in names]
    present = csv_columns(dataset, DELIMITERS[source.format], needed, source=source)
    require_columns(present, needed_by, dataset.shown_path)


def find_file(name: str, owner: Path, key: str) -> Path:
    """The file that `key` of the file `owner` names: beside it, else in the working directory."""
    return find_path(name, owner, key, is_folder=False)


def find_path(name: str, owner: Path, key: str, *, is_folder: bool = True) -> Path:
    """The file that `key` of the file `owner` names, or the folder of files."""
    for folder in (owner.parent, Path()):
        path = folder / Path(name).expanduser()
        if path.is_file() or (is_folder and path.is_dir()):
            return path.resolve()
    searched = f"looked in {owner.parent} and the working directory"
    raise ConfigError(f"{owner}: {key} is {name!r}, and there is no such file ({searched}).")


def check_reading(separator: str | None, encoding: str | None, where: str) -> None:
    """Refuse a sign between columns or an encoding that there is not."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise ConfigError(f"{where}: separator is {separator!r}; allowed: one character.")
    if encoding is not None and codec_of(encoding) is None:
        raise ConfigError(
            f"{where}: encoding is {encoding!r}; allowed: a text encoding of Python, as "
            "UTF-8, UTF-16, Windows-1252, Windows-1250."
        )


def check_own_files(file: BenchmarkFile, path: Path) -> None:
    """Refuse a stated level for files that lie elsewhere, where a link leads too.

    Somebody else's benchmark could call any file of this machine public, and send it out.
    """
    if file.access_level is AccessLevel.PRIVATE:
        return
    named = {
        "prompt_file": [file.prompt_file, *(each.prompt_file for each in file.prompt_variants)]
    }
    is_elsewhere = is_uri(file.dataset_file) or table_of(file.dataset_file) is not None
    named["dataset_file"] = [] if is_elsewhere else [file.dataset_file]
    named["train_file"] = [file.train_file] if file.train_file else []
    named[f"prompt_file of {JURY_SCORE}"] = [e.prompt_file for e in file.metrics if e.prompt_file]
    own = (path.parent.resolve(), *_working_folder())
    for key, names in named.items():
        for name in names:
            if not any(find_path(name, path, key).is_relative_to(folder) for folder in own):
                raise ConfigError(
                    f"{path}: {key} is {name!r}, which leads out of its folder and the working "
                    "directory (where that is your own), and access_level is "
                    f"{file.access_level.value!r}; put the file beside it, or leave the level "
                    "private."
                )


def _working_folder() -> tuple[Path, ...]:
    """The working folder where it is this user's own; `/` has the files of everybody."""
    folder = Path().resolve()
    is_own = folder != folder.parent and folder.stat().st_uid == os.geteuid()
    return (folder,) if is_own else ()
