"""The Databricks bundle, read by the typed classes of databricks-bundles."""

import importlib.util
import re
from importlib.metadata import entry_points
from typing import Any

import pytest
from databricks.bundles.apps import App
from databricks.bundles.jobs import Job
from databricks.bundles.schemas import Schema
from databricks.bundles.volumes import Volume

from medhelm_spark.cli.parser import parse
from medhelm_spark.version import VERSION
from tests.deployed import (
    BUNDLE,
    REFERENCE,
    bundle,
    filled,
    in_order,
    resources,
    values_of,
    wheel_tasks as calls_of,
)

TYPES = {"apps": App, "jobs": Job, "schemas": Schema, "volumes": Volume}
NAMED = [(kind, name) for kind, named in resources().items() for name in named]


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_every_resource_has_the_fields_that_databricks_knows(kind: str, name: str) -> None:
    assert TYPES[kind].from_dict(resources()[kind][name])


def test_a_field_that_databricks_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="nodes"):
        Job.from_dict({"job_clusters": [{"job_cluster_key": "a", "new_cluster": {"nodes": 1}}]})


def test_every_reference_is_declared() -> None:
    declared = {f"var.{name}" for name in bundle()["variables"]}
    declared |= {"bundle.name", "bundle.target", "resources.schemas.lake.name"}
    for path in BUNDLE.rglob("*.yml"):
        text = path.read_text()
        used = {match[1] for match in REFERENCE.finditer(text) if match[1]}
        assert used <= declared, path.name
    for job in resources()["jobs"].values():
        parameters = {f"job.parameters.{each['name']}" for each in job["parameters"]}
        used = {match[2] for match in REFERENCE.finditer(str(job["tasks"])) if match[2]}
        assert used - {"input"} == parameters, "and every parameter is used"


def test_tasks_have_a_declared_cluster_and_models_run_on_gpus() -> None:
    for job in resources()["jobs"].values():
        clusters = {each["job_cluster_key"] for each in job["job_clusters"]}
        calls = [call for call, _ in calls_of(job["tasks"], values_of(job))]
        assert {call.cluster for call in calls} == clusters
        asking = {"infer", "annotate", "doctor_gpu", "watch"}
        assert all((call.cluster == "gpu") is (call.key in asking) for call in calls)


def test_every_task_is_a_command_line_that_parses() -> None:
    scripts = {each.name for each in entry_points(group="console_scripts")}
    for job in resources()["jobs"].values():
        values = values_of(job)
        for call, parameters in calls_of(job["tasks"], values):
            assert call.package == "medhelm_spark"
            assert call.entry_point in scripts
            words = [filled(word, values | parameters) for word in call.parameters]
            local = [word for word in words if not word.startswith("--local-path=")]
            assert parse(local).output_path == "main.medhelm_dev"


def test_the_chain_is_the_stages_in_their_order() -> None:
    keys = [task["task_key"] for task in in_order(resources()["jobs"]["evaluate"]["tasks"])]
    stages = ["ingest", "plan", "infer", "annotate", "score", "summarize", "pin", "gate"]
    assert [key for key in keys if key in stages] == stages


def test_files_that_resources_name_are_there() -> None:
    app = resources()["apps"]["dashboard"]
    folder = (BUNDLE / "resources" / app["source_code_path"]).resolve()
    assert (folder / "app.py").is_file()
    requirements = (folder / "requirements.txt").read_text()
    assert f"./medhelm_spark-{VERSION}-py3-none-any.whl" in requirements
    secrets = {each["name"] for each in app["resources"]}
    assert set(re.findall(r"valueFrom: (\w+)", (folder / "app.yaml").read_text())) == secrets


def test_the_app_is_a_serve_command() -> None:
    spec: Any = importlib.util.spec_from_file_location("bundle_app", BUNDLE / "app" / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    environ = {
        "DATABRICKS_APP_PORT": "8123",
        "DATABRICKS_APP_URL": "https://medhelm-1.example.databricksapps.com",
        "LAKE": "s3://bucket/lake",
    }
    args = parse(app.words(environ))
    assert (args.host, args.port, args.output_path) == ("0.0.0.0", 8123, "s3://bucket/lake")
    assert args.allowed_hosts == ["medhelm-1.example.databricksapps.com"]
    del environ["DATABRICKS_APP_URL"]
    assert parse(app.words(environ)).allowed_hosts is None


def test_what_was_never_run_says_so() -> None:
    for path in [*BUNDLE.rglob("*.yml"), BUNDLE / "app" / "app.yaml"]:
        assert re.search("not validated", path.read_text(), re.IGNORECASE), path.name
