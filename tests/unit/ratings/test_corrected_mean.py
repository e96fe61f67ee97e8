"""A jury's mean beside the mean that people's ratings make of it, on the board and in its files."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark import Evaluation
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.criterion import Criterion, criteria_text
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import PerInstanceStats, Score
from medhelm_spark.ratings.cells import mean_ratings
from medhelm_spark.ratings.tables import Rating
from tests.unit.board.planted import (
    ALPHA,
    append,
    finish,
    planned,
    plant,
    run_spec,
    stat,
    unit,
    write_stats,
)

JUDGED = unit(ALPHA, "discharge_note")
CRITERIA = ("accuracy", "clarity")


def rating(index: int, value: float, rater: str = "rater-1", criterion: str = "accuracy") -> Rating:
    return Rating(
        run_spec_id=JUDGED,
        instance_id=f"discharge_note-j{index}",
        trial_index=0,
        rater=rater,
        criterion=criterion,
        value=value,
        comment="",
        access_level=AccessLevel.PRIVATE,
        rated_at=datetime(2026, 4, 1, tzinfo=UTC),
        source="file",
    )


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return judged_lake(tmp_path)


def judged_lake(tmp_path: Path, patients: int | None = None) -> Path:
    """A jury that is too kind by 1 to 200 answers, whose true mean is 2.5."""
    folder = tmp_path / "lake"
    folder.mkdir()
    plant(folder)
    write_scores(folder, [3.0 + index % 2 for index in range(200)], "judged-anew", 10, patients)
    return folder


def write_scores(
    lake: Path, values: list[float], write_id: str, minutes: int, patients: int | None = None
) -> None:
    scores = [
        PerInstanceStats(
            run_spec_id=JUDGED,
            instance_id=f"discharge_note-j{index}",
            train_trial_index=0,
            trial_index=0,
            perturbation="",
            split="test",
            cluster_id=None if patients is None else f"p{index % patients}",
            stats=(Score(name="jury_score", value=value),),
        )
        for index, value in enumerate(values)
    ]
    append(lake, "per_instance_stats", scores, write_id)
    finish(lake, "score", JUDGED, write_id, minutes)
    write_stats(lake, JUDGED, "discharge_note", values, write_id)
    finish(lake, "summarize", JUDGED, write_id, minutes + 1)


def cell_of(lake: Path) -> dict[str, object]:
    board = Evaluation(str(lake), site=None, tracking=False).board("s1")
    (cell,) = (row for row in board.rows() if row["main_metric"] == "jury_score")
    return cell


def test_a_jury_that_is_too_kind_stands_beside_the_mean_that_ratings_make_of_it(lake: Path):
    rng = np.random.default_rng(0)
    ratings = [
        rating(index, 2.0 + index % 2 + rng.choice([-0.5, 0.0, 0.5]), criterion=criterion)
        for index in range(60)
        for criterion in CRITERIA
    ]
    append(lake, "ratings", ratings, "w")
    cell = cell_of(lake)
    assert (cell["mean"], cell["num_rated"]) == (3.5, 60)
    assert cell["corrected_low"] < 2.5 < cell["corrected_high"]
    assert cell["corrected_mean"] == pytest.approx(2.5, abs=0.1)
    assert cell["corrected_high"] - cell["corrected_low"] < 0.4
    text = str(Evaluation(str(lake), site=None, tracking=False).board("s1"))
    assert f"people rated 60: {cell['corrected_mean']:.3f} [" in text


def notes_of(lake: Path) -> list[str]:
    """What the board prints about ratings that correct no mean."""
    text = str(Evaluation(str(lake), site=None, tracking=False).board("s1"))
    return [line for line in text.splitlines() if "ratings correct no jury's mean" in line]


def test_without_a_rating_the_board_has_no_corrected_mean_and_says_nothing_of_one(lake: Path):
    cell = cell_of(lake)
    assert (cell["mean"], cell["corrected_mean"], cell["num_rated"]) == (3.5, None, 0)
    assert notes_of(lake) == []


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([2.0 + index % 2 for index in range(29)], "answers of 29 instances by all criteria, and"),
        ([2.0 + index % 2 for index in range(199)], "people rated 199 answers, with a mean of 2.4"),
        ([2.0] * 60, "with a mean of 2.000, and all these ratings are equal"),
        ([40.0 + index % 2 for index in range(60)], "not all ratings are on the scale of jury_sc"),
    ],
    ids=["too few", "nearly all answers", "equal", "another scale"],
)
def test_ratings_that_correct_nothing_have_a_line_on_the_board_that_says_why(
    lake: Path, values: list[float], why: str
):
    append(lake, "ratings", [rating(index, value) for index, value in enumerate(values)], "w")
    cell = cell_of(lake)
    assert (cell["mean"], cell["corrected_mean"], cell["num_rated"]) == (3.5, None, 0)
    (note,) = notes_of(lake)
    assert ALPHA in note
    assert why in note


def test_answers_of_too_few_patients_correct_nothing(tmp_path: Path):
    """60 answers of 20 patients: the patients count."""
    lake = judged_lake(tmp_path, patients=20)
    append(lake, "ratings", [rating(index, 2.0 + index % 2) for index in range(60)], "w")
    assert cell_of(lake)["corrected_mean"] is None
    (note,) = notes_of(lake)
    assert "people rated answers of 20 " in note


@pytest.mark.parametrize("rated", [["accuracy"], ["tone"], ["accuracy", "tone"]])
def test_ratings_by_other_criteria_than_the_jurys_correct_nothing(lake: Path, rated: list[str]):
    """The jury scored accuracy and clarity: ratings of one of the two are of something else."""
    more = [stat(JUDGED, f"criterion[{each}]", [3.0, 4.0]) for each in CRITERIA]
    append(lake, "stats", more, "judged-anew")
    ratings = [
        rating(index, 1.0 + index % 2, criterion=each) for index in range(60) for each in rated
    ]
    append(lake, "ratings", ratings, "w")
    assert cell_of(lake)["corrected_mean"] is None
    (note,) = notes_of(lake)
    assert "people rated answers of 0 instances by all criteria" in note
    missing = [each for each in CRITERIA if each not in rated]
    ratings = [rating(i, 2.0 + i % 2, criterion=each) for i in range(60) for each in missing]
    append(lake, "ratings", ratings, "w-2")
    assert cell_of(lake)["num_rated"] == 60


def test_people_who_agree_with_a_jury_that_has_a_hard_gate_leave_its_mean_as_it_is(lake: Path):
    """Half of the answers are inaccurate, which the rubric makes 1 whatever else is good."""
    criteria = [Criterion(name=each) for each in CRITERIA]
    args = {"criteria": criteria_text(criteria), "hard_gate": "accuracy"}
    spec = run_spec(JUDGED, ALPHA, "discharge_note")
    gated = replace(spec, metrics=(MetricSpec(name="jury_score", args=args),))
    append(lake, "run_specs", [planned(gated, minutes=5)], "gated")
    values = [1.0 if index % 2 else 4.0 for index in range(200)]
    write_scores(lake, values, "gated", 20)
    ratings = [
        rating(index, value, criterion=criterion)
        for index in range(60)
        for criterion, value in zip(CRITERIA, (1.0, 4.5) if index % 2 else (3.0, 5.0), strict=True)
    ]
    append(lake, "ratings", ratings, "w")
    cell = cell_of(lake)
    assert (cell["mean"], cell["num_rated"]) == (2.5, 60)
    assert cell["corrected_mean"] == pytest.approx(2.5)


def test_ratings_of_two_classes_correct_the_share_by_sensitivity_and_specificity(lake: Path):
    """The jury gives 3 and 4 by turns; people call each 4 right, and one 3 of four."""
    ratings = [rating(index, 5.0 if index % 2 or index % 8 == 0 else 1.0) for index in range(80)]
    append(lake, "ratings", ratings, "w")
    cell = cell_of(lake)
    assert cell["corrected_mean"] == pytest.approx(1 + 4 * (0.5 + 0.5 / 4))
    assert cell["corrected_low"] < cell["corrected_mean"] < cell["corrected_high"] <= 5
    assert cell["jury_sensitivity"] == pytest.approx(0.5 / 0.625)
    assert cell["jury_specificity"] == 1.0
    text = str(Evaluation(str(lake), site=None, tracking=False).board("s1"))
    assert "people rated 80: 3.500 [" in text
    assert "jury's sensitivity 0.80, specificity 1.00" in text


def test_an_answer_has_the_mean_of_the_raters_who_rated_all_criteria():
    rows = [
        rating(0, 2.0),
        rating(0, 4.0, criterion="clarity"),
        rating(0, 5.0, rater="rater-2"),
        rating(1, 1.0, rater="rater-2"),
        rating(1, 2.0, rater="rater-2", criterion="clarity"),
    ]
    assert mean_ratings(rows) == {("discharge_note-j0", 0): 3.0, ("discharge_note-j1", 0): 1.5}
