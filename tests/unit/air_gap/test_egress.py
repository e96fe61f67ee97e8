"""What `doctor --egress` prints of addresses that must be closed, and of those that are needed."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from medhelm_spark.air_gap.checks import egress_findings
from medhelm_spark.cli import main
from medhelm_spark.doctor import CheckFinding, CheckState
from medhelm_spark.workspace.workspace import Workspace


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        yield server


def address_of(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def found(site: Path | None, lake: Path, *addresses: str) -> list[CheckFinding]:
    here = Workspace(str(lake), site)
    every = egress_findings(here, addresses, on_executors=False)
    return [each for each in every if each.where == "driver"]


@pytest.mark.attack("egress", "a network that lets the job out to a place that has to be closed")
def test_an_address_that_can_be_reached_is_wrong_and_nothing_was_sent(
    server: socket.socket, tmp_path: Path
) -> None:
    (finding,) = found(None, tmp_path, address_of(server))
    assert (finding.state, finding.found) == (CheckState.WRONG, f"{address_of(server)}: open")
    connection, _ = server.accept()
    connection.settimeout(5)
    assert connection.recv(1) == b""


def test_an_address_that_is_refused_is_well(server: socket.socket, tmp_path: Path) -> None:
    address = address_of(server)
    server.close()
    (finding,) = found(None, tmp_path, address)
    assert finding.state is CheckState.OK
    assert "refused" in finding.found
    (finding,) = found(None, tmp_path, "nowhere.invalid")
    assert finding.found == "nowhere.invalid:443: the name is not known"


def test_a_server_that_the_site_needs_has_to_be_reached(
    server: socket.socket, tmp_path: Path
) -> None:
    address = address_of(server)
    settings = yaml.safe_dump({"tracking_uri": f"http://{address}"})
    (tmp_path / "settings.yaml").write_text(settings)
    _, needed = found(tmp_path, tmp_path, "nowhere.invalid")
    assert (needed.state, needed.found) == (CheckState.OK, f"{address}: open")
    server.close()
    _, needed = found(tmp_path, tmp_path, "nowhere.invalid")
    assert needed.state is CheckState.WARNING
    assert "open the rule" in needed.remedy


def test_the_command_ends_with_what_is_wrong(
    server: socket.socket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "doctor",
        "--egress",
        address_of(server),
        "--no-tracking",
        "-o",
        str(tmp_path / "lake"),
    ]
    assert main(words) == 1
    output = capsys.readouterr().out
    assert f"wrong    egress      driver: {address_of(server)}: open" in output
    assert "warning  egress      executors: not looked at" in output
