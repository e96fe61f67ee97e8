"""A child process gets what it needs of the environment, and no key."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from medhelm_spark.engines import model_files
from medhelm_spark.errors import SetupError
from medhelm_spark.medhelm_results.export_scenario import ExportRequest, export_scenario
from medhelm_spark.subprocess_env import FETCHING, child_environment

KEYS = {
    "OPENAI_API_KEY": "sk-planted",
    "HF_TOKEN": "hf_planted",
    "AWS_SECRET_ACCESS_KEY": "planted",
    "MEDHELM_SPARK_SECRET_LLM_KEY": "planted",
    "MLFLOW_TRACKING_PASSWORD": "planted",
    "PYTHONPATH": "/planted",
    "LD_PRELOAD": "",
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def test_the_list_names_what_is_handed_on() -> None:
    environ = {"PATH": "/bin", "LC_ALL": "C", "https_proxy": "http://proxy", **KEYS}
    own = {"PATH": "/bin", "LC_ALL": "C", "PYTHONSAFEPATH": "1"}
    assert child_environment(environ=environ) == own
    assert child_environment(FETCHING, environ).keys() == {*own, "https_proxy"}


@pytest.mark.attack("secrets", "MedHELM's Python reads the keys of this process's environment")
def test_medhelms_python_gets_no_key(tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    python = tmp_path / "python"
    code = f"import json, os; json.dump(dict(os.environ), open({str(seen)!r}, 'w'))"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}"\n')
    python.chmod(0o755)
    request = ExportRequest(name="x", python=str(python), medhelm_output="out")
    export_scenario(request, tmp_path / "export.jsonl")
    environ = json.loads(seen.read_text())
    assert "PATH" in environ
    assert not environ.keys() & KEYS.keys()


@pytest.mark.attack("secrets", "the installer of a model file reads the keys of the environment")
def test_the_installer_gets_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environs: list[dict[str, str]] = []

    def run(command: object, **options: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        environs.append(options["env"])
        return subprocess.CompletedProcess([], len(environs) - 1)  # pip is there, and fails

    monkeypatch.setattr(model_files.subprocess, "run", run)
    with pytest.raises(SetupError, match="could not download"):
        model_files._install(tmp_path)
    assert len(environs) == 2
    assert not any(env.keys() & KEYS.keys() for env in environs)
