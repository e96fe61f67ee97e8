"""A limit on the bytes of a reply, whatever its length says: an endless one must not take memory.

Bytes count as they are once decompressed: a few of them can expand to gigabytes.
"""

import zlib
from collections.abc import AsyncIterable

MAX_REPLY_BYTES = 8 << 20
"""Sixteen of them at once fit in a worker and in a batch of rows; an answer has a thousandth."""
_ANY_HEADER = 32 + zlib.MAX_WBITS
"""Of gzip, or of deflate."""


class ReplyTooLongError(Exception):
    """A reply has more bytes than are read; the connection is closed."""


async def whole(chunks: AsyncIterable[bytes], limit: int, *, is_packed: bool) -> bytes:
    """The bytes of a reply, unpacked.

    Raises:
        ReplyTooLongError: they are more than `limit`.
        zlib.error: they cannot be unpacked.
    """
    unpack = zlib.decompressobj(_ANY_HEADER) if is_packed else None
    read = bytearray()
    async for chunk in chunks:
        read += unpack.decompress(chunk, limit + 1 - len(read)) if unpack else chunk
        if len(read) > limit:
            raise ReplyTooLongError
    return bytes(read)
