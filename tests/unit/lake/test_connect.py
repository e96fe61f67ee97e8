"""A Spark Connect server that is not there, or is and does not answer."""

import socket
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from medhelm_spark.errors import SetupError
from medhelm_spark.lake import connect
from medhelm_spark.lake.connect import PROXIES, check_answers


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(connect, "SECONDS", 2.0)


def test_a_connect_server_that_is_not_there_is_refused_at_once() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        with pytest.raises(SetupError, match=rf"no Spark Connect server .* 127.0.0.1:{port} "):
            check_answers(f"sc://127.0.0.1:{port}/;token=secret")


@pytest.mark.parametrize("options", ["", "/;use_ssl=true", "/;token=secret"])
def test_a_server_that_accepts_and_says_nothing_is_refused(options: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(SetupError, match=rf"{port} \(TimeoutError\)") as refused:
            check_answers(f"sc://127.0.0.1:{port}{options}")
        assert "secret" not in str(refused.value)


def test_a_proxy_is_asked_by_grpc_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with pytest.raises(SetupError, match="TimeoutError"):
        check_answers("sc://spark.example.invalid:443")


def test_a_server_that_shakes_hands_is_taken() -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        check_answers(f"sc://127.0.0.1:{port}")
    finally:
        server.stop(None)
