"""Groups of answers that were asked for several times: one row of each group, patients counted."""

from pathlib import Path

import yaml

from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.lake.session import is_started

ARGS = {"labels": "yes|no", "positive": "yes"}


def test_a_sensitivity_of_repeated_answers_is_one_row_of_each_group(tmp_path: Path) -> None:
    rows = [f"Case {i}?,yes,p{i // 2},{'fm'[i % 4 // 2]}\n" for i in range(48)]
    rows += [f"Case {i}?,no,p{i // 2},{'fm'[i % 4 // 2]}\n" for i in range(48, 60)]
    (tmp_path / "data.csv").write_text("question,correct_answer,patient,sex\n" + "".join(rows))
    (tmp_path / "prompt.txt").write_text("{question}")
    config = {
        "name": "Cases",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "cluster_column": "patient",
        "groups": ["sex"],
        "metrics": [{"name": "sensitivity", "args": ARGS}],
    }
    (tmp_path / "benchmark.yaml").write_text(yaml.safe_dump(config))
    model = Deployment(
        name="ward/any",
        model="ward/any",
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "choice", "choices": ["yes", "no"]},
    )
    evaluation = Evaluation(
        tmp_path / "lake", site=None, tracking=False, deployments=[model], say=lambda line: None
    )
    entry = f"medhelm_configurable_benchmark:config_path={tmp_path / 'benchmark.yaml'}"
    evaluation.run(f"{entry},model=ward/any,num_trials=3", suite="s")
    found = [
        row for row in evaluation.subgroups.scores("s").rows() if row["metric"] == "sensitivity"
    ]
    assert [
        (row["group_value"], row["count"], row["denominator"], row["num_clusters"]) for row in found
    ] == [("f", 90, 72, 12), ("m", 90, 72, 12)]
    assert {row["ci_method"] for row in found} == {"clustered"}
    assert not is_started()
