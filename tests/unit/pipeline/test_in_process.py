"""Which results of a lake this process computes."""

from pathlib import Path

import pytest

from medhelm_spark.pipeline.in_process import READ, is_small_lake
from medhelm_spark.workspace.workspace import Workspace
from tests.unit.board.planted import plant


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    plant(tmp_path / "lake")
    return Workspace(str(tmp_path / "lake"), None)


def test_a_lake_of_few_small_rows_is_computed_here(workspace: Workspace) -> None:
    assert is_small_lake(workspace)


@pytest.mark.parametrize("limit", ["MOST_READ", "MOST_BYTES_READ"])
def test_a_lake_with_more_rows_or_bytes_is_left_to_spark(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    sizes = workspace.lake.sizes(READ)
    largest = max(each.rows or 0 if limit == "MOST_READ" else each.size for each in sizes)
    monkeypatch.setattr(f"medhelm_spark.pipeline.in_process.{limit}", largest - 1)
    assert not is_small_lake(workspace)
