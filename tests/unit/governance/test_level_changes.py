"""Every lowering on record is listed, and whether it counts is asked of the policy of now."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import Approval, LevelChange
from medhelm_spark.governance.level_changes import level_changes_of
from medhelm_spark.lake.reader import open_reader
from tests.unit.board.planted import append

CHANGE = LevelChange(
    scenario_name="ward",
    data_version="v1",
    from_level=AccessLevel.PRIVATE,
    to_level=AccessLevel.PUBLIC,
    reason="made up for teaching",
    changed_by="amy",
    changed_at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
)
FORGED = replace(
    CHANGE, data_version="v2", changed_at=datetime(2026, 3, 1, tzinfo=UTC), approved_by="bob"
)
APPROVED = Approval(
    scenario_name="ward", data_version="v1", to_level=AccessLevel.PUBLIC, approved_by="bob"
)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    append(tmp_path, "level_changes", [CHANGE, replace(FORGED, reviewed=True)], "w")
    return str(tmp_path)


@pytest.mark.attack("levels", "a row of level_changes that says it was approved")
def test_who_approves_is_asked_again_at_every_read(lake: str) -> None:
    reader = open_reader(lake)
    first, second = level_changes_of(reader, [APPROVED])
    assert (first.data_version, first.reviewed, first.approved_by) == ("v2", False, None)
    assert (second.data_version, second.reviewed, second.approved_by) == ("v1", True, "bob")
    assert not any(row.reviewed for row in level_changes_of(reader, ()))


def test_the_command_lists_them_with_who_when_and_why(
    lake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["level", "list", "-o", lake]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "ward private public amy 2026-03-02 09:30 nobody: unreviewed made up for" in output
    assert main(["level", "list", "-o", lake, "--format", "json"]) == 0
    assert [row["changed_by"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["amy"] * 2
    output = Evaluation(lake, site=None).governance.level_changes().to_pandas()
    assert list(output["data_version"]) == [
        "v2",
        "v1",
    ]


def test_a_lake_without_lowerings_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["level", "list", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "No level of this lake was lowered on record.\n"


@pytest.mark.parametrize("reason", [[], ["--reason", " "]])
def test_what_a_lowering_lacks_is_said_before_anything_starts(
    tmp_path: Path, reason: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["level", "lower", "--scenario", "ward", "-o", str(tmp_path / "lake"), *reason]
    assert main(typed) == 1
    assert "level lower: --to, --reason missing or empty" in capsys.readouterr().err
    assert not (tmp_path / "lake").exists()
