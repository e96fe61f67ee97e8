"""Each known defect of a judge fails at its own line of evidence and at no other."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from medhelm_spark.judge_checks.lines import LineOutcome, Trust
from medhelm_spark.judge_checks.results import JudgeCheck
from tests.unit.judge_checks.judges import TWO_CRITERIA
from tests.unit.judge_checks.ward import Ward

OWN_LINE = {
    "top": "same score",
    "random": "repeated request",
    "longer": "length",
    "markdown": "markdown",
    "obeys": "planted instruction",
    "women": "patient's sex",
    "dose": "wrong dose",
    "first": "position",
    "dialect": "patient's language",
    "tenth": "planted instruction",
    "unreadable": "coverage",
}


def failed(done: JudgeCheck) -> list[str]:
    return [line.name for line in done.lines if line.outcome is LineOutcome.FAILED]


@pytest.mark.parametrize("defect", list(OWN_LINE))
def test_a_defect_fails_at_its_own_line_and_at_no_other(defect: str, tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", defect).run().rate().check()
    assert failed(done) == [OWN_LINE[defect]], done.render()
    assert done.trust is Trust.UNTRUSTED


def test_a_judge_that_favours_what_it_scores_first_fails_at_the_order_of_criteria(
    tmp_path: Path,
) -> None:
    done = Ward(tmp_path / "site", "first criterion", prompt=TWO_CRITERIA).run().rate().check()
    assert failed(done) == ["order of criteria"], done.render()


def test_a_judge_that_drifts_half_a_point_fails_at_drift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ward = Ward(tmp_path / "site").run().rate()
    later = datetime(2027, 1, 5, tzinfo=UTC)
    assert failed(ward.check()) == []
    ward.shift.write_text("0.5")
    assert failed(ward.check()) == [], "what was asked on the same day is not asked again"
    for days in range(2):
        at = later + timedelta(days=days)
        monkeypatch.setattr("medhelm_spark.judge_checks.check.now", lambda at=at: at)
        done = ward.check()
        assert failed(done) == ["drift"], done.render()
        (drift,) = [line for line in done.lines if line.name == "drift"]
        assert drift.value == pytest.approx(0.5, abs=0.05)
    assert drift.note.startswith("since the verdicts were stored; +0.00 since the check of 2027")


def test_a_judge_that_comes_back_is_beside_the_last_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ward = Ward(tmp_path / "site").run().rate()
    ward.shift.write_text("-0.5")
    at = datetime(2027, 1, 5, tzinfo=UTC)
    monkeypatch.setattr("medhelm_spark.judge_checks.check.now", lambda: at)
    assert failed(ward.check()) == ["drift"]
    ward.shift.unlink()
    monkeypatch.setattr("medhelm_spark.judge_checks.check.now", lambda: at + timedelta(days=9))
    done = ward.check()
    assert failed(done) == ["drift"], done.render()
    (drift,) = [line for line in done.lines if line.name == "drift"]
    assert drift.note == "since the check of 2027-01-05; +0.00 since the verdicts were stored"


def test_each_planted_instruction_has_a_figure_of_its_own(tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", "tenth").run().rate().check()
    own = {line.name: line for line in done.lines if line.name.startswith("planted instruction ")}
    assert len(own) == 10
    assert {line.outcome for line in own.values()} == {LineOutcome.REPORTED}
    assert own["planted instruction 10"].value == 1.0
    assert own["planted instruction 10"].note.startswith("Final verdict")
    assert {line.value for name, line in own.items() if not name.endswith("10")} == {0.0}
    (together,) = [line for line in done.lines if line.name == "planted instruction"]
    assert together.note.endswith("obeys 10")
    assert together.num_items == sum(line.num_items for line in own.values())


def test_a_judge_that_favours_its_makers_models_fails_at_its_own_family(tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", "family", judge="acme/judge").run().rate().check()
    assert failed(done) == ["own family"], done.render()


def test_a_sound_judge_is_trusted_for_every_use(tmp_path: Path) -> None:
    done = Ward(tmp_path / "site").run().rate().check()
    assert [use.trust for use in done.uses] == [Trust.TRUSTED] * 3, done.render()
    assert {use.because for use in done.uses} == {()}
    assert failed(done) == []


def test_of_two_judges_coverage_and_makers_are_told_apart(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site", "family", judge="acme/judge", others=["court/judge"])
    done = ward.run().rate().check(items=20)
    assert failed(done) == ["own family of acme/judge"], done.render()
    lines = {line.name: line for line in done.lines}
    assert lines["coverage"].num_items == 160
    assert lines["own family of court/judge"].outcome is LineOutcome.NOT_APPLICABLE
    assert lines["agreement of judge court/judge"].value > 0.8
    assert lines["wrong dose"].num_items == 20
