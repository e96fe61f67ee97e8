"""A data file opened for a reader: plain, compressed by gzip, or a member of a zip or tar archive.

With the check that a table has the columns its card names.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import IO, Any, BinaryIO, cast

from medhelm_spark.domain.columns import listed_columns, nearest
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.encoded_text import quiet
from medhelm_spark.errors import ConfigError, DataError, MissingColumnError, SetupError
from medhelm_spark.scenarios.records import BadReason, column_of
from medhelm_spark.scenarios.sources import OpenFile, open_source
from medhelm_spark.scenarios.unpacking import (
    MAX_MEMBER_BYTES,
    MAX_TOTAL_BYTES,
    Allowance,
    Unpacked,
    allowance_of,
    check_members,
    size_of,
)

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
)


def _gunzip(stream: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=stream)


DECOMPRESS: Mapping[bytes, Callable[[BinaryIO], Any]] = MappingProxyType(
    {b"\x1f\x8b": _gunzip, b"BZh": bz2.BZ2File, b"\xfd7zXZ": lzma.LZMAFile}
)
"""What a tar may be compressed by, by its first bytes."""
CheckColumns = Callable[[Sequence[str]], None]
UNREAD: Mapping[str, Any] = MappingProxyType({})
"""A row of another partition, left unread."""


Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """An open file, its path for messages, and the source it belongs to.

    `member` is its path inside an archive. `required` are the columns that are needed: by them a
    header is recognised below a title. `report` is called with what a reader recognised about the
    file, once it has read so far. Of several partitions this one has every `partitions`-th row; a
    reader may yield the rows of the others as `UNREAD`.
    """

    path: str
    stream: BinaryIO
    source: DataSource
    member: str | None = None
    required: Sequence[str] = ()
    report: Report = quiet
    partition: int = 0
    partitions: int = 1

    def is_in_partition(self, row: int) -> bool:
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
        MissingColumnError: a needed column is absent.
    """
    needed = tuple(required)
    missing = [name for name in needed if column_of(columns, name) is None]
    if not missing:
        return
    near = "".join(f" {name!r} may be meant." for name in _near(missing, columns))
    lacks = ", ".join(" or ".join(map(repr, name.split("|"))) for name in missing)
    if not from_schema:
        found = f"{len(needed) - len(missing)} of the {len(needed)} needed are"
        raise MissingColumnError(
            f"{path}: needs column {lacks}; {found} among its {len(columns)} columns; "
            f"is the header line missing or otherwise written?{near}"
        )
    present = listed_columns(columns)
    raise MissingColumnError(f"{path}: needs column {lacks}; columns present: {present}.{near}")


def repeated(names: Sequence[str]) -> list[int]:
    """The numbers, from 1, of columns whose name an earlier one has.

    >>> repeated(["id", "q", "id", "id"])
    [3, 4]
    """
    first: dict[str, int] = {}
    return [
        number for number, name in enumerate(names, 1) if first.setdefault(name, number) < number
    ]


def _near(missing: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The columns that are nearest to those that are not there."""
    names = [part for name in missing for part in name.split("|")]
    return list(dict.fromkeys(near for name in names if (near := nearest(name, columns))))


def is_archive(path: str) -> bool:
    """Whether a path ends as archives do."""
    return path.lower().endswith(ARCHIVES)


def display_name(file: SourceFile) -> str:
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
        message = str(error).replace(display_name(file), file.label)
        if file.path not in file.label:  # a person named the archive, not its member
            message = message.replace(file.path, file.label)
        raise type(error)(message) from None


@contextmanager
def open_data(file: SourceFile, open_file: OpenFile = open_source) -> Iterator[BinaryIO]:
    """The file's own bytes, of a compressed one as many as it may unpack to.

    Raises:
        DataError: the archive is cut off or damaged, has no such member, or unpacks to more than
            `unpacking` allows, which is raised where those bytes are read.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(open_file(file.path))
        try:
            yield _opened(file, stream, stack)
        except BROKEN as error:
            kind = type(error).__name__
            raise DataError(
                f"{display_name(file)}: cut off or damaged ({kind}); fetch the file again."
            ) from None


@contextmanager
def open_members(
    file: SourceFile, open_file: OpenFile = open_source
) -> Iterator[Iterator[tuple[SourceFile, BinaryIO]]]:
    """Every file of an archive that the pattern `member` matches, in the archive's own order.

    They are read one after the other; messages name them by their number.

    Raises:
        DataError: as `open_data`; or no file matches.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(open_file(file.path))
        try:
            if file.path.lower().endswith(".zip"):
                yield _zip_members(file, stream, stack)
            else:
                yield _tar_members(file, stream, stack)
        except BROKEN as error:
            kind = type(error).__name__
            raise DataError(
                f"{display_name(file)}: cut off or damaged ({kind}); fetch the file again."
            ) from None


def _zip_members(
    file: SourceFile, stream: BinaryIO, stack: ExitStack
) -> Iterator[tuple[SourceFile, BinaryIO]]:
    zipped = stack.enter_context(zipfile.ZipFile(stream))
    check_members(file.path, (info.file_size for info in zipped.infolist()))
    names = [info.filename for info in zipped.infolist() if not info.is_dir()]
    size = size_of(stream)
    for member in _matching(file, names):
        name = str(member.member)
        with ExitStack() as opened:
            with nameless(member):
                allowance = allowance_of(member.label, zipped.getinfo(name), size)
                content = _counted(_zip_member(member, zipped, name), allowance, opened)
            yield member, content


def _tar_members(
    file: SourceFile, stream: BinaryIO, stack: ExitStack
) -> Iterator[tuple[SourceFile, BinaryIO]]:
    tarred, size = _opened_tar(file, stream, stack)
    infos = {info.name: info for info in tarred.getmembers() if info.isfile()}
    for member in _matching(file, list(infos)):
        allowance = Allowance(path=member.label, compressed=size)
        with ExitStack() as opened:
            with nameless(member):
                content = cast(BinaryIO, tarred.extractfile(infos[str(member.member)]))
            yield member, _counted(content, allowance, opened)


def _matching(file: SourceFile, names: Sequence[str]) -> Iterator[SourceFile]:
    """The files at the pattern's path below any folder, else those whose bare names match."""
    pattern = PurePosixPath(file.member or "")
    below = [name for name in names if is_inside(name)]
    for like in (str(pattern), pattern.name):
        if matches := [name for name in below if PurePosixPath(name).match(like)]:
            break
    else:
        raise DataError(f"{file.path}: none of its {len(below)} files is called {like!r}.")
    for number, name in enumerate(matches, 1):
        label = f"file {number} of {len(matches)} of {display_name(file)}"
        yield replace(file, member=name, label=label)


def _opened(file: SourceFile, stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    is_gzip = file.path.lower().endswith(".gz")
    if file.member is None:
        return _unpacked(file, stream, _gunzip, stack) if is_gzip else stream
    if file.path.lower().endswith(".zip"):
        zipped = stack.enter_context(zipfile.ZipFile(stream))
        check_members(file.path, (info.file_size for info in zipped.infolist()))
        name = _member(file, [info.filename for info in zipped.infolist() if not info.is_dir()])
        allowance = allowance_of(display_name(file), zipped.getinfo(name), size_of(stream))
        return _counted(_zip_member(file, zipped, name), allowance, stack)
    return _tar_member(file, stream, stack)


def _tar_member(file: SourceFile, stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    """A member of a tar, which is read from its beginning to find it."""
    tarred, size = _opened_tar(file, stream, stack)
    name = _member(file, [info.name for info in tarred.getmembers() if info.isfile()])
    # A sparse member of a few bytes may state terabytes, and reads as zeros.
    allowance = Allowance(path=display_name(file), compressed=size)
    return _counted(cast(BinaryIO, tarred.extractfile(name)), allowance, stack)


def _opened_tar(
    file: SourceFile, stream: BinaryIO, stack: ExitStack
) -> tuple[tarfile.TarFile, int]:
    """A tar whose members are not too many, and its own bytes."""
    size, head = size_of(stream), stream.read(8)
    stream.seek(0)
    unpack = next((each for magic, each in DECOMPRESS.items() if head.startswith(magic)), None)
    tar = _unpacked(file, stream, unpack, stack, most=MAX_TOTAL_BYTES) if unpack else stream
    tarred = stack.enter_context(tarfile.TarFile.open(fileobj=tar, mode="r:"))
    check_members(file.path, (info.size for info in tarred))
    return tarred, size


def _unpacked(
    file: SourceFile,
    stream: BinaryIO,
    unpack: Callable[[BinaryIO], Any],
    stack: ExitStack,
    *,
    most: int = MAX_MEMBER_BYTES,
) -> BinaryIO:
    allowance = Allowance(path=display_name(file), compressed=size_of(stream), most=most)
    return _counted(stack.enter_context(unpack(stream)), allowance, stack)


def _counted(stream: BinaryIO, allowance: Allowance, stack: ExitStack) -> BinaryIO:
    return cast(BinaryIO, stack.enter_context(Unpacked(stream, allowance)))


def _zip_member(file: SourceFile, zipped: zipfile.ZipFile, name: str) -> BinaryIO:
    try:
        return cast(BinaryIO, zipped.open(name))
    except NotImplementedError:
        raise DataError(
            f"{display_name(file)}: compressed in a way unknown here; unpack it."
        ) from None
    except RuntimeError:
        raise DataError(f"{display_name(file)}: encrypted; unpack it.") from None


def _member(file: SourceFile, names: Sequence[str]) -> str:
    """The member of that path, or the only one whose path ends in it, or in its bare name."""
    path = file.member or ""
    names = [name for name in names if is_inside(name)]
    if path in names:
        return path
    for ending in (path, PurePosixPath(path).name):
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
    if not path.parts or path.is_absolute():
        return False
    return ".." not in path.parts and ":" not in path.parts[0]


def seekable(stream: IO[bytes]) -> BinaryIO:
    """The stream, or its content in memory where one cannot go back in it."""
    if stream.seekable():
        return cast(BinaryIO, stream)
    return io.BytesIO(stream.read())
