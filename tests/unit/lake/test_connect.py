"""A Spark Connect server that is not there."""

import socket

import pytest

from medhelm_spark.errors import SetupError
from medhelm_spark.lake.connect import PROXIES, check_answers


def test_a_connect_server_that_does_not_answer_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        with pytest.raises(SetupError, match=rf"no Spark Connect server .* 127.0.0.1:{port} "):
            check_answers(f"sc://127.0.0.1:{port}/;token=secret")
        listening.listen()
        check_answers(f"sc://127.0.0.1:{port}")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    check_answers(f"sc://127.0.0.1:{port}")
