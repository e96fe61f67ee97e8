"""The guard of a process, tried in a process of its own: it cannot be removed again."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import asyncio, json, os, socket, sys
from medhelm_spark.air_gap.guard import ListedAddress, go_offline, listed

server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
go_offline([ListedAddress("192.0.2.7", 443, "model a"), ListedAddress("llm.invalid", 443, "b")])

def outcome(call):
    try:
        call()
        return "made"
    except BaseException as error:
        return type(error).__name__

def datagram():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("192.0.2.9", 53))

def by_loop():
    asyncio.run(asyncio.wait_for(asyncio.open_connection("192.0.2.9", 443), 2))

def by_urllib():
    import urllib.request
    urllib.request.urlopen("http://192.0.2.9/", timeout=1)

def connect(host, port, family=socket.AF_INET):
    own = socket.socket(family)
    own.settimeout(0.2)
    own.connect((host, port))

go_offline([])
print(json.dumps({
    "own machine": outcome(lambda: connect("127.0.0.1", port)),
    "own name": outcome(lambda: socket.getaddrinfo("localhost", port)),
    "own host name": outcome(lambda: socket.getaddrinfo(socket.gethostname(), port)),
    "listed": outcome(lambda: connect("192.0.2.7", 443)),
    "listed at another port": outcome(lambda: connect("192.0.2.7", 80)),
    "not listed": outcome(lambda: connect("192.0.2.9", 443)),
    "mapped": outcome(lambda: connect("::ffff:192.0.2.9", 443, socket.AF_INET6)),
    "datagram": outcome(datagram),
    "event loop": outcome(by_loop),
    "urllib": outcome(by_urllib),
    "listed name": outcome(lambda: socket.getaddrinfo("llm.invalid", 443)),
    "name": outcome(lambda: socket.getaddrinfo("huggingface.co", 443)),
    "name in capitals": outcome(lambda: socket.gethostbyname("HuggingFace.co.")),
    "name by its host": outcome(lambda: socket.gethostbyaddr("huggingface.co")),
    "name of an address": outcome(lambda: socket.gethostbyaddr("192.0.2.9")),
    "name of a socket address": outcome(lambda: socket.getnameinfo(("192.0.2.9", 53), 0)),
    "own name of an address": outcome(lambda: socket.getnameinfo(("127.0.0.1", port), 0)),
    "switches": [os.environ[name] for name in ("HF_HUB_OFFLINE", "PIP_NO_INDEX")],
    "list": len(listed()),
}))
"""


@pytest.fixture(scope="module")
def tried() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("attempt", ["own machine", "own name", "own host name"])
def test_this_machine_is_never_refused(tried: dict[str, Any], attempt: str) -> None:
    assert tried[attempt] == "made"


@pytest.mark.attack("egress", "a connection or a look-up beyond the list, while offline")
@pytest.mark.parametrize(
    "attempt",
    [
        "listed at another port",
        "not listed",
        "mapped",
        "datagram",
        "event loop",
        "name",
        "name in capitals",
        "name by its host",
        "name of an address",
        "name of a socket address",
    ],
)
def test_what_is_not_listed_is_refused(tried: dict[str, Any], attempt: str) -> None:
    assert tried[attempt] == "OfflineRefusal"


def test_the_name_of_this_machines_own_address_may_be_asked_for(tried: dict[str, Any]) -> None:
    assert tried["own name of an address"] == "made"


def test_for_a_library_a_refused_server_is_one_that_does_not_answer(tried: dict[str, Any]) -> None:
    assert tried["urllib"] == "URLError"


def test_what_is_listed_is_tried_by_the_network(tried: dict[str, Any]) -> None:
    assert tried["listed"] not in ("OfflineRefusal", "made")
    assert tried["listed name"] == "gaierror"


def test_every_switch_is_set_and_a_second_call_takes_nothing_away(tried: dict[str, Any]) -> None:
    assert tried["switches"] == ["1", "1"]
    assert tried["list"] == 2


PLUG_IN = """
import os, pathlib, socket

said = [os.environ.get("HF_HUB_OFFLINE", "no switch")]
try:
    socket.create_connection(("192.0.2.9", 443), timeout=1)
except BaseException as error:
    said.append(type(error).__name__)
pathlib.Path(__file__).with_name("said").write_text(" ".join(said))
METRICS = {}
"""


def test_the_flag_binds_a_plug_in_while_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "probing.py").write_text(PLUG_IN)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "from medhelm_spark.cli import main; "
        "main(['run', '-r', 'none', '--suite', 's', '--plugins', 'probing', '--offline'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "plug-in probing" in done.stderr
    assert (tmp_path / "said").read_text() == "1 OfflineRefusal"
