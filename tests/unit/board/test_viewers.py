"""Who looks: told by where the server is bound and by what a browser sends."""

import pytest

from medhelm_spark.board import Viewer, viewer_of

HERE = {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("127.0.0.1", HERE),
        ("localhost", {"Host": "localhost:8000"}),
        ("::1", {"Host": "[::1]:8501", "origin": "http://[::1]:8501"}),
    ],
)
def test_a_browser_at_this_machine(address: str, headers: dict[str, str]) -> None:
    assert viewer_of(address, headers) is Viewer.THIS_MACHINE


@pytest.mark.attack("dashboard", "a server bound to every address, asked by a forged Host")
@pytest.mark.parametrize("address", ["0.0.0.0", "::", "", None, "10.1.2.3", "unix:/run/socket"])
def test_a_server_that_others_reach(address: str | None) -> None:
    assert viewer_of(address, HERE) is Viewer.ANYONE


@pytest.mark.attack("dashboard", "another site's name, origin or proxy before a local server")
@pytest.mark.parametrize(
    "sent",
    [
        {"Host": "evil.test:8501"},
        {"Host": "127.0.0.1.evil.test"},
        {"Host": "127.0.0.1@evil.test"},
        {"Host": "evil.test", "Origin": "http://evil.test"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"X-Forwarded-For": "10.0.0.9"},
        {"via": "1.1 proxy"},
        {"Forwarded": "for=10.0.0.9"},
        {"X-Forwarded-Proto": "https"},
        {"CF-Connecting-IP": "10.0.0.9"},
    ],
)
def test_a_request_that_came_otherwise(sent: dict[str, str]) -> None:
    assert viewer_of("127.0.0.1", HERE | sent) is Viewer.ANYONE


def test_a_request_without_a_host_is_anyones() -> None:
    assert viewer_of("127.0.0.1", {}) is Viewer.ANYONE
