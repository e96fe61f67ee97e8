"""Twins: the same questions of another patient, from a run to the page, the files and the board."""

import csv
from pathlib import Path
from typing import Any

import pytest
import streamlit
import yaml

from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.reader import open_reader
from tests.app_pages import answer_columns, opened, page_text

SUITE = "s"
NAMES = ("Emily", "Anne", "Sarah", "Katie")
COLUMN = "perturbation:person_name"


def model(name: str, **replies: str) -> Deployment:
    """A model that answers yes, but other words where a question has certain ones."""
    args = {"mode": "script", "text": "yes", "replies": replies}
    return Deployment(
        name=f"team/{name}", model=name, engine="canned", locality=Locality.LOCAL, args=args
    )


def run(folder: Path, models: list[Deployment], count: int = 200, **config: Any) -> Evaluation:
    """Questions about four women and a man, each asked again of other names and of no man."""
    (folder / "prompt.txt").write_text("{question}\nAnswer:")
    rows = [
        {
            "id": f"q{i}",
            "question": f"{NAMES[i % 4]} sits beside him at desk {i}. Is that so?",
            "correct_answer": "yes" if i % 10 else "no",
        }
        for i in range(count)
    ]
    with (folder / "data.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "benchmark.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "Letters",
                "description": "Made for a test.",
                "prompt_file": "prompt.txt",
                "dataset_file": "data.csv",
                "metrics": [{"name": "exact_match"}],
                **config,
            }
        )
    )
    made = Evaluation(folder / "lake", site=None, tracking=False, deployments=models)
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    entries = [f"{entry},model={each.name},data_augmentation=fairness" for each in models]
    made.run(entries, suite=SUITE)
    return made


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """This process computes the run, without Java; one model errs for a single name."""
    streamlit.cache_resource.clear()
    return run(
        tmp_path_factory.mktemp("twins"),
        [model("biased", Keisha="no"), model("fair")],
        access_level="public",
    )


def test_a_model_that_is_worse_for_one_name_is_named_and_a_fair_one_has_no_gap(evaluation) -> None:
    gaps = {
        (gap["model_deployment"], gap["group_column"]): gap
        for gap in evaluation.subgroups.scores(SUITE).gaps()
    }
    assert gaps["team/biased", COLUMN]["worst"] == "perturbed"
    assert gaps["team/biased", COLUMN]["low"] > 0
    for column in (COLUMN, "perturbation:gender"):
        assert gaps["team/fair", column]["value"] == gaps["team/fair", column]["low"] == 0
    assert gaps["team/biased", "perturbation:gender"]["low"] == 0
    assert f"worst {COLUMN}: perturbed" in str(evaluation.board(SUITE))


def test_means_are_those_of_the_stats_of_copies_and_p_follows_the_pairs(evaluation) -> None:
    scores = evaluation.subgroups.scores(SUITE, by=COLUMN).rows()
    rows = {row["group_value"]: row for row in scores if row["model_deployment"] == "team/biased"}
    assert (rows["original"]["count"], rows["original"]["mean"]) == (200, 0.9)
    perturbed = rows["perturbed"]
    assert perturbed["rest_mean"] == 0.9
    assert perturbed["difference"] == pytest.approx(perturbed["mean"] - 0.9)
    assert perturbed["difference_high"] < 0
    assert perturbed["adjusted_p"] < 0.05
    stats = open_reader(str(evaluation.location)).query(
        "SELECT DISTINCT computed_on, mean FROM {stats} WHERE name = 'exact_match' "
        "AND perturbation = 'person_name' AND computed_on IN ('original', 'perturbed')"
    )
    stored_means = {(row["computed_on"], row["mean"]) for row in stats.to_pylist()}
    assert {(name, row["mean"]) for name, row in rows.items()} <= stored_means


def test_two_models_are_not_compared_by_twins_and_the_error_names_what_shows_them(
    evaluation,
) -> None:
    with pytest.raises(ConfigError, match=f"--show groups --by {COLUMN}"):
        evaluation.subgroups.compare("team/biased", "team/fair", suite=SUITE, by=COLUMN)
    assert list(evaluation.subgroups.compare("team/biased", "team/fair", suite=SUITE).rows()) == []


def test_the_page_and_the_report_show_both_groups(monkeypatch, evaluation) -> None:
    lake = Path(evaluation.location)
    test = opened(monkeypatch, lake, suite=SUITE, view="Subgroups", by=COLUMN, first="team/biased")
    text = " ".join(page_text(test).split())
    assert f"Watch: the perturbed questions of {COLUMN} (biased)." in text
    assert f"biased is worse for the perturbed questions of {COLUMN}." in text
    assert f"fair: none of 1 group of {COLUMN} is shown to be worse." in text
    assert "Difference to the originals" in text
    assert "Against team/fair" not in text
    report = evaluation.report(SUITE).html
    assert f"<h3>Letters by {COLUMN}</h3>" in report
    answers = opened(monkeypatch, lake, suite=SUITE, view="Instances")
    assert answer_columns(answers) == ["#", "Id", "First words", "Answer", "Score"]


def test_twins_of_few_private_patients_are_hidden(tmp_path: Path) -> None:
    streamlit.cache_resource.clear()
    few = run(tmp_path, [model("fair")], 10, access_level="private").subgroups.scores(SUITE)
    assert {(row["is_hidden"], row["mean"]) for row in few.rows()} == {(True, None)}
    assert "fewer than 11 patients" in str(few)
