"""A thousand units that were each written by a write of their own, and what is current of them.

`python -m tests.spark.many_writes LAKE` prints how many rows are, in a session of `SPARK_REMOTE`.
"""

import sys
from datetime import UTC, datetime

from pyspark.sql import functions as F

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.scenario import Pin
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.lake import Lake
from medhelm_spark.stages.context import Context

UNITS = 1_000
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def current_of_many(lake: Lake) -> int:
    """Two rows of each unit are written, of which a record makes one current; how many are."""
    pins = [
        Pin(address=f"a{n}", pin=str(n), scenario_name=f"u{n % UNITS}", pinned_at=LONG_AGO)
        for n in range(2 * UNITS)
    ]
    written = F.concat(F.lit("w"), F.col("pin"))
    lake.append("pins", lake.frame(pins, Pin).withColumn("write_id", written), "w")
    context = Context(lake=lake, suite="s")
    context.ledger.note(_record(n) for n in range(UNITS))
    units = [f"u{n}" for n in range(UNITS)]
    return context.current("pins", INGEST, units, "scenario_name").count()


def _record(number: int) -> RunRecord:
    return RunRecord(
        stage="ingest",
        unit_id=f"u{number}",
        write_id=f"w{number}",
        fingerprint="",
        suite="s",
        started_at=LONG_AGO,
        finished_at=LONG_AGO,
        counts={},
        code_version="",
        spark_version="",
    )


if __name__ == "__main__":
    from medhelm_spark.lake.session import open_session

    print(current_of_many(Lake(open_session({}), sys.argv[1])))  # noqa: T201
