"""What a row group of a Parquet file may unpack to, by its pages' own headers.

The sizes in a file's footer are its own word. A page's header is not: a reader unpacks a page into
a buffer of exactly the size that the header states, so these sizes bound the memory. Beyond them,
a value of a dictionary is in its page once and in the rows any number of times, and text
that is coded by common beginnings (DELTA_BYTE_ARRAY) repeats them. No library at hand gives page
headers; they are structs of Thrift's compact protocol, of which only numbers are read.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

DICTIONARY_PAGE = 2
BY_DICTIONARY = frozenset({2, 8})  # PLAIN_DICTIONARY, RLE_DICTIONARY
BY_BEGINNINGS = 7  # DELTA_BYTE_ARRAY
HEADER_BYTES = 512
"""Most headers are shorter; one with statistics of long texts is read again."""
MAX_HEADER_BYTES = 16 << 20
"""As much as Arrow reads."""
MAX_DEPTH = 16
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
OFFSET_BYTES = 8
"""What a value of variable length takes beside its own bytes."""
SMALL_DICTIONARY = 16 << 10
"""Bytes up to which each value is taken to be as long as the whole dictionary."""

Fields = dict[int, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSize:
    """What some columns of a row group may take, in bytes.

    `pages` is what the pages unpack to. `row` is what a row may take beyond that, columns with
    lists aside; `lists` is what all their values together may: a single row may contain them all.
    """

    pages: int = 0
    row: int = 0
    lists: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    kind: int
    size: int
    unpacked: int
    values: int
    encoding: int
    at: int


class _Header:
    """A struct of Thrift's compact protocol in some bytes, of which it may be only a beginning."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def fields(self, depth: int = 0) -> Fields:
        """Numbers and structs by field; text, lists and maps are passed over.

        Raises:
            IndexError: the bytes end before the struct.
            ValueError: it is no such struct, or is nested more deeply than any.
        """
        if depth > MAX_DEPTH:
            raise ValueError
        values: Fields = {}
        field = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            field = field + step if step else self._signed()
            values[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._pass_over(8)
            case 8:
                return self._pass_over(self._unsigned())
            case 9 | 10:
                head = self._byte()
                count = head >> 4 if head >> 4 < 15 else self._unsigned()
                return self._values(count, (head & 15,), depth)
            case 11:
                if not (count := self._unsigned()):
                    return None
                kinds = self._byte()
                return self._values(count, (kinds >> 4, kinds & 15), depth)
            case 12:
                return self.fields(depth + 1)
        raise ValueError

    def _values(self, count: int, kinds: Sequence[int], depth: int) -> None:
        for _ in range(count):
            for kind in kinds:
                self._value(kind, depth + 1)

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)

    def _pass_over(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise IndexError


def group_size(
    stream: BinaryIO, table: Any, group: int, columns: Sequence[str], *, most: int
) -> GroupSize:
    """What those columns of a row group of an open `pyarrow.parquet.ParquetFile` may take.

    No more is counted or unpacked once the pages come to more than `most` bytes.

    Raises:
        ValueError: a page has no header that can be read.
    """
    chunks = table.metadata.row_group(group)
    pages = row = lists = 0
    for number in range(chunks.num_columns):
        path = chunks.column(number).path_in_schema
        if not any(path == name or path.startswith(f"{name}.") for name in columns):
            continue
        chunk, column = chunks.column(number), table.schema.column(number)
        unpacked, values, widest = _chunk(stream, chunk, column, most - pages)
        pages += unpacked
        if pages > most:
            break
        if table.schema.column(number).max_repetition_level:
            lists += values * widest
        else:
            row += widest
    return GroupSize(pages=pages, row=row, lists=lists)


def _chunk(stream: BinaryIO, chunk: Any, column: Any, most: int) -> tuple[int, int, int]:
    """Unpacked bytes of a column in a row group, its values, and the most that each may add."""
    width = WIDTHS.get(chunk.physical_type, OFFSET_BYTES)
    if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY":
        width = column.length
    is_text = chunk.physical_type == "BYTE_ARRAY"
    unpacked = values = longest = 0
    dictionary: _Page | None = None
    for page in _pages(stream, chunk):
        unpacked += page.unpacked + HEADER_BYTES  # empty pages by the million cost as well
        if unpacked > most:
            break
        if page.kind == DICTIONARY_PAGE:
            dictionary = page
            continue
        values += page.values
        if is_text and page.encoding == BY_BEGINNINGS:
            longest = max(longest, page.unpacked)
        elif is_text and page.encoding in BY_DICTIONARY and dictionary is not None:
            longest = max(longest, _longest_value(stream, chunk, dictionary))
            dictionary = None
    return unpacked, values, max(width, longest, OFFSET_BYTES)


def _pages(stream: BinaryIO, chunk: Any) -> Iterator[_Page]:
    """The pages of a column in a row group, as far as Arrow reads them."""
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end, left = at + chunk.total_compressed_size, chunk.num_values
    while at < end and left > 0:
        page = _page(stream, at)
        yield page
        at = page.at + page.size
        left -= page.values if page.kind != DICTIONARY_PAGE else 0


def _page(stream: BinaryIO, at: int) -> _Page:
    count = HEADER_BYTES
    while True:
        stream.seek(at)
        content = stream.read(count)
        header = _Header(content)
        try:
            fields = header.fields()
            break
        except IndexError:
            if len(content) < count or count >= MAX_HEADER_BYTES:
                raise ValueError from None
            count = min(count * 8, MAX_HEADER_BYTES)
    kind, unpacked, size = (fields.get(key, -1) for key in (1, 2, 3))
    data = fields.get(5) or fields.get(7) or fields.get(8) or {}
    values, encoding = data.get(1, 0), data.get(4 if 8 in fields else 2, 0)
    numbers = (kind, unpacked, size, values, encoding)
    if any(not isinstance(number, int) or number < 0 for number in numbers):
        raise ValueError
    return _Page(
        kind=kind, size=size, unpacked=unpacked, values=values, encoding=encoding, at=at + header.at
    )


def _longest_value(stream: BinaryIO, chunk: Any, page: _Page) -> int:
    """Bytes of the longest text of a dictionary; of one that we cannot unpack, all its bytes."""
    if page.unpacked <= SMALL_DICTIONARY:
        return page.unpacked
    content = _unpacked_page(stream, chunk, page)
    at = longest = 0
    try:
        while at < len(content):
            (length,) = struct.unpack_from("<I", content, at)
            longest = max(longest, length)
            at += 4 + length
    except struct.error:
        return page.unpacked
    return min(longest, page.unpacked) if content else page.unpacked


def _unpacked_page(stream: BinaryIO, chunk: Any, page: _Page) -> bytes:
    import pyarrow as pa

    stream.seek(page.at)
    content = stream.read(page.size)
    if chunk.compression == "UNCOMPRESSED":
        return content
    try:
        codec = "lz4_raw" if chunk.compression == "LZ4" else chunk.compression.lower()
        unpacked: bytes = pa.Codec(codec).decompress(content, page.unpacked, asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return b""
    return unpacked
