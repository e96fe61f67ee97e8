"""Results there and back: what we export, the real `helm-summarize` reads as it reads its own.

`MEDHELM_PYTHON` names the python of an environment with medhelm 0.8.0.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.cli import main

PYTHON = os.environ.get("MEDHELM_PYTHON") or os.environ["MEDHELM_SPARK_PARITY_PYTHON"]
SUMMARIZE = (
    "import sys; from helm.benchmark.presentation.summarize import main; "
    "sys.argv[0] = 'helm-summarize'; main()"
)
SITE = """
model_deployments:
  - name: acme/canned
    model_name: acme/canned
    engine: canned
    locality: local
    client_spec: {args: {text: "yes"}}
"""
WRITTEN_BY_SUMMARY = ("instances.json", "display_predictions.json", "display_requests.json")


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    previous_folder = Path.cwd()
    os.chdir(tmp_path)
    (tmp_path / "prod_env").mkdir()
    (tmp_path / "prod_env" / "model_deployments.yaml").write_text(SITE)
    yield tmp_path
    os.chdir(previous_folder)


def summarize(output: Path, suite: str, schema: Path) -> Path:
    """A release that MedHELM's own summary makes of a suite; its links are relative."""
    flags = ["--suites", suite, "--release", "r1", "--output-path", "."]
    schema_flags = [
        "--schema-path",
        str(schema),
        "--allow-unknown-models",
        "true",
        "--local-path",
        "empty",
    ]
    command = [PYTHON, "-c", SUMMARIZE, *flags, *schema_flags]
    environment = {**os.environ, "PYTHONPATH": ""}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=output)
    return output / "releases" / "r1"


def release_files(folder: Path) -> dict[str, Any]:
    """A release's files by name; the stats of a run, which have no order, sorted by name."""
    files = {
        str(path.relative_to(folder)): json.loads(path.read_text())
        for path in sorted(folder.rglob("*.json"))
    }
    for run in files["runs.json"]:
        run["stats"].sort(key=lambda stat: json.dumps(stat["name"], sort_keys=True))
    return files


def test_the_sample_imported_and_exported_gives_the_same_release(
    folder: Path, real_data: Path
) -> None:
    sample = real_data / "helm_output_sample"
    shutil.copytree(sample / "runs", folder / "theirs" / "runs")
    for path in (folder / "theirs").rglob("*"):
        path.chmod(0o755)
        if path.name in WRITTEN_BY_SUMMARY:
            path.unlink()
    lake = ["--suite", "sample", "-o", "lake"]
    assert main(["import-helm", str(sample), "--no-tracking", *lake]) == 0
    assert main(["export-helm", "ours", "--text-levels", "private", *lake]) == 0
    schema = sample / "releases" / "sample-release" / "schema.json"
    theirs = release_files(summarize(folder / "theirs", "sample", schema))
    ours = release_files(summarize(folder / "ours", "sample", schema))
    assert len(theirs) > 8
    assert ours == theirs
    for run in (folder / "theirs" / "runs" / "sample").iterdir():
        for name in WRITTEN_BY_SUMMARY:
            own_file = folder / "ours" / "runs" / "sample" / run.name / name
            assert json.loads(own_file.read_text()) == json.loads((run / name).read_text()), name


def test_a_run_of_ours_is_read(folder: Path) -> None:
    (folder / "fever.csv").write_text("case,correct_answer\n39.1,yes\n36.5,no\n40,yes\n")
    (folder / "fever.txt").write_text("Case: {case}\nIs it fever?")
    (folder / "fever.yaml").write_text(
        "name: FEVER\ndescription: Made up.\nprompt_file: fever.txt\ndataset_file: fever.csv\n"
        "max_tokens: 5\nmetrics: [{name: exact_match}]\naccess_level: public\n"
    )
    entry = "medhelm_configurable_benchmark:config_path=fever.yaml,model=acme/canned"
    lake = ["--suite", "own", "-o", "lake"]
    assert main(["run", "-r", entry, "--no-tracking", *lake]) == 0
    assert main(["export-helm", "ours", *lake]) == 0
    schema = folder / "schema.yaml"
    schema.write_text(yaml.safe_dump(schema_of({"exact_match": False}, {"FEVER": "exact_match"})))
    release = release_files(summarize(folder / "ours", "own", schema))
    ((run,), table) = release["runs.json"], release["groups/FEVER.json"]
    stats = {stat["name"]["name"]: stat for stat in run["stats"]}
    assert stats["exact_match"]["mean"] == pytest.approx(2 / 3)
    assert stats["num_instances"]["mean"] == 3
    values = [cell.get("value") for row in table[0]["rows"] for cell in row]
    assert pytest.approx(2 / 3) in [value for value in values if isinstance(value, float)]
    (path,) = (folder / "ours" / "runs" / "own").iterdir()
    predictions = json.loads((path / "display_predictions.json").read_text())
    assert [prediction["predicted_text"] for prediction in predictions] == ["yes"] * 3


def test_a_shared_folder_is_summarized_with_the_releases_numbers(folder: Path) -> None:
    """Public and private runs of two models; HELM's summary by the share's own schema."""
    policy = {"audiences": [{"name": "public", "content": "texts"}]}
    (folder / "prod_env" / "policy.yaml").write_text(yaml.safe_dump(policy))
    site = yaml.safe_load(SITE)
    no = {**site["model_deployments"][0], "name": "acme/no", "model_name": "acme/no"}
    site["model_deployments"].append({**no, "client_spec": {"args": {"text": "no"}}})
    (folder / "prod_env" / "model_deployments.yaml").write_text(yaml.safe_dump(site))
    entries = []
    for name, level, size in (("FEVER", "public", 7), ("WARD", "private", 30)):
        rows = [f"{name} {36 + i / 10},{'yes' if i % 3 else 'no'}" for i in range(size)]
        (folder / f"{name}.csv").write_text("\n".join(["case,correct_answer", *rows, ""]))
        (folder / f"{name}.txt").write_text("Case: {case}\nIs it fever?")
        (folder / f"{name}.yaml").write_text(
            f"name: {name}\ndescription: Made up.\nprompt_file: {name}.txt\n"
            f"dataset_file: {name}.csv\nmax_tokens: 5\nmetrics: [{{name: exact_match}}]\n"
            f"access_level: {level}\n"
        )
        entries += [
            f"medhelm_configurable_benchmark:config_path={name}.yaml,model={model}"
            for model in ("acme/canned", "acme/no")
        ]
    lake = ["-o", "lake"]
    assert main(["run", "-r", *entries, "--suite", "own", "--no-tracking", *lake]) == 0
    assert main(["release", "publish", "r1", "--suites", "own", *lake]) == 0
    share = ["release", "share", "r1", "--audience", "public", "--out", "shared", "--helm"]
    assert main([*share, *lake]) == 0
    (suite,) = (folder / "shared" / "runs").iterdir()
    release = release_files(summarize(folder / "shared", suite.name, suite / "schema.json"))
    board = json.loads(Evaluation("lake", tracking=False).board(release="r1").render("json"))
    ours = {(cell["model_deployment"], cell["scenario_name"]): cell for cell in board["cells"]}
    theirs = {}
    for run in release["runs.json"]:
        stats = {stat["name"]["name"]: stat["mean"] for stat in run["stats"]}
        spec = run["run_spec"]
        key = spec["adapter_spec"]["model_deployment"], spec["groups"][0]
        theirs[key] = (stats["exact_match"], stats["num_instances"])
    assert len(theirs) == 4
    assert theirs == {key: (cell["mean"], cell["count"]) for key, cell in ours.items()}
    for name in ("FEVER", "WARD"):
        (table,) = release[f"groups/{name}.json"]
        (column,) = [i for i, head in enumerate(table["header"]) if "exact_match" in head["value"]]
        means = {row[column]["value"] for row in table["rows"]}
        assert means == {cell["mean"] for key, cell in ours.items() if key[1] == name}
    predictions = json.loads(
        (suite / "FEVER:model=acme_canned" / "display_predictions.json").read_text()
    )
    assert [prediction["predicted_text"] for prediction in predictions] == ["yes"] * 7
    assert not (suite / "WARD:model=acme_canned" / "display_predictions.json").exists()


def schema_of(directions: dict[str, bool], mains: dict[str, str]) -> dict[str, Any]:
    """A schema with one category that contains all groups, each by its main metric."""
    return {
        "metrics": [
            {"name": name, "display_name": name, "lower_is_better": lower}
            for name, lower in directions.items()
        ],
        "perturbations": [],
        "metric_groups": [
            {
                "name": "accuracy",
                "display_name": "Accuracy",
                "metrics": [{"name": "${main_name}", "split": "${main_split}"}],
            }
        ],
        "run_groups": [
            {
                "name": "everything",
                "display_name": "Everything",
                "description": "",
                "category": "All",
                "subgroups": list(mains),
            },
            *(
                {
                    "name": name,
                    "display_name": name,
                    "description": "",
                    "metric_groups": ["accuracy"],
                    "environment": {"main_name": main, "main_split": "test"},
                }
                for name, main in mains.items()
            ),
        ],
    }


def write_run(suite: Path, group: str, model: str, metric: str, value: float) -> None:
    """A run of which there are but RunSpec and stats."""
    name = f"{group}:model={model.replace('/', '_')}"
    folder = suite / name
    folder.mkdir(parents=True)
    run_spec = {
        "name": name,
        "scenario_spec": {"class_name": "made.up.Scenario", "args": {}},
        "adapter_spec": {"method": "generation", "model": model, "model_deployment": model},
        "metric_specs": [],
        "groups": [group],
    }
    (folder / "run_spec.json").write_text(json.dumps(run_spec))
    stats = [
        {
            "name": {"name": metric, "split": "test"},
            "count": 1,
            "sum": value,
            "sum_squared": value * value,
            "min": value,
            "max": value,
            "mean": value,
            "variance": 0.0,
            "stddev": 0.0,
        }
    ]
    (folder / "stats.json").write_text(json.dumps(stats))


def test_the_mean_win_rate_is_medhelms_with_ties_gaps_and_lower_is_better(folder: Path) -> None:
    groups = {"alpha": "good", "beta": "bad", "gamma": "good", "delta": "neither"}
    table = {
        "m/one": {"alpha": 0.5, "beta": 0.25, "gamma": 0.9, "delta": 1.0},
        "m/two": {"alpha": 0.5, "beta": 0.75, "delta": 2.0},
        "m/three": {"alpha": 0.125, "beta": 0.25, "gamma": 0.3},
        "m/four": {"alpha": 0.75},
        "m/five": {"delta": 4.0},
    }
    for model, values in table.items():
        for group, value in values.items():
            write_run(folder / "out/runs/s", group, model, groups[group], value)
    schema = folder / "schema.yaml"
    document = schema_of({"good": False, "bad": True}, groups)
    document["metrics"].append({"name": "neither", "display_name": "neither"})
    schema.write_text(yaml.safe_dump(document))
    release = summarize(folder / "out", "s", schema)
    (summary_table,) = json.loads((release / "groups" / "everything.json").read_text())
    (column,) = [
        i for i, head in enumerate(summary_table["header"]) if "win rate" in head["value"].lower()
    ]
    theirs = {
        row[0]["value"].split("/")[-1]: row[column].get("value") for row in summary_table["rows"]
    }
    result = Evaluation("lake", tracking=False).medhelm.import_results("out", suite="s")
    assert result.board is not None
    ours = {
        row.model.split("/")[-1]: row.medhelm_mean_win_rate for row in result.board.leaderboard.rows
    }
    assert len(theirs) == len(table)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert len({rate for rate in ours.values() if rate is not None}) > 2
