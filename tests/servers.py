"""Servers that tests start: a free port for them, and the moment from which they answer."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 90


def free_port() -> int:
    """A port of this machine that nobody listens at now."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


def wait_healthy(port: int, server: "subprocess.Popen[bytes]") -> None:
    """Wait until a Streamlit server answers; AssertionError where it ends or is too slow."""
    address = f"http://{HOST}:{port}/_stcore/health"
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, f"the server ended with {server.returncode}"
        try:
            with urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server was not healthy within {START_SECONDS} s")


@contextmanager
def served(
    words: list[str], port: int, log: Path, **variables: str
) -> "Iterator[subprocess.Popen[bytes]]":
    """A server of its own process, with these environment variables; a test may kill it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    with log.open("a", encoding="utf-8") as file:
        server = subprocess.Popen(words, env=env, stdout=file, stderr=file)
        try:
            wait_healthy(port, server)
            yield server
        finally:
            server.terminate()
            server.wait(timeout=30)
