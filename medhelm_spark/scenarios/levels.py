"""The level that a record states for itself, and the hashes by which its text is recognised."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import regex

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.json_text import objects
from medhelm_spark.scenarios.records import ParsedInput

LEVEL_COLUMN = "access_level"
LAKE_COLUMN = "write_id"
"""The column that every table of a lake has, and no other table is expected to have."""

_LEVELS = {level.value: level for level in AccessLevel}

LONG = 40
"""From this many characters on a single text is recognised; shorter ones are common to many."""
LONG_PLAIN, SHORT_PLAIN = 32, 16
"""The same in normal form: what so many characters of prose have, and what is hashed at least."""
NO_BOILERPLATE = 1000
"""A text of so many characters in normal form is nobody's boilerplate."""

_MARKS = regex.compile(r"[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point}")
_ASCII_MARKS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_WHITE_SPACE = bytes(byte for byte in range(128) if chr(byte).isspace())
_EARLIER_LONG = 64
_NESTED = 4
"""So often a text in JSON may be JSON itself."""


def table_level(fields: Mapping[str, Any]) -> AccessLevel | None:
    """The level of a table's row; a lake's row without one, and an unknown one, are private."""
    if LEVEL_COLUMN in fields:
        return _named_level(fields) or AccessLevel.PRIVATE
    return AccessLevel.PRIVATE if LAKE_COLUMN in fields else None


def file_level(fields: Mapping[str, Any], source: DataSource) -> AccessLevel | None:
    """The level that a file's record names, as an export of a lake's table does.

    An unknown one is private, as a table's is. In published data it is no level: a publisher's
    column of this name may mean something else.
    """
    level = _named_level(fields)
    if level or LEVEL_COLUMN not in fields or source.is_published:
        return level
    return AccessLevel.PRIVATE


def _named_level(fields: Mapping[str, Any]) -> AccessLevel | None:
    """The level that the column has, whatever its case and the blanks around it."""
    value = fields.get(LEVEL_COLUMN)
    return _LEVELS.get(value.strip().casefold()) if isinstance(value, str) else None


def text_hashes(content: ParsedInput, fields: Mapping[str, Any]) -> tuple[int, ...]:
    """Hashes of an instance's texts: of all together, of each long one, of each in a column.

    So a text is recognised in another order, among others, by another template or card, in other
    punctuation, and inside JSON. An odd hash is of a text that cannot be boilerplate.
    """
    prompts = (content.input, *(message.content for message in content.messages))
    parts = (*prompts, *(reference.text for reference in content.references))
    texts = set(_texts((*prompts, *fields.values())))
    plain = {text: normal_form(text) for text in {*parts, *texts}}
    hashes = {_hash(plain[text]) for text in texts if _is_long(text, plain[text])}
    # The form of texts in lines is that of their forms: only there can two letters become one.
    if whole := unicodedata.normalize("NFKC", "".join(plain[text] for text in parts)):
        hashes.add(_hash(whole, can_be_shared=False))
    earlier = {text for text in texts if len(text) >= _EARLIER_LONG}
    dense = {text: _dense(text) for text in {*parts, *earlier}}
    hashes.add(_digest(b"".join(dense[text] for text in parts)))
    return tuple(sorted(hashes.union(_digest(dense[text]) for text in earlier)))


def normal_form(text: str) -> str:
    """A text as it is compared: its letters, their marks and its digits, by NFKC without case.

    >>> normal_form("Temp. 38.5, ﬁne!")
    'temp385fine'
    """
    if text.isascii():  # the same at a tenth of the time
        return text.lower().encode().translate(None, _ASCII_MARKS).decode()
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Most that is dropped is ASCII: of bytes that takes a tenth of an expression's time.
    stripped = folded.encode("utf-8", "surrogatepass").translate(None, _ASCII_MARKS)
    plain = _MARKS.sub("", stripped.decode("utf-8", "surrogatepass"))
    # Once more: what is dropped may have been between a letter and its mark.
    return unicodedata.normalize("NFKC", plain)


def _texts(values: Iterable[Any], depth: int = 0) -> Iterator[str]:
    """Every text in some values; of one that is JSON, or contains an object, those in it too."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, str) and len(value) >= LONG_PLAIN:
            yield value
            if depth < _NESTED and ("{" in value or value.lstrip()[:1] in ("[", '"')):
                yield from _texts(_parsed(value), depth + 1)


def _parsed(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return [value for _, _, value in objects(text)]


def _is_long(text: str, plain: str) -> bool:
    """Whether a text with this normal form is long enough to be known by."""
    return len(plain) >= (SHORT_PLAIN if len(text) >= LONG else LONG_PLAIN)


def _hash(plain: str, *, can_be_shared: bool = True) -> int:
    """63 bits of a text in normal form; the last bit says that it cannot be boilerplate."""
    is_own = not can_be_shared or len(plain) >= NO_BOILERPLATE
    return _digest(plain.encode("utf-8", "surrogatepass")) & ~1 | is_own


def _digest(plain: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "big", signed=True)


def _dense(text: str) -> bytes:
    """A text as versions up to 0.1 hashed it; their lakes have no other hash."""
    if text.isascii():
        return text.lower().encode().translate(None, _WHITE_SPACE)
    return "".join(text.split()).casefold().encode("utf-8", "surrogatepass")
