"""Offline runs with Spark's tasks, executors that try the network, and a bundle."""

import json
import os
import socket
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.air_gap.bundle import problems_of
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import Site

PROGRAM = """
import json, sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from medhelm_spark import Evaluation
from medhelm_spark.air_gap.egress import TriedEgress
from medhelm_spark.lake.executors import Visit
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.workspace.session import session_of, settings_of
from tests.spark.test_air_gap import look

here = Evaluation(sys.argv[1], site=None, tracking=False)
here.air_gap.go_offline()
spark = session_of(settings_of(None))
visits = spark.range(0, 4, 1, 4).withColumnRenamed("id", "number")
found = rows_of(map_rows(visits, look, Visit, TriedEgress), TriedEgress)
print(json.dumps([each.outcomes for each in found]))
done = here.run(sys.argv[2], suite="s")
print(json.dumps(done.model_calls))
"""


def look(visits: Any) -> Any:
    """In a task: an address that is not listed, and one of this machine."""
    from medhelm_spark.air_gap.egress import TriedEgress

    for _ in visits:
        outcomes = []
        for host in ("192.0.2.9", "127.0.0.1"):
            own = socket.socket()
            own.settimeout(1)
            try:
                own.connect((host, 9))
            except OSError as error:
                outcomes.append(type(error).__name__)
        tried = TriedEgress(name=str(os.getpid()), tried=(), outcomes=tuple(outcomes))
        yield tried


def test_tasks_refuse_what_the_driver_refuses_and_the_list_is_on_record(
    site: Site, tmp_path: Path
) -> None:
    entry = site.benchmark("ward", [{"id": "1", "question": "a?", "correct_answer": "yes"}])
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "lake"), f"{entry},model=canned/constant"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    outcomes, calls = map(json.loads, completed.stdout.splitlines()[-2:])
    assert outcomes == [["OfflineRefusal", "ConnectionRefusedError"]] * 4
    assert calls == 1
    assert "offline: every address is refused but this machine's and" in completed.stderr
    rows = open_reader(str(tmp_path / "lake")).query("SELECT * FROM {offline_runs}").to_pylist()
    assert [(row["suite"], row["addresses"]) for row in rows] == [("s", [])]
    assert "HF_HUB_OFFLINE=1" in rows[0]["switches"]


def test_executors_try_the_network_too(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        evaluation = Evaluation(site.lake_path, site=None, tracking=False)
        findings = evaluation.air_gap.egress_findings([address], on_executors=True)
    assert {each.where.split()[0] for each in findings} == {"driver", "executor"}
    assert {(each.state.value, each.found) for each in findings} == {("wrong", f"{address}: open")}


def test_a_bundle_is_whole_and_every_change_is_named(tmp_path: Path) -> None:
    wheel = tmp_path / "medhelm_spark-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("medhelm_spark/__init__.py", "")
    weights = tmp_path / "ward_model"
    weights.mkdir()
    (weights / "model.safetensors").write_bytes(b"weights")
    nothing = tmp_path / "requirements.txt"
    nothing.write_text("")
    evaluation = Evaluation(tmp_path / "lake", site=None, tracking=False, say=lambda line: None)
    out = tmp_path / "bundle"
    options: dict[str, Any] = {"wheels": [wheel], "requirements": nothing, "weights": [weights]}
    with pytest.raises(ConfigError, match="ward_model has no tokenizer"):
        evaluation.air_gap.bundle(out, **options)
    (weights / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="names no digest"):
        evaluation.air_gap.bundle(out, **options, image="python:3.11")
    assert not out.exists()
    digest = f"python@sha256:{'0' * 64}"
    bundle = evaluation.air_gap.bundle(out, **options, image=digest)
    manifest = json.loads((out / "bundle.json").read_text())
    names = [each["name"] for each in manifest["files"]]
    assert bundle.num_files == len(names)
    assert manifest["base_image"] == digest
    assert {name.partition("/")[0] for name in names} == {
        *("cache", "wheels", "weights", "env.sh", "requirements.txt")
    }
    assert next(each.state.value for each in evaluation.air_gap.offline_findings(out)) == "ok"
    completed = subprocess.run(
        ["bash", "-c", f". {out}/env.sh && echo $MEDHELM_SPARK_CACHE"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert completed.stdout.strip() == str(out / "cache")
    (out / "weights/ward_model/model.safetensors").write_bytes(b"Weights")
    (out / "wheels/more.whl").write_bytes(b"")
    (out / "env.sh").unlink()
    assert list(problems_of(out)) == [
        "env.sh is missing",
        "wheels/more.whl was added",
        "weights/ward_model/model.safetensors was changed",
    ]
    assert evaluation.air_gap.offline_findings(out)[0].state.value == "wrong"


_BACKEND = """
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(f"{folder}/tiny-1.0-py3-none-any.whl", "w") as file:
        file.writestr("tiny.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        file.writestr(f"{info}/RECORD", "")
    return "tiny-1.0-py3-none-any.whl"
"""


def test_what_is_published_as_sources_alone_is_a_wheel_in_the_bundle(tmp_path: Path) -> None:
    """As PySpark is."""
    source = tmp_path / "tiny-1.0"
    source.mkdir()
    (source / "backend.py").write_text(_BACKEND)
    system = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (source / "pyproject.toml").write_text(system)
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    with tarfile.open(tmp_path / "tiny-1.0.tar.gz", "w:gz") as file:
        file.add(source, "tiny-1.0")
    requirements_file = tmp_path / "requirements.txt"
    requirements_file.write_text(f"{tmp_path / 'tiny-1.0.tar.gz'}\n")
    evaluation = Evaluation(tmp_path / "lake", site=None, tracking=False, say=lambda line: None)
    evaluation.air_gap.bundle(tmp_path / "bundle", requirements=requirements_file)
    assert [path.name for path in (tmp_path / "bundle" / "wheels").iterdir()] == [
        "tiny-1.0-py3-none-any.whl"
    ]
    requirements_file.write_text("no-such-package-of-medhelm-spark==9.9\n")
    with pytest.raises(SetupError, match=r"the wheel of no-such-package-of-medhelm-spark==9\.9"):
        evaluation.air_gap.bundle(tmp_path / "other", requirements=requirements_file)
    assert not (tmp_path / "other").exists()
