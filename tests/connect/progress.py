"""Prints what is drawn on a terminal while a job of slow tasks runs over Spark Connect."""

import io
import time
from collections.abc import Iterable, Iterator
from typing import Any

from medhelm_spark.lake.progress import metered, on_terminal, unwatched
from medhelm_spark.lake.session import open_session

SECONDS = 1.5


def slow(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows, after a while."""
    time.sleep(SECONDS)
    yield from batches


if __name__ == "__main__":
    spark, terminal = open_session({}), io.StringIO()
    with metered(spark, on_terminal(terminal), "infer", 8) as watch:
        assert watch is unwatched
        spark.range(8).repartition(6).mapInArrow(slow, "id bigint").collect()
    print(terminal.getvalue().replace("\r", "\n"))  # noqa: T201
