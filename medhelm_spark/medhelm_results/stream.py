"""JSON of any size, item by item: no file is ever in memory as a whole."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from medhelm_spark.errors import DataError
from medhelm_spark.local_files import NotAFileError, open_file

BLOCK = 1 << 18
MOST_BYTES = 64 << 20
"""A file that is read as a whole (a RunSpec, a schema) is smaller than this."""

MOST_DEPTH = 256
"""Objects and lists within each other; the parser's memory grows by the square of their number."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1

# Python writes these where JSON has no word for a number. Inside a text a quote is escaped and a
# line end is too, so that what follows a plain one is a value.
_NO_NUMBER = re.compile(rb'((?<!\\)":\s{0,8}|\n\s{0,200})(?:NaN|-?Infinity)(?=\s*[,\]}])')


class BrokenFileError(DataError):
    """A file that is no whole JSON document, or not of the form that it should have."""


class _Plain:
    """A binary file in which NaN and Infinity are null, within bounds.

    `since_item` counts the bytes read since who reads its items set it to 0.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._rest = b""
        self._depth = 0
        self._is_in_text = False
        self.since_item = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, about `size` of them; none at the end, or where it is 0.

        Raises:
            BrokenFileError: an item is larger than `MOST_BYTES`, or deeper than `MOST_DEPTH`.
        """
        if size == 0:
            return b""
        while True:
            block = self._stream.read(max(size, BLOCK))
            self.since_item += len(block)
            if self.since_item > MOST_BYTES:
                raise BrokenFileError(f"{self._name} has an item of more than {MOST_BYTES:,} bytes")
            text = self._rest + block
            # Between a comma and what follows it no match is parted, in a text or not.
            cut = text.rfind(b",") + 1 if block else len(text)
            if cut or not block:
                self._rest = text[cut:]
                self._refuse_deep(text[:cut])
                return _without_nan(text[:cut])
            self._rest = text

    def _refuse_deep(self, block: bytes) -> None:
        """Follow the brackets outside of texts; a block ends no text by a backslash."""
        bare = _TEXT.sub(b"", b'"' + block if self._is_in_text else block)
        bare, quote, _ = bare.partition(b'"')
        self._is_in_text = bool(quote)
        if bare:
            depths = self._depth + np.cumsum(
                _STEPS[np.frombuffer(bare, dtype=np.uint8)], dtype=np.int64
            )
            self._depth = int(depths[-1])
            if depths.max() > MOST_DEPTH:
                raise BrokenFileError(f"{self._name} is nested deeper than {MOST_DEPTH} levels")


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
            plain = _Plain(stream, path.name)
            for item in ijson.items(plain, prefix, use_float=True):
                plain.since_item = 0
                yield item
    except ijson.JSONError as error:  # its message may quote the file
        is_cut = "EOF" in str(error) or "ncomplete" in str(error)
        raise BrokenFileError(
            f"{path.name} {'ends too early' if is_cut else 'is no JSON'}"
        ) from None
    except (NotAFileError, OSError) as error:
        raise BrokenFileError(f"{path.name} cannot be read ({type(error).__name__})") from None
    except ValueError:  # Python's, whose integers have 4,300 digits at most
        raise BrokenFileError(f"{path.name} has a number of too many digits") from None


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
