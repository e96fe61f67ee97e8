"""What the dashboard keeps of a lake, and when it reads again."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import streamlit

from medhelm_spark.board import choose
from tests.app_pages import APP, imported_from
from tests.unit.board.planted import ALPHA, append as append_rows, planned, plant, run_spec


@pytest.fixture
def loaded() -> Iterator[ModuleType]:
    streamlit.cache_resource.clear()
    with imported_from(APP.parent):
        import loaded

        yield loaded


def test_runs_and_boards_are_read_once_until_a_table_changes(
    loaded: ModuleType, tmp_path: Path
) -> None:
    lake = str(plant(tmp_path))
    source = choose(loaded.reader_of(lake), "s1")
    runs = loaded.runs_of(lake, source)
    board = loaded.board_for(lake, source, runs, 0.95)
    assert loaded.runs_of(lake, source) is runs
    assert loaded.board_for(lake, source, tuple(runs), 0.95) is board
    assert loaded.board_for(lake, source, runs[:2], 0.95) is not board
    assert loaded.board_for(lake, source, runs, 0.5) is not board
    further = run_spec("alpha-further", ALPHA, "discharge_note")
    append_rows(tmp_path, "run_specs", [planned(further, minutes=9)], "p-further")
    assert loaded.runs_of(lake, source) is runs, "the versions are asked for every 15 seconds"
    loaded.state_of.clear()
    again = loaded.runs_of(lake, source)
    assert "alpha-further" in {run.run_spec.run_spec_id for run in again}


def test_versions_tell_a_table_that_is_not_there(loaded: ModuleType, tmp_path: Path) -> None:
    reader = loaded.reader_of(str(plant(tmp_path)))
    assert reader.versions(["scenarios", "left_out"]) == (2, -1)


def test_the_first_board_is_read_beforehand_but_not_with_plug_ins(
    loaded: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = str(plant(tmp_path))
    read: list[str] = []
    real = loaded.load_runs

    def counted(reader: object, source: object) -> object:
        read.append(source.name)  # type: ignore[attr-defined]
        return real(reader, source)

    monkeypatch.setattr(loaded, "load_runs", counted)
    loaded.warm(["--output-path", lake, "--suite", "s1", "--plugins", "own"])
    assert read == []
    loaded.warm(["--output-path", lake, "--suite", "s1"])
    loaded.runs_of(lake, choose(loaded.reader_of(lake), "s1"))
    assert read == ["s1"]
