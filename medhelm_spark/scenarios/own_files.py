"""A person's own files, folder or archive in place of the ones that a card names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from medhelm_spark.domain.data_source import DataSource, SourceFile, inside, numbered
from medhelm_spark.domain.data_uri import FORMATS, TABLE, ending_of, is_uri
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.local_files import has_delta_log, part_files
from medhelm_spark.scenarios.files import STAR
from medhelm_spark.scenarios.raw_files import is_archive, nameless
from medhelm_spark.scenarios.sources import sha256_of, split_of_name, split_of_path

SAME_ENDING = {("json", "jsonl"), ("text", "lines")}
"""The format of an ending, and another one that a card may declare for the same ending."""


def with_source(card: ScenarioCard, paths: Sequence[str]) -> ScenarioCard:
    """The card with its files replaced by a person's own: files, a folder or an archive of them.

    A file has the split of the card's file of the same name, else the one in its own name, else the
    main split; the format follows the ending. Pinned hashes are dropped: the person answers for the
    files. Lookups and texts of the card are looked for beside the files.

    Raises:
        ConfigError: an ending is unknown or the endings differ.
        DataError: a folder has none of the card's files and no Parquet file.
    """
    expanded = [file for path in paths for file in _expand(card.source, path)]
    files = tuple(file if file.split else _split(card, file) for file in expanded)
    formats = {_format_of(card.source, file) for file in files}
    if len(formats) != 1:
        raise ConfigError(
            f"--source takes files of one format, received {', '.join(sorted(formats))}."
        )
    source = replace(
        _beside(card.source, paths[0]), files=files, dataset=None, table=None, is_own=True
    )
    return replace(card, source=replace(source, format=formats.pop()))


def with_known_hashes(card: ScenarioCard, pinning: ScenarioCard) -> ScenarioCard:
    """The card, its own files pinned where they are all what another card of its name pins.

    They are no longer a person's own then: every later reading is checked against these bytes.

    Raises:
        DataError: a file cannot be read.
    """
    source = card.source
    known = {file.sha256.lower() for file in pinning.source.files if file.sha256}
    beside_it = source.lookups or source.texts or (source.history and source.history.has_events)
    paths = {file.path for file in source.files}
    if not (known and source.is_own and paths) or beside_it or any(STAR in path for path in paths):
        return card
    hashes: dict[str, str] = {}
    for file in source.files:
        if file.path not in hashes:
            with nameless(file):
                hashes[file.path] = sha256_of(file.path)
    if not set(hashes.values()) <= known:
        return card
    files = tuple(replace(file, sha256=hashes[file.path]) for file in source.files)
    return replace(card, source=replace(source, files=files, is_own=False))


def _split(card: ScenarioCard, file: SourceFile) -> SourceFile:
    """The split is a column of the record, else it is in the file's name."""
    if "split" in card.fields:
        return file
    splits = card.source.splits
    if not splits:
        return replace(file, split=split_of_name(PurePosixPath(file.path).name))
    return replace(file, split=split_of_path(file.path, splits))


def _expand(source: DataSource, path: str) -> list[SourceFile]:
    folder = Path(path).expanduser()
    if not is_uri(path) and folder.is_dir():
        return _in_folder(source, path, folder)
    return _in_archive(source, path) if is_archive(path) else [_own_file(source, path)]


def _in_folder(source: DataSource, path: str, folder: Path) -> list[SourceFile]:
    files = [local for file in source.files if (local := _found(file, folder)) is not None]
    parts = sorted(folder.glob("**/*.parquet")) or [
        part for part in part_files(folder) if ending_of(part.name) in FORMATS
    ]
    own = [_own_file(source, str(part)) for part in parts]
    files = files or [*numbered(own, f"in {folder}")]
    if has_delta_log(folder):
        raise DataError(f"{path}: the folder is a Delta table; name it {TABLE}{path}.")
    if not files:
        names = [PurePosixPath(file.path).name for file in source.files]
        lacks = f"neither {', '.join(names)} nor a" if names else "no"
        raise DataError(f"{path}: the folder has {lacks} file of data: {', '.join(FORMATS)}.")
    return files


def _found(file: SourceFile, folder: Path) -> SourceFile | None:
    """The card's file in a folder, under the path or the bare name that it has at its publisher."""
    for path, member in _paths(file):
        if _is_there(folder, path):
            return SourceFile(path=str(folder / path), split=file.split, member=member)
    return None


def _is_there(folder: Path, path: str) -> bool:
    return any(folder.glob(path)) if STAR in path else (folder / path).is_file()


def _paths(file: SourceFile) -> Iterator[tuple[str, str | None]]:
    """Paths inside a folder with the member that is meant there; an archive may be unpacked."""
    for path in (file.inside, PurePosixPath(file.path).name):
        yield path, file.member
    if file.member is not None:
        yield file.member, None
        yield PurePosixPath(file.member).name, None


def _in_archive(source: DataSource, path: str) -> list[SourceFile]:
    if not source.files:
        raise ConfigError(f"{path}: unpack the archive and give the folder.")
    return [
        SourceFile(path=path, split=file.split, member=file.member or file.inside)
        for file in source.files
    ]


def _own_file(source: DataSource, path: str) -> SourceFile:
    name = PurePosixPath(path).name
    for file in source.files:
        names = {PurePosixPath(path).name for path in (file.path, file.member) if path}
        if name in names:
            return SourceFile(path=path, split=file.split)
    return SourceFile(path=path, split=None)


def _beside(source: DataSource, path: str) -> DataSource:
    """The source with its lookups and texts beside a person's file or in their folder."""
    folder = Path(path).expanduser()
    folder = folder if folder.is_dir() else folder.parent

    def near(other: str) -> str:
        paths = (inside(other), PurePosixPath(other).name)
        return next((str(folder / path) for path in paths if _is_there(folder, path)), other)

    history = source.history
    return replace(
        source,
        history=replace(history, files=tuple(map(near, history.files))) if history else None,
        lookups=tuple(replace(lookup, path=near(lookup.path)) for lookup in source.lookups),
        texts={column: near(text) for column, text in source.texts.items()},
    )


def _format_of(source: DataSource, file: SourceFile) -> str:
    ending = _ending(file)
    usual = FORMATS.get(ending)
    endings = {_ending(source_file) for source_file in source.files}
    if ending in endings and (usual is None or (usual, source.format) in SAME_ENDING):
        return source.format
    if usual is None:
        raise ConfigError(f"{file.path}: the ending is none of {', '.join(FORMATS)}.")
    return usual


def _ending(file: SourceFile) -> str:
    return ending_of(file.member or file.path)
