"""spark-submit in cluster mode on YARN: the driver in a container too, and two executors."""

import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark.engines.model_files import OWN_FILE, fetch_model
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.views import CURRENT_RESULTS
from tests.cluster.test_submit import SPARKS, wait_for
from tests.installed import ROOT
from tests.lakes import num_executors, stats
from tests.spark.conftest import calls, questions
from tests.staged import stored
from tests.yarn.conftest import Submitter
from tests.yarn.daemons import DRIVER
from tests.yarn.hdfs import Hdfs

pytestmark = pytest.mark.timeout(1200)

DEMOS = ("triage_choice", "urgent_letter")
MARK = "PLANTED-"
COUNT = 40


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the engine was asked, by request."""
    return tmp_path / "calls.log"


def committed(lake: Path) -> set[str]:
    if not (lake / "request_results" / "_delta_log").is_dir():
        return set()
    rows = FileReader(str(lake)).query("SELECT request_id FROM {request_results}").to_pylist()
    return {row["request_id"] for row in rows}


def with_benchmarks(submitter: Submitter) -> str:
    """Copy two of the shipped benchmarks and their run entries into the site folder."""
    site = submitter.site.folder / "prod_env"
    for demo in DEMOS:
        shutil.copytree(ROOT / "conf" / "demos" / demo, site / "benchmarks" / demo)
    entries = [
        f'{{description: "medhelm_configurable_benchmark:config_path=benchmarks/{demo}/'
        'benchmark.yaml", priority: 1}'
        for demo in DEMOS
    ]
    (site / "run_entries.conf").write_text(f"entries: [{', '.join(entries)}]\n")
    return "prod_env/run_entries.conf"


def planted(submitter: Submitter, count: int, model: str) -> str:
    """A benchmark in the site folder all of whose text is marked; returns its run entry."""
    rows = questions(count)
    marked = [{**row, "question": f"{MARK}{row['question']}"} for row in rows]
    site = submitter.site
    site.benchmark("bench", marked, max_tokens=40)
    shutil.move(site.folder / "bench", site.folder / "prod_env" / "bench")
    config_path = "prod_env/bench/benchmark.yaml"
    return f"medhelm_configurable_benchmark:config_path={config_path},model={model}"


def test_a_site_that_travels_as_an_archive_gives_the_stats_of_one_machine(
    submitter: Submitter,
) -> None:
    entries = with_benchmarks(submitter)
    model = submitter.site.deploy("acme/m", mode="choice", choices=["emergency", "yes", "no"])
    run = ("-c", entries, "--models-to-run", model, "--suite", "s", "--no-tracking")
    ended = submitter.run("evaluate", *run)
    assert stats(submitter.lake) == stats(submitter.run_locally("run", *run))
    assert num_executors(submitter.lake) == 2
    assert "TRIAGE-CHOICE" in ended.output, "the board is in the driver's log"
    lines = [line for line in ended.output.splitlines() if SPARKS.match(line)]
    assert not [line for line in lines if " INFO " in line], "of Spark's log, warnings at most"


def test_the_demo_with_the_embedded_model_gives_the_stats_of_one_machine(
    submitter: Submitter,
) -> None:
    for prefix in ("spark.yarn.appMasterEnv", "spark.executorEnv"):
        submitter.conf[f"{prefix}.{OWN_FILE}"] = str(fetch_model())
    ended = submitter.run("command", "demo", "--no-tracking")
    assert "60 model calls" in ended.output
    assert stats(submitter.lake) == stats(submitter.run_locally("demo", "--no-tracking"))
    assert num_executors(submitter.lake) == 2


def test_a_lake_in_hdfs_has_the_stats_of_a_folder(submitter: Submitter, hdfs: Hdfs) -> None:
    entries = with_benchmarks(submitter)
    model = submitter.site.deploy("acme/m", mode="choice", choices=["emergency", "yes", "no"])
    run = ("-c", entries, "--models-to-run", model, "--suite", "s", "--no-tracking")
    lake = f"{hdfs.address}/yarn"
    ended = submitter.run("evaluate", *run, lake=lake)
    assert "TRIAGE-CHOICE" in ended.output, "the board, which Spark reads there"
    copy = hdfs.copied(lake, submitter.site.folder / "copy")
    assert stats(copy) == stats(submitter.run_locally("run", *run))


def test_a_job_that_fails_says_why_in_its_log_and_shows_no_text(submitter: Submitter) -> None:
    model = submitter.site.deploy("acme/out", fail_every=1, max_attempts=1)
    submitter.conf["spark.yarn.maxAppAttempts"] = "1"
    entry = planted(submitter, 8, model)
    run = ("-r", entry, "--suite", "s", "--no-tracking")
    ended = submitter.ended(submitter.submit("evaluate", *run))
    assert (ended.code, ended.final_status) == (1, "FAILED"), ended.output[-4000:]
    sentence = "medhelm-spark: infer: deployment 'acme/out' does not answer: 0 answers kept"
    assert sentence in ended.output, ended.output[-4000:]
    assert MARK not in ended.submit_output and MARK not in ended.output


def test_the_doctor_looks_at_both_executors(submitter: Submitter) -> None:
    ended = submitter.run("doctor")
    assert "executors: 2 took a task" in ended.output
    assert f"{submitter.lake}: create, read, delete" in ended.output


@pytest.fixture
def slow(submitter: Submitter, log: Path) -> Iterator[tuple[set[str], "subprocess.Popen[str]"]]:
    """A job with answers that are kept and others to come, and what is kept."""
    speed = {"delay": 0.5, "max_concurrency": 2, "tokens_per_second": 5}
    model = submitter.site.deploy("acme/slow", text="yes", log_file=str(log), **speed)
    submitter.conf["spark.yarn.appMasterEnv.MEDHELM_SPARK_CHUNK_REQUESTS"] = "4"
    run = ("-r", planted(submitter, COUNT, model), "--suite", "s", "--no-tracking")
    process = submitter.submit("evaluate", *run)
    lake = submitter.lake
    wait_for(
        "answers that are kept and others to come", lambda: 0 < len(stored(lake)) < len(calls(log))
    )
    yield stored(lake), process
    process.kill()


def test_a_job_that_yarn_stops_says_what_is_kept_and_gives_its_lease_back(
    submitter: Submitter, slow: tuple[set[str], "subprocess.Popen[str]"]
) -> None:
    _, process = slow
    application = submitter.yarn.applications()[-1]
    submitter.yarn.kill(application)
    ended = submitter.ended(process)
    assert (ended.code, ended.final_status) == (1, "KILLED")
    wait_for("end of its containers", lambda: not submitter.yarn.containers(application), 60)
    outputs = dict(submitter.yarn.outputs(application))
    (driver_output,) = (text for name, text in outputs.items() if name.endswith("_000001/stdout"))
    assert "medhelm-spark: stopped by SIGTERM; infer: " in driver_output
    assert "Traceback" not in driver_output
    newest = max(path for path in (submitter.lake / "_leases").rglob("*") if path.is_file())
    (lease,) = json.loads(newest.read_text())
    assert lease["expires_at"] <= lease["claimed_at"], "given back"


def test_a_killed_driver_is_started_again_by_yarn_and_goes_on(
    submitter: Submitter, log: Path, slow: tuple[set[str], "subprocess.Popen[str]"]
) -> None:
    before, process = slow
    (driver,) = submitter.yarn.containers(DRIVER)
    os.killpg(driver, signal.SIGKILL)
    ended = submitter.ended(process)
    assert (ended.code, ended.final_status) == (0, "SUCCEEDED"), ended.output[-6000:]
    assert any("_02_" in name for name in ended.containers), "of the second attempt"
    lake = submitter.lake
    assert len(committed(lake)) == COUNT
    current = FileReader(str(lake)).query(CURRENT_RESULTS).to_pylist()
    assert len({row["request_id"] for row in current}) == len(current) == COUNT
    call_counts = Counter(calls(log))
    assert all(call_counts[request] == 1 for request in before) and max(call_counts.values()) <= 2
