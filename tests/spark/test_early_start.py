"""An engine on GPUs that starts in Spark's workers while the data is read and planned."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark import Evaluation, plugins
from medhelm_spark.engines.slots import VISIBLE
from medhelm_spark.errors import EngineError, MedhelmSparkError
from tests.spark.conftest import Site, give_plugin, questions

ENGINE = """
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from medhelm_spark.engines import canned
from medhelm_spark.engines.engine import Destinations, in_this_job
from medhelm_spark.errors import EngineError


def note(deployment, what):
    with open(deployment.args["events"], "a") as file:
        file.write(f"{what} {os.getpid()} {os.environ['CUDA_VISIBLE_DEVICES']}\\n")


class Noting(canned.CannedEngine):
    def answer(self, requests, gate):
        note(self.deployment, "answer")
        return super().answer(requests, gate)


def build(deployment, max_in_flight):
    note(deployment, "start")
    time.sleep(deployment.args["seconds"])
    if deployment.args["text"] == "broken":
        raise EngineError("the weights are broken.")
    known = {name: deployment.args[name] for name in ("text",)}
    engine = Noting(canned.read_settings(canned.CannedSettings, replace(deployment, args=known)))
    engine.deployment = deployment
    return engine


ENGINES = {
    "on_gpu": replace(
        canned.ENGINE,
        build=build,
        check=lambda deployment: None,
        check_arguments=lambda deployment: None,
        exclusive=True,
        gpus=lambda deployment: 1,
    )
}
"""


class OnGpu:
    """A site whose workers have one GPU, and what the engine on it did."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self._events = site, folder / "events"

    @property
    def events(self) -> list[str]:
        """The engine's events in order, each with the worker's process and its GPU."""
        return self._events.read_text().splitlines() if self._events.exists() else []

    def run(
        self, *, text: str = "yes", seconds: float = 0.0, say: Callable[[str], None] = print
    ) -> None:
        args = {"text": text, "events": str(self._events), "seconds": seconds}
        self.site.deploy("acme/gpu", engine="on_gpu", **args)
        entry = self.site.benchmark("bench", questions(6), metrics=["exact_match"])
        evaluation = Evaluation(
            self.site.lake_path, site=self.site.folder / "prod_env", tracking=False, say=say
        )
        evaluation.run(f"{entry},model=acme/gpu", suite="s")


@pytest.fixture(scope="module")
def plugin(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the plug-in, which executors have too."""
    return give_plugin(spark, tmp_path_factory.mktemp("plugin"), "gpu_plugin", ENGINE)


@pytest.fixture
def on_gpu(
    plugin: Path, site: Site, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OnGpu]:
    monkeypatch.syspath_prepend(str(plugin))
    monkeypatch.setenv(VISIBLE, "0")
    monkeypatch.setitem(spark.sparkContext.environment, VISIBLE, "0")
    settings = site.folder / "prod_env" / "settings.yaml"
    settings.write_text(yaml.safe_dump({"plugins": ["gpu_plugin"]}))
    yield OnGpu(site, tmp_path)
    plugins.activate()


def test_it_starts_before_the_data_is_read_and_answers_from_the_same_worker(on_gpu: OnGpu) -> None:
    started: list[bool] = []

    def say(line: str) -> None:
        if line.startswith("ingest:"):  # delays the run until the engine starts
            until = time.monotonic() + 30
            while not on_gpu.events and time.monotonic() < until:
                time.sleep(0.05)
            started.append(bool(on_gpu.events))

    on_gpu.run(seconds=1.0, say=say)
    assert started == [True]
    first, *answers = on_gpu.events
    kind, process, gpu = first.split()
    assert (kind, gpu) == ("start", "0")
    assert set(answers) == {f"answer {process} 0"}
    (cell,) = on_gpu.site.board()
    assert (cell["count"], cell["mean"]) == (6, 1.0)


def test_a_start_that_takes_longer_than_the_plan_is_waited_for(on_gpu: OnGpu) -> None:
    on_gpu.run(seconds=6.0)
    assert [event.split()[0] for event in on_gpu.events][:1] == ["start"]
    assert sum(event.startswith("start") for event in on_gpu.events) == 1


def test_a_start_that_fails_is_tried_again_and_reported_once(on_gpu: OnGpu) -> None:
    with pytest.raises(EngineError, match="the weights are broken"):
        on_gpu.run(text="broken")
    assert len(on_gpu.events) > 1


def test_a_command_that_ends_meanwhile_cancels_the_start(on_gpu: OnGpu) -> None:
    def say(line: str) -> None:
        if line.startswith("ingest:"):
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises((KeyboardInterrupt, MedhelmSparkError)):
        on_gpu.run(seconds=600.0, say=say)
    tracker = on_gpu.site.spark.sparkContext.statusTracker()
    assert not tracker.getActiveJobsIds()
    assert time.monotonic() - begun < 600


def test_a_repeated_command_starts_none(on_gpu: OnGpu) -> None:
    on_gpu.run()
    starts = sum(event.startswith("start") for event in on_gpu.events)
    on_gpu.run()
    assert sum(event.startswith("start") for event in on_gpu.events) == starts == 1
