"""Commits the answers of an order to their table, every few seconds while slots ask for more.

If the driver writes tables by itself, it commits the existing files. Otherwise a commit needs an
executor, and all of them are busy: answers stay in their files, which survive a failure, and are
committed at the end or by the next run.
"""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from medhelm_spark.errors import is_interrupt
from medhelm_spark.lake.literals import literal
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.dispatcher import Chunk
from medhelm_spark.stages.infer.order_folder import OrderFolder

LOG = logging.getLogger(__name__)
RESULTS = "request_results"
FILES_OF_A_COMMIT = 300
"""So many files of answers are committed at once: some 20,000 answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """A request that has a committed result."""

    request_id: str


class Commits:
    """The commits of one order."""

    def __init__(self, ctx: Context, folder: OrderFolder, write_id: str) -> None:
        self._ctx, self._folder, self._write_id = ctx, folder, write_id
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._rows = 0

    @property
    def stored(self) -> int:
        """The number of results that are committed, or in files that a commit will take."""
        return self._rows + len(self._folder.answered())

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Commit every few seconds while the body runs, and the rest when it has ended."""
        self._ended.clear()  # a group of deployments before this one has set it
        thread = threading.Thread(target=self._repeat, name="medhelm-spark-commits", daemon=True)
        if self._ctx.lake.is_folder_of_ours:
            thread.start()
        try:
            yield
        except BaseException as error:
            self._stop(thread)
            # A job that is stopped may have lost its executors: their answers stay in files.
            if self._ctx.lake.is_folder_of_ours or not is_interrupt(error):
                self.commit()
            raise
        self._stop(thread)
        self.commit()

    def _stop(self, thread: threading.Thread) -> None:
        self._ended.set()
        if thread.is_alive():
            thread.join()

    def commit(self) -> int:
        """Commit all answers that are in files; returns how many."""
        with self._lock:
            self._folder.take_answers()
            count = 0
            for name in self._folder.commits():
                folder = self._folder.commit(name)
                count += self._ctx.lake.append_files(RESULTS, folder, self._write_id, (name, 1))
                self._folder.end_commit(name)
            self._rows += count
            return count

    def unanswered(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """The unanswered rest of chunks whose slot has ended."""
        lost = list(chunks)
        answered = self._answered() if lost else set()
        left = []
        for chunk in lost:
            ids = self._folder.request_ids(chunk)
            rest = chunk.without({row for row in chunk.rows if ids[row] in answered})
            left += [rest] if rest else []
        return left

    def _answered(self) -> set[str]:
        if not self._ctx.lake.is_folder_of_ours:
            return self._folder.answered()
        self.commit()
        sql = f"SELECT request_id FROM {{{RESULTS}}} WHERE write_id = {literal(self._write_id)}"
        return {row.request_id for row in self._ctx.lake.rows(sql, AnsweredRequest)}

    def _repeat(self) -> None:
        waited = 0.0
        while not self._ended.wait(1.0):
            waited += 1.0
            if waited < self._ctx.commit_seconds and self._folder.count_files() < FILES_OF_A_COMMIT:
                continue
            waited = 0.0
            try:
                self.commit()
            except Exception as error:  # an error of the store; the last commit raises it
                LOG.warning("answers wait for their commit: %s", type(error).__name__)
