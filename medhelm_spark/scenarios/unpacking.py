"""What a compressed file may unpack to: a few kilobytes must not fill a machine.

Deflate shrinks by 1,032 at most and text by 3 to 20; repeated rows of a table reach 100. What
shrinks more is refused as soon as so much of it is unpacked that it would matter, and so is what
is larger than any data set of this kind. The bytes that come out are counted, because the sizes
that an archive states of itself are its own word.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from medhelm_spark.errors import DataError

MAX_RATIO = 200
"""Unpacked bytes for one compressed byte."""
FREE_BYTES = 16 << 20
"""Up to here a member may shrink as it likes; even as JSON it is a few hundred MiB of memory."""
MAX_MEMBER_BYTES = 64 << 30
"""The largest tables of events that cards name unpack to some ten GiB."""
MAX_TOTAL_BYTES = 256 << 30
"""All members of an archive: a tar is read from its beginning to the requested member."""
MAX_PART_BYTES = 256 << 20
"""A part of an Office file that is read into memory as a whole: a Word document's text, a
workbook's strings. Sheets are read row by row."""
SHEETS = "xl/worksheets/"
MAX_MEMBERS = 200_000
"""A folder of notes has some thousands; every member's entry is in memory."""
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Of how many compressed bytes something is unpacked, and how many bytes may come out."""

    path: str
    compressed: int
    most: int = MAX_MEMBER_BYTES
    cure: str = "unpack it by hand"

    @property
    def limit(self) -> int:
        """Bytes that may come out."""
        return min(self.most, max(FREE_BYTES, self.compressed * MAX_RATIO))

    def error(self) -> DataError:
        """The error for a file that would go beyond it."""
        return DataError(
            f"{self.path}: its {self.compressed} compressed bytes unpack to more than "
            f"{self.limit}; {MAX_RATIO} times as many and {self.most} in all are allowed: if it is "
            f"what it should be, {self.cure}."
        )


@dataclass(slots=True)
class Count:
    """Bytes that have come out so far."""

    allowance: Allowance
    so_far: int = 0

    @property
    def left(self) -> int:
        """Bytes that may still come out."""
        return self.allowance.limit - self.so_far

    def add(self, count: int) -> None:
        """Count some more.

        Raises:
            DataError: more have come out than are allowed.
        """
        self.so_far += count
        if self.left < 0:
            raise self.allowance.error()


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes that ends in an error where more come out than are allowed.

    It reads in blocks, so that a reader who requests all of it does not have it in memory before
    the count is made, and goes forward by reading, so that skipped bytes count.
    """

    def __init__(self, stream: BinaryIO, allowance: Allowance) -> None:
        super().__init__()
        self._stream, self._allowance = stream, allowance
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        left = -1 if size is None else size
        blocks: list[bytes] = []
        while left:
            block = self._stream.read(BLOCK if left < 0 else min(left, BLOCK))
            if not block:
                break
            self._at += len(block)
            if self._at > self._allowance.limit:
                raise self._allowance.error()
            blocks.append(block)
            left -= len(block) if left > 0 else 0
        return blocks[0] if len(blocks) == 1 else b"".join(blocks)

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_END:
            self._skip(None)
        target = offset + (0 if whence == io.SEEK_SET else self._at)
        if target < self._at:
            self._at = self._stream.seek(target)
        self._skip(target - self._at)
        return self._at

    def _skip(self, count: int | None) -> None:
        while count is None or count > 0:
            block = self.read(BLOCK if count is None else min(count, BLOCK))
            if not block:
                return
            count = None if count is None else count - len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()


def size_of(stream: BinaryIO) -> int:
    """Bytes of a stream that one can go back in; it is left at its beginning."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


def check_members(path: str, sizes: Iterable[int]) -> None:
    """Refuse an archive of more members, or of more bytes in all, than are allowed.

    `sizes` are the unpacked bytes that each member states.

    Raises:
        DataError: There are too many, or they are too large together.
    """
    total = 0
    for number, size in enumerate(sizes, 1):
        total += max(size, 0)
        if number > MAX_MEMBERS:
            raise DataError(f"{path}: more than {MAX_MEMBERS} members; unpack it by hand.")
        if total > MAX_TOTAL_BYTES:
            raise DataError(
                f"{path}: its first {number} members unpack to more than {MAX_TOTAL_BYTES} bytes; "
                "unpack it by hand."
            )


def check_parts(path: str, document: ZipFile, size: int) -> None:
    """Refuse an Office file of `size` bytes whose parts are larger than anybody's document.

    A part is never longer than it states, because `zipfile` stops there.

    Raises:
        DataError: A part, named by its number, is too large.
    """
    check_members(path, (part.file_size for part in document.infolist()))
    for number, part in enumerate(document.infolist(), 1):
        most = MAX_MEMBER_BYTES if part.filename.startswith(SHEETS) else MAX_PART_BYTES
        allowance = allowance_of(f"{path} (part {number})", part, size, most=most)
        if part.file_size > allowance.limit:
            raise allowance.error()


def allowance_of(
    path: str, member: ZipInfo, size: int, *, most: int = MAX_MEMBER_BYTES
) -> Allowance:
    """The allowance of a member of a zip of `size` bytes, which no member of it exceeds."""
    return Allowance(path=path, compressed=min(member.compress_size, size), most=most)
