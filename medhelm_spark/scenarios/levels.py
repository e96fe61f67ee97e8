"""What a record says of who may hold it, and the hashes by which its text is known again."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.scenarios.records import ParsedInput

LEVEL_COLUMN = "access_level"
LAKE_COLUMN = "write_id"
"""The column that every table of a lake has, and no other table is expected to have."""

_WHITE_SPACE = bytes(byte for byte in range(128) if chr(byte).isspace())
_LEVELS = {level.value: level for level in AccessLevel}

LONG = 64
"""From this many characters on a single column is known again; shorter ones are said by many."""


def table_level(fields: Mapping[str, Any]) -> AccessLevel | None:
    """The level of a table's row; a lake's row without one, and an unknown one, are private."""
    if LEVEL_COLUMN in fields:
        return file_level(fields) or AccessLevel.PRIVATE
    return AccessLevel.PRIVATE if LAKE_COLUMN in fields else None


def file_level(fields: Mapping[str, Any]) -> AccessLevel | None:
    """The level that a file's record names, as an export of a lake's table does."""
    value = fields.get(LEVEL_COLUMN)
    return _LEVELS.get(value) if isinstance(value, str) else None


def text_hashes(content: ParsedInput, fields: Mapping[str, Any]) -> tuple[int, ...]:
    """Hashes of an instance's texts: of all together, of each long one, of each long column.

    So a text is known again in another order, among others, by another template or card.
    """
    answers = [reference.text for reference in content.references]
    turns = [message.content for message in content.messages]
    whole = "\n".join((content.input, *turns, "", *answers))
    texts = {whole, *_long((content.input, *turns), fields)}  # a column is often the whole input
    return tuple(sorted(set(map(_hash, texts))))


def _long(texts: tuple[str, ...], fields: Mapping[str, Any]) -> Iterator[str]:
    for text in (*texts, *fields.values()):
        if isinstance(text, str) and len(text) >= LONG:
            yield text


def _hash(text: str) -> int:
    """64 bits of the text without its letters' case and its white space."""
    if text.isascii():  # the same bytes at a fifth of the time
        plain = text.lower().encode().translate(None, _WHITE_SPACE)
    else:
        plain = "".join(text.split()).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "big", signed=True)
