"""A benchmark of 60 questions on 30 patients, run and scored in this process."""

from pathlib import Path
from typing import Any

import yaml

from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.lake.session import is_started

ARGS = {"labels": "yes|no", "positive": "yes"}


def evaluated(folder: Path, settings: str = "", by: str = "", **config: Any) -> Evaluation:
    """A model's answers to 60 questions on 30 patients of two sexes."""
    rows = [
        f"Case {i}?,{'yes' if i < 48 else 'no'},p{i // 2},{'fm'[i % 4 // 2]}\n" for i in range(60)
    ]
    (folder / "data.csv").write_text("question,correct_answer,patient,sex\n" + "".join(rows))
    (folder / "prompt.txt").write_text("{question}")
    (folder / "polite.txt").write_text("Please answer. {question}")
    benchmark = {
        "name": "Cases",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "cluster_column": "patient",
        "metrics": [{"name": "sensitivity", "args": ARGS}, {"name": "exact_match"}],
        **config,
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(benchmark))
    model = Deployment(
        name="ward/any",
        model="ward/any",
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "choice", "choices": ["yes", "no"]},
    )
    evaluation = Evaluation(
        folder / "lake", site=None, tracking=False, deployments=[model], say=lambda line: None
    )
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    evaluation.run(f"{entry},model=ward/any{settings}", suite="s", by=by)
    assert not is_started()
    return evaluation
