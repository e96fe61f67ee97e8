"""Which engines are checked before Spark starts."""

from pathlib import Path

import pytest
import yaml

from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.medhelm.expand import expand
from medhelm_spark.medhelm.run_entries import parse_flags
from medhelm_spark.pipeline.checks import check_engines
from medhelm_spark.workspace.workspace import Workspace


def site(folder: Path, engine: str, **args: str) -> tuple[Workspace, tuple[ResolvedRun, ...]]:
    entry = {
        "name": "acme/m",
        "engine": engine,
        "locality": "local",
        "client_spec": {"args": args},
    }
    path = folder / "model_deployments.yaml"
    path.write_text(yaml.safe_dump({"model_deployments": [entry]}))
    workspace = Workspace(str(folder / "lake"), folder)
    entries = parse_flags(["pubmed_qa:model=acme/m"])
    return workspace, expand(entries, workspace.registry, base_dir=folder)


def test_a_model_that_cannot_be_loaded_here_is_refused_at_once(tmp_path: Path) -> None:
    workspace, runs = site(tmp_path, "llama_cpp", path=str(tmp_path / "absent.gguf"))
    with pytest.raises(MedhelmSparkError, match=r"absent\.gguf"):
        check_engines(runs, workspace)


@pytest.mark.parametrize("platform", ["databricks", "emr"])
def test_on_a_cluster_the_executors_say_whether_they_can_load_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setenv("MEDHELM_SPARK_PLATFORM", platform)
    check_engines(*reversed(site(tmp_path, "llama_cpp", path=str(tmp_path / "absent.gguf"))))


def test_a_key_that_is_missing_is_refused_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDHELM_SPARK_PLATFORM", "emr")
    monkeypatch.delenv("ACME_KEY", raising=False)
    args = {"base_url": "http://localhost:1/v1", "model": "m", "api_key": "env:ACME_KEY"}
    workspace, runs = site(tmp_path, "openai", **args)
    with pytest.raises(MedhelmSparkError, match="ACME_KEY"):
        check_engines(runs, workspace)
