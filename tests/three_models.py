"""Answers of scripted models to a few made questions, as raters are shown them."""

import csv
from collections.abc import Mapping
from pathlib import Path

import yaml

from medhelm_spark import Deployment, Evaluation, Locality

SCENARIO = "Colds"


def evaluated(
    folder: Path, texts: Mapping[str, str], *, suite: str, questions: int, level: str = "public"
) -> Evaluation:
    """A run of models that give one answer each, which this process computes without Java.

    Args:
        folder: where data and lake are made.
        texts: the answer of each model by its name.
        suite: the suite of the runs.
        questions: how many questions they answer.
        level: the access level of the data.
    """
    (folder / "prompt.txt").write_text("{question}")
    with (folder / "data.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([["id", "question", "correct_answer"]])
        writer.writerows([[f"q{i}", f"Question {i} <i>?", "gold answer"] for i in range(questions)])
    config = {
        "name": SCENARIO,
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": level,
        "metrics": [{"name": "exact_match"}],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    models = [
        Deployment(
            name=f"acme/{name}",
            model=name,
            engine="canned",
            locality=Locality.LOCAL,
            args={"mode": "script", "text": text},
        )
        for name, text in texts.items()
    ]
    made = Evaluation(folder / "lake", site=None, tracking=False, deployments=models)
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    made.run([f"{entry},model={name}" for name in texts], suite=suite)
    return made
