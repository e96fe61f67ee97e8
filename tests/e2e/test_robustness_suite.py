"""The shipped suite `robustness` on the embedded model: what its benchmarks ask for is there."""

import pytest

from medhelm_spark.cli import main
from medhelm_spark.domain.stats import Stat
from medhelm_spark.engines.model_files import fetch_model
from medhelm_spark.lake.reader import FileReader

SUITE = "robustness"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    fetch_model()
    lake_path = str(tmp_path_factory.mktemp("suite") / "lake")
    flags = ["--suite", SUITE, "-o", lake_path, "--no-tracking"]
    assert main(["run", "--suite-file", SUITE, *flags]) == 0
    return lake_path


def test_each_thing_that_the_demos_ask_for_has_values(lake: str) -> None:
    rows = FileReader(lake).rows("SELECT * FROM {stats}", Stat)
    originals = {row.name: row for row in rows if not row.perturbation}
    calibration = {"ece_10_bin", "brier_score", "selective_cov_acc_area"}
    style = {"flesch_kincaid_grade", "answer_words", "copied_share"}
    classes = {"accuracy", "sensitivity", "cost_weighted_error", "classification_f1[yes]"}
    for name in calibration | style | classes:
        assert originals[name].mean is not None, name
        assert (originals[name].count, originals[name].num_unscored) == (6, 0), name
    copies = {row.perturbation for row in rows if row.computed_on == "perturbed"}
    assert copies == {"lowercase", "typos", "prompt.short"}


def test_the_board_says_how_answers_are_read(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaderboard", "--suite", SUITE, "-o", lake]) == 0
    assert "Answers are read by yes_no" in capsys.readouterr().out
