"""Lakes that are empty, damaged or newer: every page shows a sentence about what to do."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit

from medhelm_spark.cli import main, serve as serve_module
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.run import RunRecord
from tests.app_pages import opened, page_text
from tests.rewriting import rewritable
from tests.unit.board.planted import ALPHA, START, append, planned, plant, run_spec
from tests.unit.board.planted_releases import plant_change, plant_release

RESTORE_LOG = "the Delta log of table '{}' cannot be read"
DAMAGED = "a file of the table is missing or damaged. Restore it"
NEWER = "Install a newer medhelm-spark"


def emptied(lake: Path) -> None:
    shutil.rmtree(lake)
    lake.mkdir()


def begun(lake: Path) -> None:
    emptied(lake)
    append(lake, "run_specs", [planned(run_spec("a", ALPHA, "triage_choice"))], "p")


def first_commit(lake: Path, table: str) -> Path:
    return min((lake / table / "_delta_log").glob("*.json"))


def no_json(lake: Path) -> None:
    first_commit(lake, "runs").write_text("{not json", encoding="utf-8")


def cut_commit(lake: Path) -> None:
    commit = first_commit(lake, "run_specs")
    commit.write_bytes(commit.read_bytes()[:200])


def no_first_commit(lake: Path) -> None:
    first_commit(lake, "releases").unlink()


def cut_file(lake: Path) -> None:
    for file in (lake / "release_stats").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[:100])


def absent_file(lake: Path) -> None:
    for file in (lake / "release_stats").rglob("*.parquet"):
        file.unlink()


def newer_lake(lake: Path) -> None:
    record = RunRecord(
        stage="ingest",
        unit_id="x",
        write_id="x",
        fingerprint="x",
        suite="s1",
        started_at=START,
        finished_at=START,
        counts={},
        code_version="9",
        spark_version="4",
    )
    append(lake, "runs", [replace(record, schema_version=99)], "x")


def newer_release(lake: Path) -> None:
    rewritable(lake / "release_manifests").update(updates={"lake_schema_version": "99"})


def newer_status(lake: Path) -> None:
    plant_change(lake, ReleaseStatus.IN_REVIEW, "m")
    rewritable(lake / "release_changes").update(updates={"to_status": "'archived'"})


STATES: dict[Callable[[Path], None], str] = {
    emptied: "no release 'R2'; the lake has none; `medhelm-spark publish",
    begun: "no release 'R2'; the lake has none; `medhelm-spark publish",
    no_json: RESTORE_LOG.format("runs"),
    cut_commit: RESTORE_LOG.format("run_specs"),
    no_first_commit: RESTORE_LOG.format("releases"),
    cut_file: DAMAGED,
    absent_file: DAMAGED,
    newer_lake: NEWER,
    newer_release: f"release 'R2' was written with schema version 99; this package reads up to 1. "
    f"{NEWER}",
    newer_status: "has a ReleaseStatus that is unknown to this version",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = plant(tmp_path_factory.mktemp("whole"))
    plant_release(lake)
    return lake


@pytest.fixture
def lake(whole: Path, tmp_path: Path) -> Path:
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
    return Path(shutil.copytree(whole, tmp_path / "lake"))


def run(words: list[str], lake: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main([*words, "-o", str(lake)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize("break_it", STATES, ids=lambda each: each.__name__)
def test_a_release_of_a_broken_lake_is_one_sentence(
    lake: Path, capsys, monkeypatch, tmp_path: Path, break_it: Callable[[Path], None]
) -> None:
    break_it(lake)
    sentence = STATES[break_it]
    monkeypatch.chdir(tmp_path)
    for words in (
        ["leaderboard", "--release", "R2"],
        ["report", "--release", "R2"],
        ["compare", "--release", "R2"],
        ["release", "show", "R2"],
    ):
        code, out, err = run(words, lake, capsys)
        assert (code, out) == (1, ""), words
        assert sentence in err
        assert "Traceback" not in err
    assert not list(tmp_path.glob("*.html")), "no half report"
    assert sentence in page_text(opened(monkeypatch, lake, "", release="R2"))


@pytest.mark.parametrize("break_it", [emptied, no_json, newer_lake])
def test_no_server_starts_for_a_lake_that_cannot_be_shown(
    lake: Path, monkeypatch, capsys, break_it: Callable[[Path], None]
) -> None:
    break_it(lake)
    monkeypatch.setattr(serve_module.os, "execv", lambda *_: pytest.fail("a server was started"))
    code, _, err = run(["serve"], lake, capsys)
    assert code == 1
    assert ("runs one" if break_it is emptied else STATES[break_it]) in err


def test_an_unknown_release_is_one_sentence_and_the_page_leads_on(
    lake: Path, monkeypatch, capsys
) -> None:
    for words in (["leaderboard"], ["report"], ["compare"], ["serve"]):
        code, _, err = run([*words, "--release", "R9"], lake, capsys)
        assert code == 1
        assert "no release 'R9'; the lake has 'R1', 'R2'." in err
    test = opened(monkeypatch, lake, "", release="R9", view="Compare")
    assert "no release 'R9'; the lake has 'R1', 'R2'." in page_text(test)
    links = " ".join(part.proto.body for part in test.html)
    for query in ("suite=s1", "release=R1", "release=R2"):
        assert f'href="?{query}"' in links


def test_an_empty_lake_says_how_a_run_is_made(lake: Path, monkeypatch) -> None:
    emptied(lake)
    text = page_text(opened(monkeypatch, lake, ""))
    assert "no suite was run into this lake yet; `medhelm-spark run`" in text


def test_a_lake_that_is_only_planned_says_what_makes_numbers(
    lake: Path, monkeypatch, capsys
) -> None:
    begun(lake)
    test = opened(monkeypatch, lake, "")
    assert "medhelm-spark summarize" in test.info[0].value
    code, out, _ = run(["leaderboard"], lake, capsys)
    assert code == 0
    assert "Planned, and not summarised yet: triage_choice:model=alpha_large." in out


def test_stats_that_are_on_record_and_gone_are_told(lake: Path, monkeypatch, capsys) -> None:
    """A table whose log was lost looks as if it had never been written."""
    shutil.rmtree(lake / "stats" / "_delta_log")
    sentence = "The stats of these runs were made and are gone: restore table 'stats'."
    code, out, _ = run(["leaderboard", "--suite", "s1"], lake, capsys)
    assert code == 0
    assert sentence in out
    assert sentence in opened(monkeypatch, lake, "s1").info[0].value
