"""The wheel alone, in an empty folder of a fresh environment, as a newcomer gets it.

One installation serves all checks: the shipped scenarios, the demo with the real embedded model,
the demo again, and the dashboard.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.installed import checked
from tests.servers import free_port, wait_healthy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder."""
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def demo(command: Path, folder: Path) -> str:
    """What the first demo printed."""
    checked(command, "fetch-model", folder=folder)
    return checked(command, "demo", "-o", "lake", folder=folder)


def test_scenarios_are_in_the_wheel(command: Path, folder: Path) -> None:
    shown = checked(command, "scenarios", folder=folder)
    assert {"pubmed_qa", "medcalc_bench", "aci_bench"} <= set(shown.split())


def test_the_demo_ends_with_a_board(demo: str) -> None:
    for name in ("TRIAGE-CHOICE", "DISCHARGE-NOTE", "PubMedQA", "baseline/constant"):
        assert name in demo
    assert "judge without evidence of its agreement with clinicians" in demo
    assert "Paired differences" in demo
    assert "medhelm-spark serve" in demo


def test_nothing_is_told_before_our_own_lines(demo: str) -> None:
    assert demo.startswith("ingest: ")
    assert not [line for line in demo.splitlines() if "WARN" in line or "log4j" in line]


def test_a_real_model_answered(demo: str, command: Path, folder: Path) -> None:
    board = checked(
        command, "leaderboard", "--suite", "demo", "-o", "lake", "--format", "json",
        "--output-file", "board.json", folder=folder,
    )  # fmt: skip
    assert "wrote" in board
    cells = json.loads((folder / "board.json").read_text())["cells"]
    real = [cell for cell in cells if cell["model_deployment"].startswith("huggingface/")]
    assert len(real) == 3
    assert all(cell["count"] + cell["num_unscored"] > 0 for cell in real)


def test_the_demo_again_calls_no_model(demo: str, command: Path, folder: Path) -> None:
    again = checked(command, "demo", "-o", "lake", folder=folder, JAVA_HOME="absent")
    assert "\n0 model calls" in again, "and it starts no JVM"


def test_the_dashboard_serves(demo: str, command: Path, folder: Path) -> None:
    port = free_port()
    server = subprocess.Popen(
        [str(command), "serve", "--suite", "demo", "-o", "lake", "-p", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_healthy(port, server)
    finally:
        server.terminate()
        server.wait(20)
