"""Few or equal ratings, or another scale: a value with its caveat, or a clear refusal."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.results import Agreements
from medhelm_spark.statistics.agreement import weighted_kappa
from tests.unit.judge_checks.judges import TWO_CRITERIA
from tests.unit.judge_checks.ward import Ward

SAID = ("Rest.", "Rest and fluids.")
RUBRIC = """---
criteria:
  - {name: accuracy, minimum: 1, maximum: 5}
---
Score it. {RESPONSE}
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Evaluation]:
    """Two models' answers to five questions, judged by a rubric from 1 to 5."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "prod_env" / "rubrics").mkdir(parents=True)
    (folder / "prod_env" / "rubrics" / "colds.md").write_text(RUBRIC)
    (folder / "prompt.txt").write_text("{question}")
    rows = "".join(f"q{index},Question {index}?,gold\n" for index in range(5))
    (folder / "data.csv").write_text("id,question,correct_answer\n" + rows)
    names = ("acme/one", "acme/two", "acme/judge")
    replies = (*SAID, '{"accuracy": {"score": 3, "explanation": ""}}')
    config = {
        "name": "Colds",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "id_column": "id",
        "metrics": [
            {
                "name": "jury_score",
                "rubric": "colds",
                "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
            }
        ],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    models = [
        Deployment(
            name=name,
            model=name,
            engine="canned",
            locality=Locality.LOCAL,
            args={"mode": "script", "text": text},
        )
        for name, text in zip(names, replies, strict=True)
    ]
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    made = []

    def new() -> Evaluation:
        """A lake of its own for each test."""
        made.append(None)
        evaluation = Evaluation(
            folder / f"lake-{len(made)}",
            site=folder / "prod_env",
            tracking=False,
            deployments=models,
            say=lambda line: None,
        )
        evaluation.run([f"{entry},model={name}" for name in names[:2]], suite="s")
        return evaluation

    return new


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def rows(evaluation: Evaluation, table: str) -> list[dict]:
    return open_reader(evaluation.location).query(f"SELECT * FROM {{{table}}}").to_pylist()


def imported(evaluation: Evaluation, folder: Path, values: list[tuple], **more: object) -> None:
    """Each value: question, model, rater, number."""
    ids = {row["source_id"]: row["instance_id"] for row in rows(evaluation, "instances")}
    lines = ["instance_id,model,rater,criterion,value"]
    instance_ids = sorted(ids.values())
    lines += [
        f"{instance_ids[q]},acme/{m},{rater},accuracy,{value}" for q, m, rater, value in values
    ]
    path = folder / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    evaluation.ratings.import_file(path, suite="s", scenario="Colds", **more)


def agreement(evaluation: Evaluation) -> Agreements:
    agreements = evaluation.ratings.agreement(suite="s", scenario="Colds", by_model=True)
    for form in ("table", "md", "csv", "json", "html"):
        assert "nan" not in agreements.render(form).lower().replace("explanation", "")
    json.loads(agreements.render("json"), parse_constant=pytest.fail)
    return agreements


def raters_of(agreements: Agreements) -> dict:
    return next(row for row in agreements.rows() if row["who"] == "raters" and row["model"] is None)


def test_one_rating_of_one_rater_has_no_agreement_and_says_so(clinic, tmp_path: Path) -> None:
    evaluation = clinic()
    imported(evaluation, tmp_path, [(0, "one", "a", 4)])
    agreements = agreement(evaluation)
    row = raters_of(agreements)
    assert (row["num_items"], row["num_raters"], row["alpha"], row["icc_a1"]) == (0, 1, None, None)
    assert "one rater: there is no ceiling" in str(agreements)
    judge = next(row for row in agreements.rows() if row["who"] == "judge acme/judge")
    assert judge["notes"] == "one answer: no correlation"
    assert (judge["num_items"], judge["bias"], judge["bias_low"]) == (1, -1.0, None)


def test_a_rater_with_one_item_beside_raters_of_all(clinic, tmp_path: Path) -> None:
    evaluation = clinic()
    values = [(q, "one", rater, 1 + (q + (rater == "b")) % 5) for q in range(5) for rater in "ab"]
    imported(evaluation, tmp_path, [*values, (0, "one", "c", 2)])
    agreements = agreement(evaluation)
    row = raters_of(agreements)
    assert (row["num_items"], row["num_complete"], row["num_raters"]) == (5, 1, 3)
    assert row["icc_a1"] is None
    assert row["alpha"] is not None
    of_two = weighted_kappa(*np.array([[1, 2, 3, 4, 5], [2, 3, 4, 5, 1]], np.float64))
    assert row["kappa"] == pytest.approx(of_two)  # one item of c's has no kappa
    assert "too few answers have all raters: no intraclass correlation" in str(agreements)


def test_ratings_that_are_all_equal_define_no_correlation(clinic, tmp_path: Path) -> None:
    evaluation = clinic()
    imported(evaluation, tmp_path, [(q, "one", rater, 3) for q in range(5) for rater in "ab"])
    agreements = agreement(evaluation)
    row = raters_of(agreements)
    assert [row[name] for name in ("icc_a1", "alpha", "kappa", "spearman")] == [None] * 4
    assert "all ratings are equal" in str(agreements)
    assert "all values are equal: no correlation" in str(agreements)


def test_without_a_rating_the_refusal_names_the_command(clinic) -> None:
    with pytest.raises(ConfigError, match=r"has a rating; `ratings invite` .*`ratings import`"):
        clinic().ratings.agreement(suite="s", scenario="Colds")


def test_a_rating_of_an_unknown_instance_is_refused_and_nothing_is_stored(
    clinic, tmp_path: Path
) -> None:
    evaluation = clinic()
    path = tmp_path / "ratings.csv"
    path.write_text("instance_id,model,rater,criterion,value\nnobody,acme/one,a,accuracy,4\n")
    with pytest.raises(DataError, match="row 1: column 'instance_id' names no instance") as raised:
        evaluation.ratings.import_file(path, suite="s", scenario="Colds")
    assert "nobody" not in str(raised.value)
    assert not rows(evaluation, "ratings")


@pytest.mark.parametrize("scale", [(0, 10), (1, 6), (0, 5)], ids=["wider", "higher", "lower"])
def test_a_scale_beyond_the_rubrics_is_refused(clinic, tmp_path: Path, scale) -> None:
    evaluation = clinic()
    message = "the judges' rubric has criterion 'accuracy' from 1 to 5; leave --scale out"
    with pytest.raises(ConfigError, match=message):
        imported(evaluation, tmp_path, [(0, "one", "a", 4)], scale=scale)
    with pytest.raises(ConfigError, match=message):
        evaluation.ratings.invite(
            ["A"], suite="s", scenario="Colds", criteria=["accuracy"], scale=scale
        )
    assert not rows(evaluation, "ratings")


def test_a_value_off_the_rubrics_scale_and_another_criterion_are_refused(
    clinic, tmp_path: Path
) -> None:
    evaluation = clinic()
    with pytest.raises(
        DataError, match="row 1: column 'value' is off its scale; allowed: numbers, 1 to"
    ):
        imported(evaluation, tmp_path, [(0, "one", "a", 7)])
    imported(evaluation, tmp_path, [(0, "one", "a", 4), (1, "one", "a", 2)], scale=(1, 4))
    assert len(rows(evaluation, "ratings")) == 2


def test_a_judge_prompt_of_the_benchmarks_own_gives_criteria_and_scale(tmp_path: Path) -> None:
    """The prompt is in no file of the site: names come from a verdict, 0 to 5 from the run."""
    ward = Ward(tmp_path, prompt=TWO_CRITERIA).run()
    path = tmp_path / "ratings.csv"
    path.write_text("source_id,model,rater,accuracy\n1,acme/good,a,0\n2,acme/good,a,5\n")
    rated = {"suite": "s", "scenario": "ward", "criteria": ["accuracy"]}
    assert ward.evaluation.ratings.import_file(path, **rated).stored == 2
    path.write_text("source_id,model,rater,accuracy\n1,acme/good,a,6\n")
    with pytest.raises(DataError, match="'accuracy' is off its scale; allowed: numbers, 0 to 5"):
        ward.evaluation.ratings.import_file(path, **rated)
    path.write_text("source_id,model,rater,kindness\n1,acme/good,a,3\n")
    with pytest.raises(DataError, match="none of the rubric's: accuracy, clarity"):
        ward.evaluation.ratings.import_file(path, **(rated | {"criteria": ["kindness"]}))
    ward.evaluation.ratings.invite(["A"], suite="s", scenario="ward", items=1)
    (invited,) = ward.rows("rating_invitations")
    criteria = [(each["name"], each["minimum"], each["maximum"]) for each in invited["criteria"]]
    assert criteria == [("accuracy", 0, 5), ("clarity", 0, 5)]
