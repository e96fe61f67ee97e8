"""An engine that starts while the data of a small run is read: when, once, and never for nothing.

The commands are run by this process, without a JVM.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from medhelm_spark import Evaluation, plugins
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.engines.engine_pool import close_engines
from medhelm_spark.errors import EngineError, MedhelmSparkError

ENGINE = """
from dataclasses import replace
from medhelm_spark.engines import canned
from medhelm_spark.errors import EngineError

EVENTS = []


class Filling(canned.CannedEngine):
    def close(self):
        EVENTS.append("end")


def build(deployment, max_in_flight):
    EVENTS.append("start")
    settings = canned.read_settings(canned.CannedSettings, deployment)
    if settings.text == "broken":
        raise EngineError("the weights are broken.")
    return Filling(settings)


ENGINES = {"fills": replace(canned.ENGINE, build=build, exclusive=True)}
"""

_NUMBERS = count()


class Here:
    """A lake, benchmarks, and what the engine of a plug-in and the command did."""

    def __init__(self, folder: Path, module: ModuleType) -> None:
        self._folder = folder
        self._plugin, self.events = module.__name__, module.EVENTS

    def entry(self, rows: int, access_level: str = "public") -> str:
        benchmark = self._folder / f"bench-{rows}-{access_level}"
        benchmark.mkdir(exist_ok=True)
        lines = [f"q{i},Is {i} a number?,yes" for i in range(rows)]
        (benchmark / "data.csv").write_text("\n".join(["id,question,correct_answer", *lines]))
        (benchmark / "prompt.txt").write_text("{question}")
        config = {
            "name": benchmark.name,
            "description": "Made for a test.",
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "access_level": access_level,
            "metrics": [{"name": "exact_match"}],
            "answer_extraction": "strict",
        }
        (benchmark / "benchmark.yaml").write_text(yaml.safe_dump(config))
        return f"medhelm_configurable_benchmark:config_path={benchmark / 'benchmark.yaml'}"

    def run(
        self,
        entry: str,
        *,
        suite: str = "s",
        texts: tuple[str, ...] = ("yes",),
        locality: Locality = Locality.LOCAL,
        say: Callable[[str], None] = lambda line: None,
    ) -> Any:
        deployments = [
            Deployment(
                name=f"acme/{text}",
                model=f"acme/{text}",
                engine="fills",
                locality=locality,
                args={"text": text},
            )
            for text in texts
        ]
        here = Evaluation(
            self._folder / "lake",
            tracking=False,
            plugins=self._plugin,
            deployments=deployments,
            say=say,
        )
        return here.run([f"{entry},model={each.name}" for each in deployments], suite=suite)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    name = f"early_plugin_{next(_NUMBERS)}"  # a module that was loaded keeps its events
    (tmp_path / f"{name}.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS", raising=False)
    close_engines()
    plugins.activate((name,))
    yield Here(tmp_path, sys.modules[name])
    close_engines()
    plugins.activate()


def test_it_starts_before_the_data_is_read_and_once(here: Here) -> None:
    started: list[bool] = []

    def say(line: str) -> None:
        if line.startswith("ingest:"):  # delays the run until the engine starts
            waited = threading.Event()
            started.append(any(here.events or waited.wait(0.05) for _ in range(400)))

    board = here.run(here.entry(3), say=say).board
    assert started == [True]
    assert here.events == ["start"]
    (cell,) = (cell for row in board.leaderboard.rows for cell in row.cells if cell)
    assert (cell.count, cell.mean) == (3, 1.0)


def test_a_repeated_command_starts_none(here: Here) -> None:
    entry = here.entry(3)
    here.run(entry)
    close_engines()
    here.events.clear()
    here.run(entry)
    assert here.events == []


def test_one_that_nobody_asks_is_ended(here: Here) -> None:
    """Another suite has the same run, whose answers are there: the plan alone shows it."""
    entry = here.entry(3)
    here.run(entry)
    close_engines()
    here.events.clear()
    here.run(entry, suite="other")
    assert here.events == ["start", "end"]


def test_two_models_start_as_they_are_asked(here: Here) -> None:
    here.run(here.entry(3), texts=("yes", "no"))
    assert here.events == ["start", "end", "start"]


def test_a_start_that_fails_is_reported_once_as_the_engines_error(here: Here) -> None:
    lines: list[str] = []
    with pytest.raises(EngineError, match=r"^the weights are broken\.$"):
        here.run(here.entry(3), texts=("broken",), say=lines.append)
    assert not [line for line in lines if "broken." in line]


def test_what_the_policy_forbids_starts_none(here: Here) -> None:
    with pytest.raises(MedhelmSparkError):
        here.run(here.entry(3, "private"), locality=Locality.EXTERNAL)
    assert here.events == []


def test_a_command_that_is_interrupted_meanwhile_ends_it(here: Here) -> None:
    def say(line: str) -> None:
        if line.startswith("ingest:"):
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, MedhelmSparkError)):
        here.run(here.entry(3), say=say)
    assert here.events == ["start", "end"]
