"""Commands that are printed, and our own use of MLflow, look nothing up outside this machine."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from medhelm_spark.tracking.store import server_command
from tests.meta.tree import ROOT

WATCH = """
import os, socket
def note(host):
    host = host.decode() if isinstance(host, bytes) else str(host or "")
    if host not in ("", "localhost", "::1", "0.0.0.0") and not host.startswith("127."):
        with open(os.environ["LOOK_UPS"], "a") as to:
            to.write(host + "\\n")
look_up, connect = socket.getaddrinfo, socket.socket.connect
def watched_look_up(host, *more, **named):
    note(host)
    return look_up(host, *more, **named)
def watched_connect(self, address):
    if isinstance(address, tuple):
        note(address[0])
    return connect(self, address)
socket.getaddrinfo, socket.socket.connect = watched_look_up, watched_connect
"""
CLIENT = """
from medhelm_spark.tracking.store import Target, opened
import sys, time
with opened(sys.argv[1], "suite") as store:
    store.put(None, Target(name="a", tags={"key": "k"}))
time.sleep(3)
"""
PAGES = ("docs/comparing-in-mlflow.md",)


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """An environment in which Python writes down what it looks up, and is asked to report."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    silencing = ("PYTEST_", "CI", "GITHUB_", "MLFLOW_", "DO_NOT_TRACK")  # under tests it is silent
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(silencing)
    }
    python_path = f"{tmp_path}{os.pathsep}{ROOT}"
    folder = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **inherited,
        "PYTHONPATH": python_path,
        "PATH": folder,
        "LOOK_UPS": str(tmp_path / "looked_up"),
        "MLFLOW_DISABLE_TELEMETRY": "false",
    }


def looked_up(environment: dict[str, str]) -> list[str]:
    path = Path(environment["LOOK_UPS"])
    return path.read_text().splitlines() if path.exists() else []


def test_the_watch_sees_a_look_up(watched: dict[str, str]) -> None:
    code = "import socket; socket.getaddrinfo('192.0.2.1', 80)"
    subprocess.run([sys.executable, "-c", code], env=watched, check=True)
    assert looked_up(watched) == ["192.0.2.1"]


@pytest.mark.attack("network", "the printed mlflow server command reports how it is used")
def test_the_printed_server_looks_nothing_up(watched: dict[str, str], tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = f"{server_command(f'sqlite:///{tmp_path}/mlflow.db')} --port {port}"
    server = subprocess.Popen(
        ["sh", "-c", f"exec env {line}"],
        env=watched,
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(120):
            try:
                assert opener.open(f"http://127.0.0.1:{port}/health").status == 200
                break
            except OSError:
                assert server.poll() is None
                time.sleep(1)
        else:
            pytest.fail("the server did not start")
        time.sleep(3)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)
    assert looked_up(watched) == []


@pytest.mark.attack("network", "MLflow reports from our process how it is used, though asked to")
def test_our_use_of_mlflow_looks_nothing_up(watched: dict[str, str], tmp_path: Path) -> None:
    words = [sys.executable, "-c", CLIENT, f"sqlite:///{tmp_path}/mlflow.db"]
    subprocess.run(words, env=watched, cwd=tmp_path, check=True, capture_output=True)
    assert looked_up(watched) == []


def test_the_pages_show_the_same_command() -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
        (command,) = re.findall(r"^ *(\S+=\S+ .*mlflow server .*)$", text, re.MULTILINE)
        assert command.split() == server_command("sqlite:///benchmark_output/mlflow.db").split()
