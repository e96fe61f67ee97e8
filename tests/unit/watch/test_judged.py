"""A look at a release whose answers a jury judged."""

from pathlib import Path

import pytest

from medhelm_spark.domain.moments import now
from medhelm_spark.errors import ConfigError
from tests.unit.evidence.planted import plant_suite_release
from tests.unit.judge_checks.ward import MODELS, QUESTIONS, Ward


def test_a_judge_is_asked_about_new_answers_alone(tmp_path: Path) -> None:
    ward = Ward(tmp_path).run()
    plant_suite_release(ward.lake, "s", "r1", now())
    num_asked = len(ward.asked)
    assert num_asked == QUESTIONS * len(MODELS)
    watch = ward.evaluation.watch
    with pytest.raises(ConfigError, match="in no file of the site"):
        watch.look("r1", margin=0.5)
    options = {"entries": ward.entry, "models_to_run": list(MODELS), "margin": 0.5}
    done = watch.look("r1", **options)
    assert len(ward.asked) == num_asked, "the answers are those of before, and so are the verdicts"
    scores = [row for row in done.lines if row.part == "scores"]
    assert {row.model_deployment for row in scores} == set(MODELS)
    assert {(row.difference, row.n) for row in scores} == {(0.0, QUESTIONS)}
    fingerprints = [row for row in done.lines if row.name == "jury"]
    assert [row.verdict.value for row in fingerprints] == ["not moved"] * len(MODELS)
    for key in [key for key in ward.answers if key[0] == MODELS[0]]:
        ward.answers[key] = "Nothing of it."
    files = {"log_file": str(ward.log), "shift_file": str(ward.shift)}
    ward._write_deployments({"defect": "", **files})
    again = ward.evaluation.watch.look("r1", **options)
    moved = {row.model_deployment for row in again.lines if row.part == "scores" and row.difference}
    assert moved == {MODELS[0]}
    assert len(ward.asked) == num_asked + QUESTIONS
