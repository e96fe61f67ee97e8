"""The answers of a run, read in a thread once somebody needs them, for all visitors alike."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from medhelm_spark.board import AnswerList

_ONE_AT_A_TIME = ThreadPoolExecutor(1, thread_name_prefix="medhelm-spark-answers")
"""Of millions of answers two lists at once would take twice the memory, and no less time."""


class AnswerReading:
    """A list of answers that is there, on its way or not begun."""

    def __init__(self, read: Callable[[], AnswerList]) -> None:
        self._read = read
        self._future: Future[AnswerList] | None = None
        self._lock = threading.Lock()

    @property
    def has_ended(self) -> bool:
        """Whether `result` returns, or raises, at once."""
        return self._future is not None and self._future.done()

    def begin(self) -> "Future[AnswerList]":
        """Start reading where nobody has."""
        with self._lock:
            if self._future is None:
                self._future = _ONE_AT_A_TIME.submit(self._read)
            return self._future

    def result(self) -> AnswerList:
        """The list, once it is there; what failed is tried again by the next caller."""
        future = self.begin()
        try:
            return future.result()
        except Exception:
            self._future = None
            raise
