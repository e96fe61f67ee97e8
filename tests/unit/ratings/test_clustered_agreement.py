"""Agreement of ratings of answers that belong to patients."""

import json
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark import Evaluation
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.ratings.agreement import _kappa_of_raters
from medhelm_spark.ratings.by_cluster import ClusteredAgreement, clustered_raters
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.clustered_agreement import clustered_interval
from medhelm_spark.statistics.intraclass import intraclass
from tests.unit.board.clinic import CAREFUL, SUITE, plant_clinic
from tests.unit.board.planted import append

PATIENTS = 4
"""Twelve answers, three of each patient."""


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Three raters of twelve answers; `request.param`: whether the card names patients."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    lake = tmp_path / "lake"
    lake.mkdir()
    plant_clinic(lake)
    instances = [
        Instance(
            instance_id=f"notes-i{index}",
            scenario_name="notes",
            data_version="notes-v1",
            source_id=f"MRN-{index}",
            source_index=index,
            split=Split.TEST,
            input="the letter",
            references=(),
            access_level=AccessLevel.PUBLIC,
            cluster_id=f"patient-{index % PATIENTS}" if request.param else None,
        )
        for index in range(12)
    ]
    append(lake, "instances", instances, "notes-w")
    lines = ["source_id,model,rater,criterion,value"]
    rng = np.random.default_rng(3)
    for index in range(12):
        for rater in "abc":
            value = int(np.clip(1 + index % PATIENTS + rng.integers(-1, 2), 1, 5))
            lines.append(f"MRN-{index},{CAREFUL},{rater},accuracy,{value}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    evaluation = Evaluation(str(lake), site=None, tracking=False, say=lambda line: None)
    evaluation.ratings.import_file(path, suite=SUITE, scenario="notes", scale=(1, 5))
    return evaluation.ratings.agreement(suite=SUITE, scenario="notes")


@pytest.mark.parametrize("rated", [True], ids=["patients"], indirect=True)
def test_where_the_card_names_patients_intervals_count_them_beside_those_of_f(rated) -> None:
    row = next(row for row in rated.rows() if row["who"] == "raters")
    assert row["num_clusters"] == PATIENTS
    for name in ("icc_a1", "icc_c1", "icc_ck", "alpha", "kappa"):
        assert row[f"{name}_clustered_low"] < row[name] < row[f"{name}_clustered_high"]
    width = row["icc_a1_high"] - row["icc_a1_low"]
    assert row["icc_a1_clustered_high"] - row["icc_a1_clustered_low"] != pytest.approx(width)
    text = str(rated)
    interval_cell = f"[{row['icc_a1_clustered_low']:.2f}, {row['icc_a1_clustered_high']:.2f}]"
    assert interval_cell in text
    assert f"intervals are of a jackknife over {PATIENTS} clusters" in text
    assert "Fewer than 10 clusters: their intervals are rough." in text
    assert json.loads(rated.render("json"))["agreement"][0]["num_clusters"] == PATIENTS


@pytest.mark.parametrize("rated", [False], ids=["no patients"], indirect=True)
def test_where_it_names_none_nothing_is_said_of_clusters(rated) -> None:
    row = next(row for row in rated.rows() if row["who"] == "raters")
    assert row["num_clusters"] is None
    assert row["icc_a1_clustered_low"] is None
    assert "clusters" not in str(rated)


def drawn(seed: int, patients: int, answers: int) -> tuple[np.ndarray, np.ndarray]:
    """Three raters who disagree about patients as much as about answers; true ICC .662."""
    rng = np.random.default_rng(seed)
    quality = np.repeat(rng.normal(0, 0.7, patients), answers)
    quality += rng.normal(0, 0.7, patients * answers)
    opinion = np.repeat(rng.normal(0, 0.5, (patients, 3)), answers, axis=0)
    table = quality[:, None] + opinion + rng.normal(0, 0.5, (patients * answers, 3))
    return table, np.repeat(np.arange(patients), answers)


def interval(table: np.ndarray, labels: np.ndarray):
    def measure(selected: np.ndarray) -> float | None:
        clustered = intraclass(table[selected]).agreement
        return clustered.value if clustered else None

    return clustered_interval(measure, labels)


def test_intervals_that_count_patients_cover_the_truth_and_those_of_f_do_not() -> None:
    of_patients, of_f = 0, 0
    for seed in range(100):
        table, labels = drawn(seed, 20, 5)
        clustered, plain = interval(table, labels), intraclass(table).agreement
        of_patients += clustered.low <= 0.662 <= clustered.high
        of_f += plain.low <= 0.662 <= plain.high
    assert of_patients >= 89
    assert of_f < of_patients


def test_answers_with_a_single_rating_and_their_patients_count_nothing() -> None:
    table, labels = drawn(2, 3, 4)
    single = np.full((100, 3), np.nan)
    single[np.arange(100), np.arange(100) % 3] = np.random.default_rng(5).integers(1, 6, 100)

    def of(ratings: np.ndarray, patients: np.ndarray) -> ClusteredAgreement | None:
        return clustered_raters(
            ratings, patients, MeasurementLevel.INTERVAL, kappa=_kappa_of_raters
        )

    found = of(np.vstack([table, single]), np.append(labels, 3 + np.arange(100)))
    assert found is not None
    assert found.num_clusters == 3
    assert found == of(table, labels)
    assert of(single, np.arange(100)) is None


def test_clusters_of_one_answer_are_a_jackknife_over_answers() -> None:
    table, _ = drawn(1, 60, 1)
    clustered, plain = interval(table, np.arange(60)), intraclass(table).agreement
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.high - clustered.low == pytest.approx(plain.high - plain.low, rel=0.3)


@pytest.mark.parametrize(
    ("table", "patients"),
    [
        (np.ones((6, 2)), 3),
        (np.arange(12.0).reshape(6, 2), 1),
        (np.stack([np.arange(6.0)] * 2, axis=1), 3),
        (np.zeros((0, 2)), 0),
        (np.ones((1, 2)), 1),
    ],
    ids=["all equal", "one patient", "no disagreement", "no answer", "one answer"],
)
def test_what_has_no_interval_has_a_value_or_none(table: np.ndarray, patients: int) -> None:
    clustered = interval(table, np.arange(len(table)) % max(patients, 1))
    assert clustered is None or (clustered.low is None and np.isfinite(clustered.value))
