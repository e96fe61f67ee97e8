"""A master and two workers that share no folder with the driver but the lake; fake GPUs."""

import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.conftest import Cluster, own_lines
from tests.cluster.standalone import Standalone
from tests.installed import ROOT
from tests.spark.conftest import Site, questions
from tests.spark.test_cli_flags import JURY, RUBRIC

TABLES = ("instances", "stats", "annotations", "quarantine")
WRITE_COLUMNS = ("write_id", "created_at", "completed_at")
CARD: dict[str, Any] = {
    "description": "Calls to an advice line.",
    "access_level": "public",
    "shape": "multiple_choice",
    "fields": {
        "id": "case",
        "question": "question",
        "option.A": "wait",
        "option.B": "come",
        "answer": "answer",
    },
    "options": {"answer_form": "letter"},
    "adapter_spec": {"method": "multiple_choice_joint", "max_tokens": 1},
    "answer_extraction": "choice",
    "metrics": [{"name": "exact_match"}],
    "main_metric": "exact_match",
    "category": "Clinical Decision Support",
    "subcategory": "Supporting Diagnostic Decisions",
}
BOTH_FIRST = {
    "spark.cores.max": "4",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
}
"""A job waits for both executors, as docs/clusters describes: slots count registered executors."""

GPU_ENGINE = '''"""An engine that answers with the address of the GPU that Spark gave its task."""

from medhelm_spark.engines.engine import Destinations, EngineFactory
from medhelm_spark.engines.outcome import answered, completion
from medhelm_spark.engines.slots import assigned_gpus


class Told:
    fingerprint = '{"engine":"told"}'

    def answer(self, requests, gate):
        for request in requests:
            text = ",".join(assigned_gpus()) or "none"
            yield answered(request, [completion(text, "stop")], self.fingerprint)

    def close(self):
        pass


ENGINES = {
    "told": EngineFactory(
        build=lambda deployment, limit: Told(),
        check=lambda deployment: None,
        exclusive=True,
        gpus=lambda deployment: int(deployment.args["gpus"]),
        destinations=Destinations.IN_PROCESS,
    )
}
'''


class Quiet(SimpleHTTPRequestHandler):
    """Logs no request."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A local server's address and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()


def card(site: Site, name: str, **source: Any) -> str:
    """Declare a scenario of the site's own."""
    folder = site.folder / "prod_env" / "scenarios"
    folder.mkdir(exist_ok=True)
    text = yaml.safe_dump({"name": name, "display_name": name, "source": source, **CARD})
    (folder / f"{name}.yaml").write_text(text)
    return name


def calls_csv(first: int) -> str:
    rows = [f"{n},Call {n}?,wait {n} days,come now,A" for n in range(first, first + 8)]
    return "\n".join(["case,question,wait,come,answer", *rows]) + "\n"


def entries(cluster: Cluster, address: str, served: Path) -> list[str]:
    """The demos, a benchmark with a judge, an archive, and a download: all the driver's files."""
    site = cluster.site
    demos = site.folder / "demos"
    shutil.copytree(ROOT / "conf" / "demos", demos)
    site.deploy("acme/m", mode="choice", choices=["emergency", "yes", "no", "A"])
    site.deploy("acme/judge", mode="judge", score=4)
    judged = site.benchmark(
        "bench", questions(12), metrics=["exact_match", JURY], judge_prompt=RUBRIC
    )
    with zipfile.ZipFile(site.folder / "calls.zip", "w") as archive:
        archive.writestr("inner/calls.csv", calls_csv(0))
    (served / "calls.csv").write_text(calls_csv(100))
    archived_file = {
        "path": str(site.folder / "calls.zip"),
        "member": "inner/calls.csv",
        "split": "test",
    }
    address = f"{address}/calls.csv"
    return [
        f"medhelm_configurable_benchmark:config_path={demos}/triage_choice/benchmark.yaml",
        f"medhelm_configurable_benchmark:config_path={demos}/urgent_letter/benchmark.yaml",
        judged,
        card(site, "zipped", format="csv", files=[archived_file]),
        card(
            site,
            "fetched",
            format="csv",
            files=[{"path": "fetched/calls.csv", "url": address, "split": "test"}],
        ),
    ]


def rows_of(cluster: Cluster, table: str) -> list[str]:
    """The rows of a table as text, but for what names the write and its moment."""
    rows = cluster.query(f"SELECT * FROM {{{table}}}")
    selected = [{key: row[key] for key in row if key not in WRITE_COLUMNS} for row in rows]
    selected = [row for row in selected if "runtime" not in str(row.get("name", ""))]
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in selected)


def test_what_only_the_driver_has_gives_the_same_numbers_on_two_workers_as_on_one_machine(
    apart: Cluster, workers: Standalone, served: tuple[str, Path]
) -> None:
    arguments = [flag for entry in entries(apart, *served) for flag in ("-r", entry)]
    arguments += ["--models-to-run", "acme/m"]
    alone = apart.own_lake
    apart.master = "local[2]"
    python_conf = {"spark.pyspark.python": str(apart.packed / "env" / "bin" / "python")}
    apart.output_of(apart.evaluate(*arguments, conf=python_conf))  # one JVM unpacks no archive
    expected = {table: rows_of(apart, table) for table in TABLES}
    assert alone and len(expected["instances"]) > 40 and expected["annotations"]
    apart.own_lake = alone.with_name("shared-lake")
    shutil.rmtree(Path(apart.variables["MEDHELM_SPARK_CACHE"]) / "data")
    workers.start(2)
    apart.master = workers.url
    output = apart.output_of(apart.evaluate(*arguments))
    assert {table: rows_of(apart, table) for table in TABLES} == expected
    executor_rows = apart.query("SELECT DISTINCT executor FROM {request_results}")
    assert len(executor_rows) == 2, own_lines(output)


def test_tasks_ask_for_the_gpus_of_their_engine_and_the_others_for_none(
    apart: Cluster, workers: Standalone
) -> None:
    """Two workers announce two GPUs each; `spark.task.resource.gpu.amount` is not set."""
    site = apart.site
    (site.folder / "gpu_engine.py").write_text(GPU_ENGINE)
    (site.folder / "prod_env" / "settings.yaml").write_text("plugins: [gpu_engine]\n")
    model = site.deploy("acme/gpu", engine="told", gpus=1)
    entry = f"{site.benchmark('bench', questions(40))},model={model}"
    workers.start(2, gpus=2, cores=2)
    apart.master = workers.url
    conf = {
        "spark.executor.resource.gpu.amount": "2",
        **BOTH_FIRST,
        # Spark waits three seconds for the executor that has a task's input; these take less.
        "spark.locality.wait": "0s",
        "spark.submit.pyFiles": str(site.folder / "gpu_engine.py"),
    }
    output = apart.output_of(apart.submit(entry, conf=conf))
    assert "slots: 4 for acme/gpu: 2 executors registered; executors have 2 GPUs each" in output, (
        own_lines(output)
    )
    gpu_rows = apart.query(
        "SELECT executor, completions[1]['text'] AS gpu, count(*) AS n FROM {request_results} "
        "GROUP BY executor, completions[1]['text']"
    )
    assert {row["gpu"] for row in gpu_rows} == {"0", "1"}, "a task has one, never none"
    assert len({(row["executor"], row["gpu"]) for row in gpu_rows}) == 4


def test_a_large_file_has_to_be_on_every_machine(
    apart: Cluster, workers: Standalone, drivers: Path
) -> None:
    site = apart.site
    model = site.deploy("acme/m", text="yes")
    rows = [{"id": str(n), "question": "x" * 9_000, "correct_answer": "yes"} for n in range(8_000)]
    entry = f"{site.benchmark('bench', rows)},model={model}"
    workers.start(1)
    apart.master = workers.url
    process = apart.submit(entry)
    output, _ = process.communicate(timeout=500)
    assert process.returncode == 1, own_lines(output)
    assert f"has no {drivers}/bench/data.csv; put it at this path on every machine" in output
