"""The Dockerfile, the scripts for EMR, and Spark's settings for GPUs, as far as they run here."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from medhelm_spark.engines.slots import gpu_groups
from medhelm_spark.lake.jvm import DELTA
from medhelm_spark.version import VERSION
from tests.deployed import DEPLOY, copied, spark_defaults
from tests.hadoop import hadoop_version
from tests.installed import ROOT

DOCKERFILE = (DEPLOY / "docker" / "Dockerfile").read_text()
SCRIPTS = sorted(DEPLOY.rglob("*.sh"))
WHEEL = f"dist/medhelm_spark-{VERSION}-py3-none-any.whl"
RECORD = '#!/bin/sh\nprintf \'%s\\n\' "$@" > "$(dirname "$0")/called"\n'


def program(folder: Path, name: str, text: str) -> dict[str, str]:
    """An environment in which a program is this script."""
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def done(*words: str | Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in words], env=env, capture_output=True, text=True, check=False
    )


def test_what_the_image_copies_exists_and_reaches_the_build() -> None:
    lines = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    sent = [line.removeprefix("!") for line in lines if line.startswith("!")]
    sources = list(copied(DOCKERFILE))
    assert WHEEL in sources, "the wheel that `make wheel` builds"
    for source in sources:
        assert source == WHEEL or (ROOT / source).exists(), source
        assert any(Path(source).match(each) or source.rstrip("/") == each for each in sent), source


def test_the_image_has_the_versions_of_the_project() -> None:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    (pyspark,) = (each for each in pins if each.startswith("pyspark=="))
    version = pyspark.partition("==")[2]
    assert f" {pyspark} " in DOCKERFILE
    assert f"apache/spark:{version}-" in DOCKERFILE
    _, delta = DELTA[version.rpartition(".")[0]]
    assert f"io.delta_delta-*-{delta}.jar" in DOCKERFILE
    assert f"org.apache.hadoop:hadoop-aws:{hadoop_version()}}}" in DOCKERFILE


def test_the_image_runs_as_nobody_in_particular_on_named_bases() -> None:
    stages = DOCKERFILE.split("\nFROM ")[1:]
    for stage in stages:
        base = stage.split()[0]
        assert base.startswith("${") or re.search(r":\d", base), f"{base} names no version"
        users = re.findall(r"^USER (\S+)", stage, re.MULTILINE)
        assert not users or users[-1] != "root"
    assert re.findall(r"^USER (\S+)", stages[-1], re.MULTILINE) == ["spark"]


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_shellcheck_finds_nothing() -> None:
    result = done("shellcheck", *SCRIPTS, env=dict(os.environ))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_executable_and_bash_reads_them(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert done("bash", "-n", script, env=dict(os.environ)).returncode == 0


def test_the_discovery_script_tells_spark_the_gpus(tmp_path: Path) -> None:
    script = DEPLOY / "spark" / "discover_gpus.sh"
    result = done(script, env=program(tmp_path, "nvidia-smi", "#!/bin/sh\nprintf '0\\n1\\n'\n"))
    assert json.loads(result.stdout) == {"name": "gpu", "addresses": ["0", "1"]}
    failing = program(tmp_path, "nvidia-smi", "#!/bin/sh\necho no driver; exit 9\n")
    assert done(script, env=failing).returncode != 0, "or Spark would start without GPUs"
    silent = program(tmp_path, "nvidia-smi", "#!/bin/sh\necho 'No devices were found'\n")
    assert done(script, env=silent).returncode != 0


@pytest.mark.parametrize("name", ["one_gpu", "several_gpus"])
def test_settings_for_gpus_make_one_engine_of_an_executor(name: str) -> None:
    common = spark_defaults(ROOT / "spark-defaults.conf")
    gpu = spark_defaults(DEPLOY / "spark" / f"{name}.conf")
    assert not set(common) & set(gpu), "set once"
    amount = int(gpu["spark.executor.resource.gpu.amount"])
    assert not [key for key in gpu if key.startswith("spark.task.")], "tasks ask by themselves"
    assert 4 * amount <= int(gpu["spark.executor.cores"]) <= 6 * amount
    addresses = [str(number) for number in range(amount)]
    assert gpu_groups(addresses, None, "", amount) == (tuple(addresses),), "one slot"
    script_path = gpu["spark.executor.resource.gpu.discoveryScript"]
    assert f"deploy/spark/discover_gpus.sh {script_path}\n" in DOCKERFILE
    bootstrap, settings = (
        (DEPLOY / "emr" / each).read_text() for each in ("gpu_bootstrap.sh", "cluster.json")
    )
    assert script_path in bootstrap and f'discoveryScript": "{script_path}"' in settings


def test_a_step_of_emr_submits_the_job_with_the_environment(tmp_path: Path) -> None:
    env = program(tmp_path, "aws", RECORD)
    words = ["evaluate", "-r", "a:b=c d", "--suite", "s", "--local-path", "prod_env"]
    result = done(DEPLOY / "emr" / "step.sh", "j-1", "s3://bucket/medhelm", *words, env=env)
    assert result.returncode == 0, result.stderr
    called = (tmp_path / "called").read_text().splitlines()
    assert called[:5] == ["emr", "add-steps", "--cluster-id", "j-1", "--steps"]
    (step,) = json.loads(called[5])
    assert (step["Jar"], step["Args"][:2]) == ("command-runner.jar", ["bash", "-c"])
    # What the step's shell hands to spark-submit, run here by programs that print their arguments.
    printing = program(tmp_path, "spark-submit", RECORD)
    program(tmp_path, "aws", "#!/bin/sh\nexit 0\n")
    assert done("bash", "-c", step["Args"][2], env=printing).returncode == 0
    submitted = (tmp_path / "called").read_text().splitlines()
    assert submitted[-7:] == ["s3://bucket/medhelm/jobs/evaluate.py", *words[1:]]
    archives = submitted[submitted.index("--archives") + 1]
    assert archives.split(",") == [
        "s3://bucket/medhelm/environment.tar.gz#environment",
        "s3://bucket/medhelm/prod_env.tar.gz#prod_env",
    ]
    assert "spark.yarn.appMasterEnv.PYSPARK_PYTHON=./environment/bin/python" in submitted
    assert "--load-spark-defaults" in submitted, "the cluster's own settings count too"


def test_emr_serverless_gets_delta_and_the_environment(tmp_path: Path) -> None:
    env = program(tmp_path, "aws", RECORD)
    script = DEPLOY / "emr" / "serverless.sh"
    words = ["app", "role", "s3://bucket/medhelm", "score", "-r", "a:b=c d"]
    assert done(script, *words, env=env).returncode == 0
    called = (tmp_path / "called").read_text().splitlines()
    submit = json.loads(called[called.index("--job-driver") + 1])["sparkSubmit"]
    assert submit["entryPoint"] == "s3://bucket/medhelm/jobs/score.py"
    assert submit["entryPointArguments"] == ["-r", "a:b=c d"]
    conf = submit["sparkSubmitParameters"]
    assert "delta-spark.jar" in conf
    assert "spark.archives=s3://bucket/medhelm/environment.tar.gz#environment" in conf
    assert done(script, *words, env={**env, "IMAGE": "1"}).returncode == 0
    assert "spark.archives" not in (tmp_path / "called").read_text()


def test_usage_is_said_where_arguments_are_missing() -> None:
    for script in (
        DEPLOY / "emr" / "step.sh",
        DEPLOY / "emr" / "serverless.sh",
        DEPLOY / "pack.sh",
    ):
        result = done(script, env=dict(os.environ))
        assert result.returncode != 0
        assert "usage:" in result.stderr


def test_the_cluster_of_emr_is_json_with_delta_and_gpus() -> None:
    read = json.loads((DEPLOY / "emr" / "cluster.json").read_text())
    named = {each["Classification"]: each["Properties"] for each in read}
    assert named["delta-defaults"] == {"delta.enabled": "true"}
    script = named["spark-defaults"]["spark.executor.resource.gpu.discoveryScript"]
    assert script in (DEPLOY / "emr" / "gpu_bootstrap.sh").read_text()
