"""Ctrl-C and a cluster's stop end a command as KeyboardInterrupt, which tidies up."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from medhelm_spark.cli.exit_codes import INTERRUPTED, TERMINATED


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
    one: mostly enough for a lease to be given back. Who catches Ctrl-C, Spark to cancel its jobs,
    is asked at that moment.
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
