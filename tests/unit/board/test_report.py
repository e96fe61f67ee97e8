"""The report of a planted release: its status is the first line."""

from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.release import ReleaseStatus
from tests.unit.board.planted import ALPHA, plant
from tests.unit.board.planted_releases import plant_change, plant_release


def report(lake: Path, release: str) -> str:
    return Evaluation(str(lake), site=None, tracking=False).report(release=release).html


def test_a_report_says_whether_its_release_is_approved_or_withdrawn(tmp_path: Path) -> None:
    lake = plant(tmp_path)
    manifest = plant_release(lake)
    draft = report(lake, "R2")
    assert "Working results, not approved." in draft
    assert manifest in draft
    assert ALPHA in draft
    for status in (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED):
        plant_change(lake, status, manifest)
    assert "Approved release." in report(lake, "R2")
    plant_change(lake, ReleaseStatus.WITHDRAWN, manifest, "wrong key")
    withdrawn = report(lake, "R2")
    assert "WITHDRAWN: do not use the numbers" in withdrawn
    assert "wrong key" in withdrawn


def test_the_command_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = plant(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--suite", "s1", "-o", str(lake)]) == 0
    assert "report: wrote s1.html" in capsys.readouterr().err
    assert (tmp_path / "s1.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["compare", "--suite", "s1", "-o", str(lake), "--models", ALPHA]) == 1
    assert "is a single model" in capsys.readouterr().err
