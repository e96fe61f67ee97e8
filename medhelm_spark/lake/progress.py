"""Progress of a job while it runs: rows that its tasks have yielded, rows a second, time left.

A terminal has it as one line that is drawn anew; a log gets a line every minute. Tasks send the
driver small UDP datagrams of counts, nothing else. Each has the total so far, so that a lost one
does no harm, and where a network forbids them only the display is missing.

Over Spark Connect the driver is another process, which reports finished tasks instead.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Any, Protocol, TextIO

from pyspark.sql import SparkSession

from medhelm_spark.lake.settings import is_connect, setting

CLEAR_LINE = "\r\x1b[K"
SEND_SECONDS = 0.5
DRAW_SECONDS = 0.5
LOG_SECONDS = 60.0
Rows = Callable[[Iterable[Any]], Iterable[Any]]
Watch = Callable[[Rows], Rows]


def unwatched(fn: Rows) -> Rows:
    """The function as it is, without progress: for callers who show none."""
    return fn


@dataclass(frozen=True, slots=True)
class Display:
    """Where progress is shown: `draw` gets a line every so many seconds, an empty one last."""

    draw: Callable[[str], None]
    seconds: float


def on_terminal(terminal: TextIO) -> Display:
    """One line of a terminal, drawn over the last one."""

    def draw(line: str) -> None:
        terminal.write(f"{CLEAR_LINE}{line}")
        terminal.flush()

    return Display(draw, DRAW_SECONDS)


def in_log(say: Callable[[str], None]) -> Display:
    """Lines of their own, a minute apart; a job that ends sooner has none."""

    def draw(line: str) -> None:
        if line:
            say(line)

    return Display(draw, LOG_SECONDS)


@dataclass(frozen=True, slots=True)
class Watched:
    """A function of rows that also sends the driver how many rows it has yielded.

    `key` marks this job's datagrams; `host` and `port` are the driver's.
    """

    fn: Rows
    host: str
    port: int
    key: str

    def __call__(self, rows: Iterable[Any]) -> Iterator[Any]:
        sender = f"{self.key} {os.getpid()}.{threading.get_ident()}.{time.monotonic_ns()}"
        yielded, tokens, sent = 0, 0, time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for row in self.fn(rows):
                yielded += getattr(row, "num_rows", 1)
                tokens += getattr(row, "completion_tokens", None) or 0
                if time.monotonic() - sent >= SEND_SECONDS:
                    sent = time.monotonic()
                    self._send(out, f"{sender} {yielded} {tokens}")
                yield row
            self._send(out, f"{sender} {yielded} {tokens}")

    def _send(self, out: socket.socket, message: str) -> None:
        try:
            out.sendto(message.encode(), (self.host, self.port))
        except OSError:
            return


def _watched(fn: Rows, *, host: str, port: int, key: str) -> Rows:
    """At the top of the module, so that it can be pickled."""
    return Watched(fn, host, port, key)


class Meter(threading.Thread):
    """Receives the counts of all tasks and shows one line of them."""

    def __init__(self, display: Display, label: str, total: int | None, host: str) -> None:
        super().__init__(daemon=True, name="medhelm-spark-progress")
        self.display, self.label, self.total = display, label, total
        self.key = token_hex(8)
        self._counts: dict[str, tuple[int, int]] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, 0))
        self._socket.settimeout(DRAW_SECONDS)
        self._began, self._ended = time.monotonic(), threading.Event()

    @property
    def port(self) -> int:
        """Where the tasks send their counts."""
        return int(self._socket.getsockname()[1])

    def run(self) -> None:
        """Receive and draw until stopped."""
        drawn = self._began
        while not self._ended.is_set():
            self._receive()
            if time.monotonic() - drawn >= self.display.seconds:
                drawn = time.monotonic()
                self.display.draw(self.line())

    def stop(self) -> None:
        """Stop, and clear the line for what is written next."""
        self._ended.set()
        with suppress(OSError):  # it may wait for a datagram, and gets one
            self._socket.sendto(b"", self._socket.getsockname())
        self.join()
        self._socket.close()
        self.display.draw("")

    def line(self) -> str:
        """The line of progress as of now, over all tasks."""
        rows = sum(rows for rows, _ in self._counts.values())
        tokens = sum(tokens for _, tokens in self._counts.values())
        return progress_line(self.label, rows, tokens, self.total, time.monotonic() - self._began)

    def _receive(self) -> None:
        try:
            words = self._socket.recv(256).decode("ascii", "replace").split()
        except TimeoutError:
            return
        if len(words) == 4 and words[0] == self.key and words[2].isdigit() and words[3].isdigit():
            self._counts[words[1]] = int(words[2]), int(words[3])


def progress_line(label: str, rows: int, tokens: int, total: int | None, seconds: float) -> str:
    """One line of progress; a total that was too small rises with the rows.

    >>> progress_line("infer", 500, 9000, 2000, 20.0)
    'infer: 500 of 2,000, 25.0/s, 450 tokens/s, 60 s left'
    >>> progress_line("plan", 0, 0, None, 1.0)
    'plan: 0'
    """
    parts = [f"{rows:,}" if total is None else f"{rows:,} of {max(rows, total):,}"]
    if rows and seconds > 0:
        parts.append(f"{rows / seconds:,.1f}/s")
        if tokens:
            parts.append(f"{tokens / seconds:,.0f} tokens/s")
        if total:
            parts.append(f"{_time(max(0, total - rows) * seconds / rows)} left")
    return f"{label}: {', '.join(parts)}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


@contextmanager
def metered(
    spark: SparkSession | None, display: Display | None, label: str, total: int | None = None
) -> Iterator[Watch]:
    """Show progress while the body runs; it passes the functions to be counted to what is yielded.

    Args:
        spark: the session whose tasks report to its driver; None where this process does the work.
        display: where it is shown; None for nowhere.
        label: the text before the numbers.
        total: how many rows there will be, where that is known.
    """
    if display is None:
        yield unwatched
        return
    if spark is not None and is_connect(spark):
        with _tasks_shown(spark, display, label):
            yield unwatched
        return
    host = (setting(spark, "spark.driver.host") if spark else None) or "127.0.0.1"
    try:
        meter = Meter(display, label, total, host)
    except OSError:  # the driver's address is a name that only the cluster resolves
        yield unwatched
        return
    meter.start()
    try:
        yield partial(_watched, host=host, port=meter.port, key=meter.key)
    finally:
        meter.stop()


class StageInfo(Protocol):
    """What a Spark Connect server reports of a stage of Spark's."""

    stage_id: int
    num_tasks: int
    num_completed_tasks: int


class ConnectMeter:
    """A progress handler of Spark Connect that shows one line.

    The rows of a finished task alone are seen, so it counts tasks, of the job that runs now. Spark
    reports stages that it skips too, whose output is there already: those before the last one that
    has finished a task, with none finished themselves.
    """

    def __init__(self, display: Display, label: str) -> None:
        self.display, self.label, self._drawn = display, label, time.monotonic()

    def __call__(
        self,
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        """Draw what the server reports, by the interface of `registerProgressHandler`."""
        reported = list(stages or ())
        is_due = time.monotonic() - self._drawn >= self.display.seconds
        if done or not reported or not is_due:
            return
        self._drawn = time.monotonic()
        begun = [stage.stage_id for stage in reported if stage.num_completed_tasks]
        last = max(begun, default=0)
        run = [stage for stage in reported if stage.num_completed_tasks or stage.stage_id > last]
        completed = sum(stage.num_completed_tasks for stage in run)
        total = sum(stage.num_tasks for stage in run)
        self.display.draw(f"{self.label}: {completed:,} of {total:,} tasks")


@contextmanager
def _tasks_shown(spark: SparkSession, display: Display, label: str) -> Iterator[None]:
    handler: Any = ConnectMeter(display, label)
    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)
        display.draw("")
