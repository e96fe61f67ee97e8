"""A data file opened for a reader: plain, compressed by gzip, or a member of a zip or tar archive.

With the check that a table has the columns its card names.
"""

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import IO, Any, BinaryIO, cast

from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError, SetupError
from medhelm_spark.scenarios.records import BadReason, column_of
from medhelm_spark.scenarios.sources import OpenFile, open_source

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)
CheckColumns = Callable[[Sequence[str]], None]
UNREAD: Mapping[str, Any] = MappingProxyType({})
"""A row of another partition, left unread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """An open file, its path for messages, and the source it belongs to.

    Of several partitions this one holds every `partitions`-th row; a reader may yield the rows of
    the others as `UNREAD`.
    """

    path: str
    stream: BinaryIO
    source: DataSource
    partition: int = 0
    partitions: int = 1

    def is_wanted(self, row: int) -> bool:
        """Whether a row, counted from 1, falls into this partition."""
        return row % self.partitions == self.partition


Reader = Callable[[RawFile, CheckColumns], Iterator[Mapping[str, Any] | BadReason]]


def check_columns(
    path: str, required: Iterable[str], columns: Sequence[str], *, from_schema: bool = False
) -> None:
    """Refuse a table that lacks a column its card names.

    The columns present are listed only where a schema gives them: the first line of a file may be
    data, not a header, even where one of the needed names is among them.

    Raises:
        DataError: a needed column is absent.
    """
    needed = tuple(required)
    missing = [name for name in needed if column_of(columns, name) is None]
    if not missing:
        return
    lacks = ", ".join(" or ".join(map(repr, name.split("|"))) for name in missing)
    if not from_schema:
        held = f"{len(needed) - len(missing)} of the {len(needed)} needed are"
        raise DataError(
            f"{path}: needs column {lacks}; {held} among its {len(columns)} columns; "
            "is the header line missing or otherwise written?"
        )
    present = ", ".join(_shown_column(number, name) for number, name in enumerate(columns, 1))
    raise DataError(f"{path}: needs column {lacks}; columns present: {present}.")


def _shown_column(number: int, name: str) -> str:
    return repr(name) if re.fullmatch(r"[\w .:()/-]{1,60}", name) else f"(column {number})"


def is_archive(path: str) -> bool:
    """Whether a path ends as archives do."""
    return path.lower().endswith(ARCHIVES)


def shown(file: SourceFile) -> str:
    """A file as messages name it: `a.zip!data/test.json` for a member."""
    return file.path if file.member is None else f"{file.path}!{file.member}"


@contextmanager
def nameless(file: SourceFile) -> Iterator[None]:
    """Errors about a file that a pattern matched name it by its number: its name may be an id."""
    try:
        yield
    except (DataError, ConfigError, SetupError) as error:
        if not file.label:
            raise
        said = str(error).replace(shown(file), file.label).replace(file.path, file.label)
        raise type(error)(said) from None


@contextmanager
def open_data(file: SourceFile, open_file: OpenFile = open_source) -> Iterator[BinaryIO]:
    """The file's own bytes.

    Raises:
        DataError: the archive is cut off or damaged, or holds no such member.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(open_file(file.path))
        try:
            yield _opened(file, stream, stack)
        except BROKEN as error:
            kind = type(error).__name__
            raise DataError(
                f"{shown(file)}: cut off or damaged ({kind}); fetch the file again."
            ) from None


def _opened(file: SourceFile, stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    if file.member is not None and file.path.lower().endswith(".zip"):
        zipped = stack.enter_context(zipfile.ZipFile(stream))
        name = _member(file, [info.filename for info in zipped.infolist() if not info.is_dir()])
        return stack.enter_context(_zip_member(file, zipped, name))
    if file.member is not None:
        tarred = stack.enter_context(tarfile.TarFile.open(fileobj=stream, mode="r:*"))
        name = _member(file, [info.name for info in tarred.getmembers() if info.isfile()])
        return stack.enter_context(cast(BinaryIO, tarred.extractfile(name)))
    if file.path.lower().endswith(".gz"):
        return cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
    return stream


def _zip_member(file: SourceFile, zipped: zipfile.ZipFile, name: str) -> BinaryIO:
    try:
        return cast(BinaryIO, zipped.open(name))
    except NotImplementedError:
        raise DataError(f"{shown(file)}: compressed in a way unknown here; unpack it.") from None
    except RuntimeError:
        raise DataError(f"{shown(file)}: encrypted; unpack it.") from None


def _member(file: SourceFile, names: Sequence[str]) -> str:
    """The member of that path, or the only one whose path ends in it, or in its bare name."""
    wanted = file.member or ""
    names = [name for name in names if is_inside(name)]
    if wanted in names:
        return wanted
    for ending in (wanted, PurePosixPath(wanted).name):
        matches = [name for name in names if fnmatch(name, f"*/{ending}") or name == ending]
        if len(matches) == 1:
            return matches[0]
    count = f"{len(matches)} of its {len(names)} files are"
    raise DataError(f"{file.path}: {count} called {ending!r}; one is needed.")


def is_inside(name: str) -> bool:
    """Whether a member's path stays below the folder it would be unpacked in; others do not count.

    >>> is_inside("data/test.csv"), is_inside("../test.csv"), is_inside("C:/test.csv")
    (True, False, False)
    """
    path = PurePosixPath(name.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]


def seekable(stream: IO[bytes]) -> BinaryIO:
    """The stream, or its content in memory where one cannot go back in it."""
    if stream.seekable():
        return cast(BinaryIO, stream)
    return io.BytesIO(stream.read())
