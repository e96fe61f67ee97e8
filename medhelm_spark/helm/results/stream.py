"""JSON of any size, item by item: no file is ever held as a whole."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from medhelm_spark.errors import DataError
from medhelm_spark.local_files import NotAFileError, open_file

BLOCK = 1 << 18
MOST_BYTES = 64 << 20
"""A file that is read as a whole (a RunSpec, a schema) is smaller than this."""

# Python writes these where JSON has no word for a number. Inside a text a quote is escaped and a
# line end is too, so that what stands behind a plain one is a value.
_NO_NUMBER = re.compile(rb'((?<!\\)":\s{0,8}|\n\s{0,200})(?:NaN|-?Infinity)(?=\s*[,\]}])')


class BrokenFileError(DataError):
    """A file that is no whole JSON document, or not of the form that it should have."""


class _Plain:
    """A binary file in which NaN and Infinity are null."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._kept = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, about as many as asked; none at the end, or where 0 are asked."""
        if size == 0:
            return b""
        while True:
            block = self._stream.read(max(size, BLOCK))
            held = self._kept + block
            if not block:
                self._kept = b""
                return _without_nan(held)
            # Between a comma and what follows it no match is parted, in a text or not.
            cut = held.rfind(b",") + 1
            if cut:
                self._kept = held[cut:]
                return _without_nan(held[:cut])
            self._kept = held


def _without_nan(block: bytes) -> bytes:
    if b"NaN" not in block and b"Infinity" not in block:
        return block
    return _NO_NUMBER.sub(rb"\1null", block)


def items(path: Path, prefix: str = "item") -> Iterator[Any]:
    """The items at a prefix of a JSON file (`item`: of the list that it is), one at a time.

    Raises:
        BrokenFileError: it cannot be read, or ends before it should; no byte of it is quoted.
    """
    import ijson  # only who reads results pays for it

    try:
        with open_file(path) as stream:
            yield from ijson.items(_Plain(stream), prefix, use_float=True)
    except ijson.JSONError as error:  # its message may quote the file
        is_cut = "EOF" in str(error) or "ncomplete" in str(error)
        raise BrokenFileError(
            f"{path.name} {'ends too early' if is_cut else 'is no JSON'}"
        ) from None
    except (NotAFileError, OSError) as error:
        raise BrokenFileError(f"{path.name} cannot be read ({type(error).__name__})") from None


def mapping(path: Path) -> Mapping[str, Any]:
    """A small JSON file that is an object, as a whole.

    Raises:
        BrokenFileError: as `items`; it is too large, or no object.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BrokenFileError(f"{path.name} cannot be read ({type(error).__name__})") from None
    if size > MOST_BYTES:
        raise BrokenFileError(f"{path.name} has {size:,} bytes; at most {MOST_BYTES:,} are read")
    document = next(items(path, ""), None)
    if not isinstance(document, dict):
        raise BrokenFileError(f"{path.name} is no JSON object")
    return document
