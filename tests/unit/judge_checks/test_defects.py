"""Each known defect of a judge fails at its own line of evidence and at no other."""

from pathlib import Path

import pytest

from medhelm_spark.judge_checks.lines import LineOutcome, Trust
from medhelm_spark.judge_checks.results import JudgeCheck
from tests.unit.judge_checks.ward import Ward

OWN_LINE = {
    "top": "same score",
    "random": "repeated request",
    "longer": "length",
    "markdown": "markdown",
    "obeys": "planted instruction",
    "women": "patient's sex",
    "dose": "wrong dose",
    "unreadable": "coverage",
}


def failed(done: JudgeCheck) -> list[str]:
    return [line.name for line in done.lines if line.outcome is LineOutcome.FAILED]


@pytest.mark.parametrize("defect", list(OWN_LINE))
def test_a_defect_fails_at_its_own_line_and_at_no_other(defect: str, tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", defect).run().rate().check()
    assert failed(done) == [OWN_LINE[defect]], done.render()
    assert done.trust is Trust.UNTRUSTED


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
