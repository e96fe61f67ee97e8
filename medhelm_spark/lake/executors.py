"""What each executor finds where it runs: a task is the only thing that can look there.

An executor is found once one of its tasks answered; those that have not after a few rounds are
left out.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pyspark.sql import SparkSession

from medhelm_spark.domain.cluster import UNREPORTED_CORES, Cluster, cores_of, executors_of
from medhelm_spark.lake.rows import map_rows, rows_of

ROUNDS = 4
PAUSE = 0.2
"""Seconds that a task stays, so that the next one goes to another executor."""
MOST_TASKS = 2_000


class _Named(Protocol):
    """What was found, with the name of the executor that found it."""

    @property
    def name(self) -> str: ...


Found = TypeVar("Found", bound=_Named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A task that looks around."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Maps visits to findings."""

    look: Callable[[], Any]
    pause: float

    def __call__(self, visits: Iterable[Visit]) -> Iterator[Any]:
        for _ in visits:
            time.sleep(self.pause)
            yield self.look()


def each_executor(
    spark: SparkSession, cluster: Cluster, look: Callable[[], Found], found_type: type[Found]
) -> list[Found]:
    """What `look` finds in every executor that answers, each once, in the order of their names."""
    expected = cluster.executors or executors_of(cluster)[0]
    assumed = UNREPORTED_CORES if cluster.executors is None else 0
    tasks = min(MOST_TASKS, 2 * max(cores_of(cluster), expected, assumed))
    visits = spark.range(0, tasks, 1, tasks).withColumnRenamed("id", "number")
    found: dict[str, Found] = {}
    for attempt in range(1, ROUNDS + 1):
        looks = map_rows(visits, Look(look=look, pause=PAUSE * attempt), Visit, found_type)
        found |= {each.name: each for each in rows_of(looks, found_type)}
        if len(found) >= expected:
            break
    return [found[name] for name in sorted(found)]
