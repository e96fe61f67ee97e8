"""Text files in the encodings that spreadsheets and databases write: UTF-8 first, and what shows.

UTF-16 and UTF-32 are recognised by their mark or their zeros. Else a file is UTF-8, until its first
byte that is not: where all before it was ASCII, the file is Windows-1252, which Excel writes as
"CSV" in western Europe. Which other code page of one byte a file has, its bytes do not show.
"""

import codecs
import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import BinaryIO

BLOCK = 1 << 20
HEAD_BYTES = 8
UTF_8, WINDOWS = "UTF-8", "Windows-1252"
MARKS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
ZEROS: Mapping[tuple[bool, ...], str] = {
    (False, True, True, True): "UTF-32-LE",
    (True, True, True, False): "UTF-32-BE",
    (False, True, False, True): "UTF-16-LE",
    (True, False, True, False): "UTF-16-BE",
}
"""Which of four bytes are zero where two characters, or one, are ASCII without a mark."""
_OTHER = "is {}, not text; give it the ending of what it is"
NOT_TEXT: Mapping[bytes, str] = {
    b"PK\x03\x04": _OTHER.format("a zip archive or an Office file"),
    b"\x1f\x8b": _OTHER.format("gzip"),
    b"PAR1": _OTHER.format("Parquet"),
    b"ARROW1": _OTHER.format("Feather"),
    b"\xd0\xcf\x11\xe0": "is a file of old Office (.xls, .doc), not text; save it anew",
}
"""What files are that are no text, by their first bytes."""
SAVE = "save it as UTF-8"


class NotTextError(ValueError):
    """Bytes that are no text: a sentence without its subject, which is the file."""


def codec_of(encoding: str) -> str | None:
    """Python's name of an encoding of text, None where it has none.

    >>> codec_of("Windows-1250"), codec_of("base64"), codec_of("klingon")
    ('cp1250', None, None)
    """
    with suppress(LookupError):
        info = codecs.lookup(encoding)
        # Python's codecs of bytes to bytes are none of text.
        return info.name if getattr(info, "_is_text_encoding", True) else None
    return None


def quiet(_: str) -> None:
    """Print nothing."""


class Utf8(io.RawIOBase):
    """The bytes of a text file as UTF-8 without a mark, read in blocks.

    `encoding` is the stated encoding (None: the one that the bytes show). `report` is called with
    the recognised encoding where it is not UTF-8.
    """

    def __init__(
        self, stream: BinaryIO, encoding: str | None = None, report: Callable[[str], None] = quiet
    ) -> None:
        super().__init__()
        self._stream = stream
        self._report = report
        self._is_said = encoding is not None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._head = b""
        self._handed = 0
        self._may_change = not self._is_said
        self._encoding = encoding or UTF_8

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """UTF-8; empty at the file's end alone.

        Raises:
            NotTextError: the bytes are no text; the sentence gives the offset in the file.
        """
        while True:
            block = self._stream.read(max(size, BLOCK) if size >= 0 else -1)
            if self._decoder is None:
                block = self._begun(block)
            self._handed += len(block)
            text = self._text(block)
            if text or not block:
                return text

    def _begun(self, block: bytes) -> bytes:
        while len(block) < HEAD_BYTES and (more := self._stream.read(BLOCK)):
            block += more
        self._head = block[:HEAD_BYTES]
        if not self._is_said:
            self._recognised(_encoding_of(self._head))
        self._may_change &= self._encoding == UTF_8 and not block.startswith(codecs.BOM_UTF8)
        codec = "utf-8-sig" if codec_of(self._encoding) == "utf-8" else self._encoding
        self._decoder = codecs.getincrementaldecoder(codec)()
        return block

    def _text(self, block: bytes) -> bytes:
        decoder = self._decoder
        assert decoder is not None  # set before the first block
        if self._may_change and block.isascii() and decoder.getstate()[0] == b"":
            return block
        try:
            text = decoder.decode(block, not block)
            self._may_change &= text.isascii()
            return text.encode()
        except UnicodeDecodeError as error:
            return self._otherwise(error)
        except UnicodeError:
            raise NotTextError(
                f"is {self._encoding} and contains half a character; {SAVE}"
            ) from None

    def _otherwise(self, error: UnicodeDecodeError) -> bytes:
        """The bytes at which UTF-8 ended in Windows-1252, and from then on."""
        for head, kind in NOT_TEXT.items():
            if self._head.startswith(head):
                raise NotTextError(kind) from None
        offset = self._handed - len(error.object) + error.start
        is_cut = error.end == len(error.object) and error.reason.startswith("unexpected end")
        refused = NotTextError(f"not {self._encoding} at byte {offset}; {SAVE}")
        if not self._may_change or is_cut or not error.object[: error.start].isascii():
            raise refused from None
        self._decoder = codecs.getincrementaldecoder("cp1252")()
        self._may_change = False
        try:
            text = self._decoder.decode(error.object)
        except UnicodeDecodeError:
            raise refused from None
        self._recognised(WINDOWS)
        return text.encode()

    def _recognised(self, encoding: str) -> None:
        self._encoding = encoding
        if encoding != UTF_8:
            self._report(f"encoding {encoding}")


def _encoding_of(head: bytes) -> str:
    """What the first bytes show.

    Raises:
        NotTextError: a zero where no text has one.
    """
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    if marked:
        return marked
    zeros = tuple(byte == 0 for byte in head[:4])
    if zeros in ZEROS:
        return ZEROS[zeros]
    if 0 in head[:2]:  # without a mark it would pass for UTF-8
        raise NotTextError(f"is UTF-16 or UTF-32; {SAVE}")
    return UTF_8
