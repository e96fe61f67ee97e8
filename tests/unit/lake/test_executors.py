"""Every executor is asked, again where one did not answer; no JVM is started."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.cluster import Cluster
from medhelm_spark.lake import executors
from medhelm_spark.lake.executors import PAUSE, ROUNDS, Look, Visit, each_executor


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    name: str


def ask_executors(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, answers: list[str]
) -> tuple[list[str], list[float], int]:
    """The names that were found, the pauses of the rounds, and the tasks of each."""
    tasks: list[int] = []

    def visits(start: int, end: int, step: int, partitions: int) -> Any:
        assert (start, step, partitions) == (0, 1, end), "one visit a task"
        tasks.append(end)
        return SimpleNamespace(withColumnRenamed=lambda *_: None)

    pauses: list[float] = []

    def looked(_: object, look: Look, *__: type) -> str:
        pauses.append(look.pause)
        return answers[len(pauses) - 1]

    monkeypatch.setattr(executors, "map_rows", looked)
    monkeypatch.setattr(executors, "rows_of", lambda names, _: [Found(name=n) for n in names])
    spark = cast(SparkSession, SimpleNamespace(range=visits))
    found = each_executor(spark, cluster, lambda: Found(name="a"), Found)
    return [each.name for each in found], pauses, tasks[0]


TWO = Cluster(master="spark://head:7077", executors=2, parallelism=8)


def test_executors_that_answer_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask_executors(monkeypatch, TWO, ["bab"]) == (["a", "b"], [PAUSE], 16)


def test_one_that_did_not_answer_is_asked_again_with_longer_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names, pauses, _ = ask_executors(monkeypatch, TWO, ["aa", "ab"])
    assert (names, pauses) == (["a", "b"], [PAUSE, 2 * PAUSE])


def test_the_others_stand_for_one_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    names, pauses, _ = ask_executors(monkeypatch, TWO, ["a"] * ROUNDS)
    assert (names, len(pauses)) == (["a"], ROUNDS)


def test_a_session_that_tells_nothing_of_its_executors_is_asked_by_several_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster_of_unknown_size = Cluster(conf={"spark.executor.cores": "1"})
    assert ask_executors(monkeypatch, cluster_of_unknown_size, ["ab"]) == (["a", "b"], [PAUSE], 8)


def test_each_visit_finds_something() -> None:
    look = Look(look=lambda: Found(name="a"), pause=0.0)
    assert list(look([Visit(number=0), Visit(number=1)])) == [Found(name="a")] * 2
