"""Scenarios whose data cannot be had are left out of a run: printed, shown, recorded."""

import json
from pathlib import Path

import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.errors import AbsentDataError
from tests.cards import NOTES
from tests.spark.conftest import Site, questions
from tests.spark.notes import notes
from tests.spark.test_bad_input import write_notes

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCES = {
    "notes": {"files": [{"path": "notes.csv"}]},
    "gone": {"files": [{"path": "gone/notes.csv"}], "origin": "the clinic"},
    "away": {"files": [{"path": "a.csv", "url": "http://127.0.0.1:9/a.csv", "sha256": "0" * 64}]},
    "hub": {"dataset": "clinic/notes", "revision": COMMIT},
}


@pytest.fixture
def suite(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A suite file of a scenario whose data is here and of four whose data is not."""
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(site.folder / "cache"))
    blocked = site.folder / "blocked"
    blocked.mkdir()
    (blocked / "datasets.py").write_text("raise ImportError\n")
    monkeypatch.setitem(site.spark.sparkContext.environment, "PYTHONPATH", str(blocked))
    model = site.deploy("acme/yes", text="yes")
    folder = site.folder / "prod_env"
    for part in ("scenarios", "suites"):
        (folder / part).mkdir()
    for name, source in SOURCES.items():
        card = {**NOTES, "name": name, "display_name": name.title(), "source": source}
        (folder / "scenarios" / f"{name}.yaml").write_text(yaml.safe_dump(card))
    listed = {
        "description": "Ours.",
        "run_entries": [*SOURCES, "ward@medhelm-0.8"],
        "models_to_run": [model],
    }
    (folder / "suites" / "own.yaml").write_text(yaml.safe_dump(listed))
    write_notes(site, notes(3))
    return site


def board_notes(site: Site) -> list[str]:
    path = site.folder / "board.json"
    flags = ["--format", "json", "--output-file", str(path)]
    assert site.run(*flags, command="leaderboard") == 0
    all_notes: list[str] = json.loads(path.read_text())["notes"]
    return [note for note in all_notes if "LEFT OUT" in note or "suite file lists" in note]


def test_what_is_there_is_evaluated_and_the_rest_is_told(
    suite: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.run("--suite-file", "own") == 6
    output = capsys.readouterr()
    assert "Notes" in output.out
    assert "left out: 4 scenarios whose data cannot be had: ward@medhelm-0.8, gone, away, hub" in (
        output.err
    )
    _, table = output.err.split("LEFT OUT, because the data could not be had: 4 scenarios\n")
    why = {line.split()[0]: line.split(maxsplit=2)[2] for line in table.splitlines()[3:7]}
    assert "import-scenario" in why["ward@medhelm-0.8"]
    assert why["gone"] == (
        "gone/notes.csv: no such file; it comes from the clinic; give the data with --source."
    )
    assert "http://127.0.0.1:9/a.csv: cannot be downloaded" in why["away"]
    assert "needs the package `datasets`" in why["hub"]
    assert board_notes(suite) == [
        "LEFT OUT, because the data could not be had: ward@medhelm-0.8, gone, away, hub.",
        "The suite file lists these: ranks and win rates are made without.",
    ]
    rows = suite.rows("left_out")
    assert {(row["name"], row["is_listed"]) for row in rows} == {
        (f"{name}:model=acme_yes", True) for name in ("ward@medhelm-0.8", "gone", "away", "hub")
    }
    assert all(row["reason"] == why[row["scenario_name"]] for row in rows)

    (suite.folder / "gone").mkdir()
    (suite.folder / "notes.csv").rename(suite.folder / "gone" / "notes.csv")
    assert suite.run("--suite-file", "own") == 6, "what is in the lake needs no file"
    assert len(suite.rows("left_out")) == len(rows)
    assert board_notes(suite)[0].endswith(": ward@medhelm-0.8, away, hub.")
    assert suite.run("--suite-file", "own", "--strict") == 1
    assert "ward@medhelm-0.8" in capsys.readouterr().err.splitlines()[-1]


def test_a_program_is_told_first(suite: Site) -> None:
    own = Evaluation(suite.lake_path, site=suite.folder / "prod_env", tracking=False)
    entries = ["notes:model=acme/yes", "gone:model=acme/yes"]
    estimated = own.estimate(entries, suite="s")
    assert [row.scenario_name for row in estimated.left_out] == ["gone"]
    assert str(estimated).endswith("Not counted, because the data could not be had: gone.")
    run_result = own.run(entries, suite="s")
    assert [(row.scenario_name, row.is_listed) for row in run_result.left_out] == [("gone", None)]
    assert str(run_result).startswith("LEFT OUT, because the data could not be had: 1 scenario\n")
    assert "<caption>LEFT OUT" in run_result._repr_html_()
    assert run_result.board is not None
    assert run_result.board.leaderboard.notes[-1] == (
        "LEFT OUT, because the data could not be had: gone."
    )
    with pytest.raises(AbsentDataError, match=r"gone/notes\.csv: no such file"):
        own.run(entries, suite="s", strict=True)


def test_data_of_ones_own_has_to_be_there(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    model = site.deploy("acme/yes", text="yes")
    bench = site.benchmark("bench", questions(2))
    typed = [
        "-r",
        f"{bench},model={model}",
        f"clear:condition=unemployment,data_path=no.xlsx,model={model}",
    ]
    assert site.run(*typed) == 1
    assert "no.xlsx: no such file" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("lake", "run_specs").exists()
