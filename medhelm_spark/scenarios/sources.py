"""Where bytes come from: local files, object stores, pinned downloads and their hashes."""

import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from medhelm_spark.domain.scenario import ScenarioCard, SourceFile, Split
from medhelm_spark.errors import ConfigError, DataError

OpenFile = Callable[[str], BinaryIO]

FORMATS = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".parquet": "parquet"}
SPLITS: Mapping[str, Split] = {
    "train": Split.TRAIN,
    "valid": Split.VALID,
    "validation": Split.VALID,
    "dev": Split.VALID,
    "test": Split.TEST,
}
BLOCK = 1 << 20


def is_uri(path: str) -> bool:
    """Whether a path names a remote store; a Windows drive letter does not."""
    return "://" in path


def is_web(path: str) -> bool:
    """Whether a path is to be downloaded."""
    return path.startswith(("https://", "http://"))


def open_source(path: str) -> BinaryIO:
    """Open a local path or an object-store URI (s3, gs, hdfs, abfss, file) for reading.

    Raises:
        ConfigError: the scheme is not one that pyarrow's file systems know.
        DataError: the file is not there or may not be read.
    """
    if is_web(path):
        raise ConfigError(f"{path}: a web address is read only after a download with its sha256.")
    try:
        return _open_remote(path) if is_uri(path) else Path(path).expanduser().open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({type(error).__name__}).") from None


def _open_remote(path: str) -> BinaryIO:
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, inner = fs.FileSystem.from_uri(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ConfigError(
            f"{path}: no file system is known for this address; use s3://, gs://, hdfs://, "
            "abfss://, file:// or a local path."
        ) from None
    return cast(BinaryIO, system.open_input_file(inner))


def sha256_of(path: str, open_file: OpenFile = open_source) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal text."""
    found = hashlib.sha256()
    with open_file(path) as stream:
        while block := stream.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def verify(file: SourceFile, open_file: OpenFile = open_source) -> None:
    """Compare a file with the hash its card pins; a file without one passes.

    Raises:
        DataError: the bytes are others than the pinned ones.
    """
    if file.sha256 is None:
        return
    actual = sha256_of(file.path, open_file)
    if actual != file.sha256.lower():
        raise DataError(
            f"{file.path}: SHA-256 is {actual}, the card pins {file.sha256}; the file has changed."
        )


class CountedStream(io.RawIOBase):
    """A byte stream that knows how many bytes it has handed on."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self.handed = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        block = self._stream.read(max(size, BLOCK) if size >= 0 else -1)
        self.handed += len(block)
        return block


def with_source(card: ScenarioCard, paths: Sequence[str]) -> ScenarioCard:
    """The card with its files replaced by a person's own: files, or one folder of them.

    A file has the split of the card's file of the same name, else the one its own name speaks of,
    else the main split; the format follows the ending. Pinned hashes are dropped: the person
    vouches for the files.

    Raises:
        ConfigError: an ending is unknown or the endings differ.
        DataError: a folder holds none of the card's files and no Parquet file.
    """
    found = [file for path in paths for file in _expand(card, path)]
    formats = {_format_of(file.path) for file in found}
    if len(formats) != 1:
        raise ConfigError(
            f"--source takes files of one format, received {', '.join(sorted(formats))}."
        )
    source = replace(
        card.source, format=formats.pop(), files=tuple(found), dataset=None, table=None
    )
    return replace(card, source=source)


def _expand(card: ScenarioCard, path: str) -> list[SourceFile]:
    folder = Path(path).expanduser()
    if is_uri(path) or not folder.is_dir():
        return [_own_file(card, path)]
    names = [PurePosixPath(file.path).name for file in card.source.files]
    inside = [str(folder / name) for name in names if (folder / name).is_file()]
    inside = inside or [str(each) for each in sorted(folder.glob("**/*.parquet"))]
    if not inside:
        raise DataError(f"{path}: the folder holds neither {', '.join(names)} nor a .parquet file.")
    return [_own_file(card, each) for each in inside]


def _own_file(card: ScenarioCard, path: str) -> SourceFile:
    name = PurePosixPath(path).name
    for file in card.source.files:
        if PurePosixPath(file.path).name == name:
            return SourceFile(path=path, split=file.split)
    return SourceFile(path=path, split=None if "split" in card.fields else split_of_name(name))


def split_of_name(name: str) -> Split | None:
    """The split that a file name speaks of, as in `train.csv` or `data_test1-00000.parquet`.

    >>> split_of_name("valid_full.json")
    <Split.VALID: 'valid'>
    """
    words = re.findall("[a-z]+", name.lower())
    return next((SPLITS[word] for word in words if word in SPLITS), None)


def _format_of(path: str) -> str:
    ending = PurePosixPath(path).suffix.lower()
    if ending not in FORMATS:
        raise ConfigError(f"{path}: the ending is none of {', '.join(FORMATS)}.")
    return FORMATS[ending]
