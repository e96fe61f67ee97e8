"""`scenarios fetch`: data got before a run, against a server of the test's own."""

import hashlib
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark import Evaluation, Outcome
from medhelm_spark.cli import main
from tests.cards import NOTES

CONTENT = b"case,note,question,answer\nc1,Well.,Is it?,yes\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where `notes.csv` is served; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    served = tmp_path / "served"
    served.mkdir()
    (served / "notes.csv").write_bytes(CONTENT)
    handler = partial(Quiet, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def card(name: str, **source: Any) -> None:
    path = Path("prod_env", "scenarios", f"{name}.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({**NOTES, "name": name, "source": source}))


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.splitlines()


def test_every_scenario_has_a_line_and_the_code_says_whether_all_are_here(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = {"path": "away/notes.csv", "sha256": DIGEST}
    card("away", files=[{**file, "url": f"{address}/notes.csv"}])
    card("gone", files=[{**file, "url": f"{address}/gone.csv"}])
    card("other", files=[{**file, "url": f"{address}/notes.csv", "sha256": "0" * 64}])
    card("here", files=[{"path": "served/notes.csv"}])
    card("nowhere", files=[{"path": "nowhere.csv"}], origin="the clinic")
    assert main(["scenarios", "fetch", "away", "here"]) == 0
    assert lines(capsys) == [
        "away: fetched, 1 file, 0.0 MB",
        "here: already here, 1 file, 0.0 MB",
    ]
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert main(["scenarios", "fetch", "away", "gone", "other", "nowhere", "medhallu"]) == 6
    away, gone, hub, nowhere, other = lines(capsys)
    assert away == "away: already here, 1 file, 0.0 MB"
    assert gone.startswith(f"gone: cannot be had: {address}/gone.csv: the server answered 404")
    assert "install 'medhelm-spark[hub]'" in hub
    assert nowhere == (
        "nowhere: cannot be had: nowhere.csv: no such file; it comes from the clinic; give the "
        "data with --source"
    )
    assert f"SHA-256 is {DIGEST}, pinned is {'0' * 64}; nothing was kept" in other
    assert not Path("benchmark_output").exists()


def test_a_choice_of_data_that_is_left_open_is_every_choice(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for subset in ("healthcaremagic", "icliniq"):
        folder = Path("med_dialog", subset)
        folder.mkdir(parents=True)
        (folder / "test.json").write_text("{}")
    fetched = Evaluation(tracking=False).fetch_data(["med_dialog:subset=icliniq"])
    assert [(row.scenario_name, row.outcome) for row in fetched.scenarios] == [
        ("med_dialog:subset=icliniq", Outcome.HERE)
    ]
    fetched = Evaluation(tracking=False).fetch_data("med_dialog")
    assert fetched.to_pandas()["files"].tolist() == [1, 1]
    assert str(fetched).endswith("2 scenarios, 0 cannot be had")
    assert "med_dialog:subset=healthcaremagic" in fetched._repr_html_()
    assert len(lines(capsys)) == 3


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([], "scenarios fetch: give names of scenarios, or --all-public."),
        (["away", "med_qaa"], "unknown scenario 'med_qaa'. Did you mean 'med_qa'?"),
        (["away", "mmlu:subject=sports"], "subject is 'sports'; allowed: anatomy"),
        (["away", "mmlu:topic=x"], "unknown argument 'topic'"),
    ],
)
def test_what_is_typed_wrong_is_said_before_anything_is_fetched(
    address: str, typed: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = {"path": "away/notes.csv", "sha256": DIGEST, "url": f"{address}/notes.csv"}
    card("away", files=[file])
    assert main(["scenarios", "fetch", *typed]) == 1
    (line,) = lines(capsys)
    assert message in line
    assert not Path("cache", "data").exists()


@pytest.mark.parametrize("typed", [["list", "med_qa"], ["check", "--all-public"]])
def test_names_are_for_fetch_alone(
    address: str, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenarios", *typed]) == 1
    assert f"{typed[1]!r} is for scenarios fetch" in capsys.readouterr().err


def test_all_public_are_the_public_ones(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nothing leaves this machine
    assert main(["scenarios", "fetch", "--all-public"]) == 6
    names = {line.split(": ")[0] for line in lines(capsys)}
    assert {"med_qa", "pubmed_qa", "mmlu:subject=virology"} <= names
    assert not {"ehrshot", "mimic_rrs", "mmlu"} & names
