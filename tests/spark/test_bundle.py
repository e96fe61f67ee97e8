"""The tasks of the Databricks bundle, executed in their order with their parameters.

What replaces Databricks here: the session of the tests, a folder for the lake's catalog, folders
for the Volumes. Each task is called as Databricks calls a wheel: by its entry point, its parameters
being the command line, and what it returns ignored.
"""

import socket
import subprocess
import sys
import time
import urllib.request
from importlib.metadata import distribution
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.config.resources import conf_path
from tests.deployed import BUNDLE, WheelTask, filled, resources, values_of, wheel_tasks
from tests.spark.conftest import Site

DEMOS = ("triage_choice", "discharge_note")
MODEL, JUDGE = "acme/constant", "huggingface/smollm2-135m-instruct"
LAKE, VOLUMES = "main.medhelm_dev", "/Volumes/main/medhelm_dev"


def prepare(site: Site) -> Path:
    """The site Volume: the demos as run entries, a model, and a judge in place of the small one."""
    site.deploy(MODEL, mode="constant", text="routine")
    site.deploy(JUDGE, mode="judge", score=2, model_name="huggingfacetb/smollm2-135m-instruct")
    entries = site.folder / "prod_env" / "run_entries.conf"
    paths = [conf_path("demos", name, "benchmark.yaml") for name in DEMOS]
    lines = [f'{{description: "{_entry(path)}", priority: 1}}' for path in paths]
    entries.write_text("entries: [\n" + "\n".join(lines) + "\n]\n")
    return entries


def _entry(path: Path) -> str:
    return f"medhelm_configurable_benchmark:config_path={path}"


def call(task: WheelTask, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As Databricks does; SystemExit where the task would be shown as failed."""
    entry_points = distribution(task.package).entry_points
    (entry,) = (each for each in entry_points if each.name == task.entry_point)
    monkeypatch.setattr(sys, "argv", ["task", *words])
    entry.load()()


def mapped(words: list[str], site: Site, engine: bool) -> list[str]:
    """Parameters with the catalog and Volumes as local folders.

    The check for vLLM alone is left out: this machine has none.
    """
    local = [
        word.replace(LAKE, str(site.lake_path))
        .replace(f"{VOLUMES}/site", str(site.folder / "prod_env"))
        .replace(f"{VOLUMES}/reports", str(site.folder / "reports"))
        for word in words
        if engine or word != "--engine=vllm"
    ]
    assert not [word for word in local if "/Volumes" in word or "main." in word]
    return local


@pytest.mark.long
def test_every_task_in_order_gives_the_board_of_a_direct_run(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = prepare(site)
    jobs = resources()["jobs"]
    demo = conf_path("demos", "pubmed_style", "ori_pqal_demo.json")
    monkeypatch.setenv("MEDHELM_SPARK_TRACKING_URI", f"sqlite:///{site.folder / 'mlflow.db'}")
    # The data of pubmed_qa, which the first task reads, is a download; here a file of ours.
    fetched = ["--source", str(demo), "--access-level", "public"]
    ours = {"model": MODEL, "suite": "demo", "release": "r1", "max_eval_instances": "6"}
    values = values_of(jobs["evaluate"], **ours)
    task_keys = []
    for task, item_inputs in wheel_tasks(jobs["evaluate"]["tasks"], values):
        words = mapped(
            [filled(word, values | item_inputs) for word in task.parameters], site, False
        )
        call(task, words + (fetched if task.key == "ingest" else []), monkeypatch)
        task_keys.append(task.key)
    assert task_keys[0] == "doctor"
    assert task_keys[-1] == "gate"
    boards = [site.board("demo")]
    report = site.folder / "reports" / "demo.html"
    assert "TRIAGE-CHOICE" in report.read_text()

    direct = Site(site.folder / "direct", site.spark)
    direct.deployments = site.deployments
    direct.deploy(MODEL, mode="constant", text="routine")
    flags = ["-c", str(entries), "--models-to-run", MODEL, "-m", "6"]
    assert direct.run(*flags, suite="demo") == 0
    boards.append(direct.board("demo"))
    assert boards[0] == boards[1]
    assert {cell["scenario_name"] for cell in boards[0]} == {"TRIAGE-CHOICE", "DISCHARGE-NOTE"}

    capsys.readouterr()
    with pytest.raises(SystemExit) as refused:
        publish(site, monkeypatch)
    assert refused.value.code == 1, "nobody has approved it"
    assert "draft" in capsys.readouterr().err
    check_app(site)


def publish(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    job = resources()["jobs"]["publish"]
    values = values_of(job, release="r1")
    for task, _ in wheel_tasks(job["tasks"], values):
        words = mapped([filled(word, values) for word in task.parameters], site, True)
        call(task, words, monkeypatch)


def check_app(site: Site) -> None:
    """The app, started as Databricks starts it, answers at its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"DATABRICKS_APP_PORT": str(port), "LAKE": str(site.lake_path)}
    app = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=BUNDLE / "app",
        env={**own, "PATH": "/usr/bin:/bin", "HOME": str(site.folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                address = f"http://127.0.0.1:{port}/_stcore/health"
                with urllib.request.urlopen(address, timeout=5) as answer:
                    assert answer.status == 200
                    return
            except OSError:
                assert app.poll() is None, app.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.2)
    finally:
        app.kill()
        app.communicate()


def test_a_task_that_ends_with_another_code_is_shown_as_failed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, _), *_ = wheel_tasks(
        resources()["jobs"]["publish"]["tasks"], values_of(resources()["jobs"]["publish"])
    )
    words = ["leaderboard", "--suite", "none", "-o", str(site.folder / "nowhere")]
    assert main(words) == 1
    with pytest.raises(SystemExit) as ended:
        call(first, words, monkeypatch)
    assert ended.value.code == 1
