"""What `serve` refuses and what it starts; the running page is tested end to end."""

import ast
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from medhelm_spark import plugins
from medhelm_spark.board import is_loopback
from medhelm_spark.cli import serve as serve_module
from medhelm_spark.cli.serve import allowed_hosts, check_host, command, serve
from medhelm_spark.config.resources import resource
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import LakeError, PolicyError
from medhelm_spark.lake.reader import Reader, open_reader
from tests.unit.board.planted import append, prompt_of


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_gated_text_may_be_served_to_this_machine(reader: Reader, host: str) -> None:
    assert is_loopback(host)
    check_host(reader, host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "gpu-node-3"])
def test_gated_text_is_not_served_to_other_machines(reader: Reader, host: str) -> None:
    with pytest.raises(PolicyError, match=f"--host {host} would show the gated and private text"):
        check_host(reader, host)


def test_a_lake_of_public_text_may_be_served_to_other_machines(tmp_path: Path) -> None:
    append(tmp_path, "prompts", [prompt_of("triage_choice", AccessLevel.PUBLIC)], "w")
    check_host(open_reader(str(tmp_path)), "0.0.0.0")


def test_text_of_an_unfinished_write_counts(tmp_path: Path) -> None:
    append(tmp_path, "prompts", [prompt_of("triage_choice", AccessLevel.GATED)], "never-finished")
    with pytest.raises(PolicyError, match="gated text"):
        check_host(open_reader(str(tmp_path)), "0.0.0.0")


def test_the_command_binds_where_asked_and_sends_no_statistics() -> None:
    words = command("my lake", 8000, "127.0.0.1")
    options = dict(pairwise(words))
    assert Path(words[4]).name == "app.py"
    assert Path(words[4]).is_file()
    assert (options["--server.address"], options["--server.port"]) == ("127.0.0.1", "8000")
    assert options["--browser.gatherUsageStats"] == "false"
    assert words[-3:] == ["--", "--output-path", "my lake"]
    assert "--server.allowedHosts=localhost" in words
    assert "--server.allowedHosts=*" not in words


def test_the_page_holds_no_loose_text_which_streamlit_would_show() -> None:
    app = Path(command("lake", 8000, "127.0.0.1")[4])
    loose = [
        node.lineno
        for node in ast.parse(app.read_text(encoding="utf-8")).body[1:]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    assert not loose


def test_the_names_that_a_server_answers_to() -> None:
    assert allowed_hosts("127.0.0.1") == ["localhost", "127.0.0.1", "::1"]
    assert allowed_hosts("localhost", ["board.test"]) == [
        "localhost",
        "127.0.0.1",
        "::1",
        "board.test",
    ]
    elsewhere = allowed_hosts("0.0.0.0")
    assert socket.gethostname() in elsewhere
    assert not {"0.0.0.0", "*", ""} & set(elsewhere)


@pytest.mark.parametrize(
    ("suite", "release", "sentence"),
    [("s9", None, "no suite 's9'"), (None, "R9", "no release 'R9'")],
)
def test_an_unknown_name_is_said_before_a_server_starts(
    lake: Path, monkeypatch: pytest.MonkeyPatch, suite, release, sentence
) -> None:
    monkeypatch.setattr(serve_module.os, "execv", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(LakeError, match=sentence):
        serve(str(lake), suite, release, 8000, coverage_floor=0.9, smallest_group=20)


def test_the_suite_asked_for_reaches_the_page(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(serve_module.os, "execv", lambda _, words: started.append(words))
    serve(str(lake), "s0", None, 8000, coverage_floor=0.9, smallest_group=20)
    assert started[0][-6:-2] == ["--coverage-floor", "0.9", "--smallest-group", "20"]
    assert started[0][-2:] == ["--suite", "s0"]


def test_plug_ins_reach_the_page(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(serve_module.os, "execv", lambda _, words: started.append(words))
    modules = ["hospital_eval", "other"]
    serve(
        str(lake),
        None,
        None,
        8000,
        coverage_floor=0.9,
        smallest_group=20,
        site=Path("own"),
        plugins=modules,
    )
    assert started[0][-5:] == ["--local-path", "own", "--plugins", "hospital_eval", "other"]


@pytest.mark.attack("dashboard", "a plug-in that no policy lists, by streamlit run past serve")
def test_the_page_itself_checks_plug_ins(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lake's text is gated and private; whoever starts the server names plug-in and site."""
    (tmp_path / "leaking_plugin.py").write_text("METRICS = {}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["--output-path", str(lake), "--suite", "s1", "--local-path", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["app.py", *words, "--plugins", "leaking_plugin"])
    page = AppTest.from_file(str(resource("dashboards", "app.py")), default_timeout=60)
    try:
        body = "".join(part.proto.body for part in page.run().html)
        assert "plug-in leaking_plugin" in body
        assert "may not be loaded beside private text" in body
        assert not page.selectbox
        (plugin,) = plugins.active()
        listed = f"plugins: [{{module: leaking_plugin, sha256: {plugin.sha256}}}]"
        (tmp_path / "policy.yaml").write_text(listed, encoding="utf-8")
        assert page.run().selectbox
    finally:
        plugins.activate()
        streamlit.cache_resource.clear()
        streamlit.cache_data.clear()


SERVER = """
import runpy, sys, threading
from streamlit.web import cli

cli.main = lambda prog_name: print(*sys.path, sep="\\n")
threading.Thread.start = lambda _: None
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.attack("code", "a pandas.py of the working folder, imported by serve")
def test_the_server_imports_nothing_of_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise SystemExit('planted')")
    python, flag, server = command("lake", 8000, "127.0.0.1")[:3]
    done = subprocess.run(
        [python, flag, "-c", SERVER, server, "--"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = done.stdout.split("\n")
    assert paths[0] == str(Path(server).parent)
    assert str(tmp_path) not in paths and "" not in paths[:-1]
