"""Ctrl-C and a cluster's stop end a command as KeyboardInterrupt, which tidies up."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from medhelm_spark.cli.exit_codes import INTERRUPTED, TERMINATED

SECONDS_TO_END = 20.0
"""How long a stopped program may take to leave; Kubernetes kills after thirty."""


@dataclass(slots=True)
class Stop:
    """How a command was stopped, if it was."""

    exit_code: int = INTERRUPTED

    @property
    def cause(self) -> str:
        """In a person's words."""
        return "stopped by SIGTERM" if self.exit_code == TERMINATED else "interrupted"


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within, SIGTERM does what Ctrl-C does; the first time only: a second one ends at once.

    Kubernetes and systemd send SIGTERM and wait some seconds before they kill, YARN a quarter of
    one: mostly enough for a lease to be given back. The handler of Ctrl-C, as Spark's that cancels
    its jobs, is looked up at that moment.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # a platform's thread, which gets no signals
        return

    def terminate(_: int, frame: FrameType | None) -> None:
        stop.exit_code = TERMINATED
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)


def end_soon(exit_code: int) -> None:
    """End this program with `exit_code` in 20 s, if it has not ended by then.

    PySpark says good-bye to a Spark Connect server as the interpreter ends, and tries a server that
    no longer answers for a quarter of an hour.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # a platform's thread: the program is not ours
    timer = threading.Timer(SECONDS_TO_END, os._exit, (exit_code,))
    timer.daemon = True
    timer.start()
