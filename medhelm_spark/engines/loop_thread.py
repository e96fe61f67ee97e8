"""An event loop in a thread of its own: coroutines go to it and results come back in groups."""

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
STOP_SECONDS = 5.0


class LoopThread:
    """An asyncio loop that synchronous callers keep busy.

    To wake another thread costs more than most of a call. Coroutines that are submitted before the
    loop runs wake it once, and all that ends in one turn of the loop is handed back together.
    """

    def __init__(self, name: str) -> None:
        self._submitted: deque[tuple[Coroutine[Any, Any, Any], Future[Any]]] = deque()
        self._ended: list[tuple[asyncio.Task[Any], Future[Any]]] = []
        self._is_called = False
        self._loop = asyncio.new_event_loop()
        # What nobody waits for any more is not logged: it may quote what a server sent.
        self._loop.set_exception_handler(lambda *_: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        return not self._loop.is_closed()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Starts a coroutine; cancelling the future cancels it."""
        future: Future[T] = Future()
        self._submitted.append((coroutine, future))
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon_threadsafe(self._start)
        return future

    def _start(self) -> None:
        self._is_called = False
        while self._submitted:
            coroutine, future = self._submitted.popleft()
            task = self._loop.create_task(coroutine)
            task.add_done_callback(partial(self._end, future))
            future.add_done_callback(partial(self._stop, task))

    def _stop(self, task: asyncio.Task[Any], future: "Future[Any]") -> None:
        if future.cancelled():
            self._loop.call_soon_threadsafe(task.cancel)

    def _end(self, future: "Future[Any]", task: asyncio.Task[Any]) -> None:
        if not self._ended:
            self._loop.call_soon(self._hand_back)
        self._ended.append((task, future))

    def _hand_back(self) -> None:
        ended, self._ended = self._ended, []
        for task, future in ended:
            if task.cancelled():
                future.cancel()
            elif future.set_running_or_notify_cancel():
                if error := task.exception():
                    future.set_exception(error)
                else:
                    future.set_result(task.result())

    def close(self) -> None:
        """Cancels what still runs, ends the thread and frees the loop."""
        if not self.is_open:
            return
        self.submit(_cancel_others()).result(STOP_SECONDS)
        # The threads that look up host names.
        self.submit(self._loop.shutdown_default_executor()).result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
