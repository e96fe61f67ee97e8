"""Names with control characters: refused where they come in, harmless where they are shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.board.render.charts import dot_plots, heat_map, svg
from medhelm_spark.cli.printing import write_out
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.run_entries import parse_entry
from medhelm_spark.workspace.names import check_name
from medhelm_spark.workspace.workspace import Workspace, say
from tests.unit.render.test_report_file import SCALED
from tests.unit.statistics.cells import board_of

SIGNS = ["\x1b]0;x\x07", "\x9b2J", "\x00", "\u202e", "\u200b", "\u2028", "\n"]
ATTACK = pytest.mark.attack("inputs", "control characters in names, at every entrance")


@ATTACK
@pytest.mark.parametrize("sign", SIGNS)
def test_a_suite_a_release_a_run_entry_and_a_deployment(tmp_path: Path, sign: str) -> None:
    for kind in ("suite", "release"):
        with pytest.raises(ConfigError, match="all of them printable") as caught:
            check_name(kind, f"a{sign}b")
        assert str(caught.value).isprintable()
    if sign != "\n":
        with pytest.raises(ConfigError, match="not printable") as caught:
            parse_entry(f"pubmed_qa:model=acme/a{sign}b", where="-r")
        assert str(caught.value).isprintable()
    deployment = Deployment(
        name=f"acme/a{sign}b", model="m", engine="canned", locality=Locality.LOCAL, origin="x"
    )
    with pytest.raises(ConfigError, match="allowed: printable text in one line") as caught:
        Workspace(str(tmp_path / "lake"), None, deployments=[deployment])
    assert str(caught.value).isprintable()


@ATTACK
@pytest.mark.parametrize("sign", ["\\e]0;x\\a", "\\x9b2J", "\\u202e", "\\u200b", "\\n"])
@pytest.mark.parametrize("key", ["name", "category"])
def test_a_name_in_a_file_of_configuration(benchmark: Path, sign: str, key: str) -> None:
    lines = [line for line in benchmark.read_text().splitlines() if not line.startswith(f"{key}:")]
    benchmark.write_text("\n".join([*lines, f'{key}: "a{sign}b"']))
    with pytest.raises(ConfigError, match=f"{key} is .*allowed: printable text in one line"):
        load_benchmark(benchmark)


@ATTACK
def test_what_is_shown_obeys_no_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say("model acme/\x1b[2J\u202e")
    assert capsys.readouterr().err == "model acme/\\x1b[2J\\u202e\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    write_out("acme/\x1b[2J\t1")
    assert capsys.readouterr().out == "acme/\\x1b[2J\t1\n"


@ATTACK
@pytest.mark.parametrize("sign", SIGNS)
def test_a_chart_is_drawn_whatever_a_name_contains(sign: str) -> None:
    named = [replace(cell, model_deployment=f"acme/a{sign}b") for cell in SCALED]
    named = [replace(cell, display_name=f"Triage{sign}") for cell in named]
    for spec in (heat_map(board_of(named)), *(spec for _, spec in dot_plots(board_of(named)))):
        assert spec is not None
        assert svg(spec).startswith("<svg")
