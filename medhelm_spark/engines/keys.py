"""The headers that a client sends, with a key that is looked up anew before it ends.

One renewal serves all requests that wait for it. A refused key is looked up anew once: a key that
was accepted may have ended, and one that never was may be an old one of a cache. A new key that is
refused, too, before it was ever accepted, is wrong.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from medhelm_spark.engines.key_fetch import Key

Headers = Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class _Current:
    """The headers in use. `is_retried`: they were looked up because a key was refused."""

    number: int
    headers: Headers = field(repr=False)
    ends: float
    is_retried: bool = False
    is_accepted: bool = False


class Keys:
    """The headers of one client, in one event loop; `look_up` gives a key and the headers with it.

    Raises:
        SetupError, NoKeyError: there is no key.
    """

    def __init__(self, look_up: Callable[[], tuple[Key, Headers]]) -> None:
        self._look_up = look_up
        self._current = self._new(0)
        self._renewal: asyncio.Task[_Current] | None = None

    @property
    def headers(self) -> Headers:
        """The headers to send now."""
        return self._current.headers

    def begin(self) -> None:
        """New requests: a key that was refused before may be looked up anew."""
        self._current.is_retried = False

    async def number(self) -> int:
        """The number of a key that has not ended.

        Raises:
            SetupError, NoKeyError: it has, and there is no new one.
        """
        if time.monotonic() >= self._current.ends:
            await self._renew()
        return self._current.number

    def accept(self, number: int) -> None:
        """The server has taken a request with this key."""
        if number == self._current.number:
            self._current.is_accepted = True

    async def renewed(self, number: int) -> bool:
        """Whether there is another key than the one of this number, which the server refused.

        Raises:
            SetupError, NoKeyError: there is no key any more.
        """
        current = self._current
        if number != current.number:
            return True
        if current.is_retried and not current.is_accepted:
            return False
        new = await self._renew()
        if new.headers != current.headers:
            new.is_retried = True
            return True
        self._current.is_retried, self._current.is_accepted = True, False
        return False

    async def _renew(self) -> _Current:
        """The next key; those who ask while one is looked up get that one, or its failure."""
        if self._renewal is None:
            self._renewal = asyncio.create_task(self._replace())
        return await asyncio.shield(self._renewal)

    async def _replace(self) -> _Current:
        """Looks the next key up and puts it in place before anybody else can ask for another."""
        current = self._current
        try:
            new = await asyncio.to_thread(self._new, current.number)
        finally:
            self._renewal = None
        if new.headers != current.headers or time.monotonic() >= current.ends:
            self._current = new
        return new

    def _new(self, number: int) -> _Current:
        key, headers = self._look_up()
        ends = time.monotonic() + key.seconds if key.seconds else float("inf")
        return _Current(number=number + 1, headers=headers, ends=ends)
