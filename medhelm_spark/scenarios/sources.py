"""Where bytes come from: local files, object stores, pinned downloads and their hashes."""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, cast

from medhelm_spark.domain.data_source import SourceFile
from medhelm_spark.domain.data_uri import is_uri, normal_location
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.local_files import NotAFileError, open_file

OpenFile = Callable[[str], BinaryIO]

SPLITS: Mapping[str, Split] = {
    "train": Split.TRAIN,
    "valid": Split.VALID,
    "validation": Split.VALID,
    "dev": Split.VALID,
    "test": Split.TEST,
}
BLOCK = 1 << 20
HADOOP_S3 = ("s3a", "s3n")


def is_web(path: str) -> bool:
    """Whether a path is to be downloaded."""
    return path.startswith(("https://", "http://"))


def open_source(path: str) -> BinaryIO:
    """Open a local path or an object-store URI (s3, gs, hdfs, abfss, file) for reading.

    Raises:
        ConfigError: pyarrow's file systems do not have the scheme.
        DataError: the file is not there, may not be read, or is a pipe or a device.
    """
    if is_web(path):
        raise ConfigError(f"{path}: a web address is read only after a download with its sha256.")
    location = normal_location(path)
    try:
        return (
            _open_remote(location) if is_uri(location) else open_file(Path(location).expanduser())
        )
    except NotAFileError as error:
        raise DataError(f"{path}: {error.strerror}.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({type(error).__name__}).") from None


def _arrow_uri(path: str) -> str:
    """A URI by the names that Arrow's file systems have: Hadoop's `s3a` is `s3`.

    >>> _arrow_uri("s3a://bucket/a.csv"), _arrow_uri("hdfs:/data/a.csv")
    ('s3://bucket/a.csv', 'hdfs:///data/a.csv')
    """
    scheme, mark, rest = path.partition(":/")
    if scheme in HADOOP_S3:
        return f"s3{mark}{rest}"
    return f"{scheme}{mark}{rest}" if rest.startswith("/") else f"{scheme}:///{rest}"


def _open_remote(path: str) -> BinaryIO:
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, inner = fs.FileSystem.from_uri(_arrow_uri(path))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ConfigError(
            f"{path}: no file system is known for this address; use s3://, gs://, hdfs://, "
            "abfss://, file:// or a local path."
        ) from None
    return cast(BinaryIO, system.open_input_file(inner))


def sha256_of(path: str, open_file: OpenFile = open_source) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal text."""
    sha256 = hashlib.sha256()
    with open_file(path) as stream:
        while block := stream.read(BLOCK):
            sha256.update(block)
    return sha256.hexdigest()


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


def stamp(path: str) -> tuple[int, int] | None:
    """Size in bytes and time of the last change (ns) of a file.

    None where it is not there, or this process cannot look: Spark may reach the store all the same.

    A file whose stamp has changed is read again.
    """
    path = normal_location(path)
    try:
        if not is_uri(path):
            status = Path(path).stat()
            return status.st_size, status.st_mtime_ns
        from pyarrow import fs

        system, inner = fs.FileSystem.from_uri(_arrow_uri(path))
        info = system.get_file_info(inner)
        return (info.size, info.mtime_ns or 0) if info.is_file else None
    except (OSError, ValueError, NotImplementedError):  # Arrow's own, for a scheme it lacks
        return None


def split_of_name(name: str) -> Split | None:
    """The split that a file name contains, as in `train.csv` or `data_test1-00000.parquet`.

    >>> split_of_name("valid_full.json")
    <Split.VALID: 'valid'>
    """
    words = re.findall("[a-z]+", name.lower())
    return next((SPLITS[word] for word in words if word in SPLITS), None)


def split_of_path(path: str, splits: Mapping[str, Split]) -> Split | None:
    """The split of a file by its name, else by its folder's, as in `train/0000.parquet`.

    `splits` maps a data set's own names of splits to ours; it goes before the usual names.

    >>> split_of_path("virology/dev-00000-of-00001.parquet", {"dev": Split.TRAIN})
    <Split.TRAIN: 'train'>
    """
    for name in path.split("/")[:-3:-1]:
        split = splits.get(re.split(r"[-.]", name)[0]) or split_of_name(name)
        if split is not None:
            return split
    return None
