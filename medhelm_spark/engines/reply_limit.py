"""A limit on the bytes of a reply, whatever its length says: an endless one must not take memory.

Bytes count as they are once decompressed: a few of them can stand for gigabytes.
"""

import zlib
from collections.abc import AsyncIterator
from functools import lru_cache
from types import ModuleType
from typing import Any

_ANY_HEADER = 32 + zlib.MAX_WBITS
"""Of gzip, or of deflate."""


class ReplyTooLongError(Exception):
    """A reply has more bytes than are read; the connection is closed."""


def limited(httpx: ModuleType, transport: Any, limit: int) -> Any:
    """The transport of the HTTP client `httpx`, whose replies end with an error at the limit."""
    handle = transport.handle_async_request

    async def handle_limited(request: Any) -> Any:
        response = await handle(request)
        encoding = response.headers.pop("content-encoding", "")
        response.stream = _stream_type(httpx)(response.stream, limit, is_packed=bool(encoding))
        return response

    transport.handle_async_request = handle_limited
    return transport


@lru_cache(maxsize=2)
def _stream_type(httpx: ModuleType) -> Any:
    """The class of a reply's stream: the client takes subclasses of its own only."""

    class Limited(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any, limit: int, *, is_packed: bool) -> None:
            self._stream, self._left = stream, limit
            self._unpack = zlib.decompressobj(_ANY_HEADER) if is_packed else None

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._stream:
                if self._unpack:
                    try:
                        chunk = self._unpack.decompress(chunk, self._left + 1)
                    except zlib.error:
                        raise httpx.DecodingError("a reply that cannot be decompressed") from None
                self._left -= len(chunk)
                if self._left < 0:
                    raise ReplyTooLongError
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Limited
