"""Current views: what counts among append-only rows, defined once in SQL.

The text runs unchanged in Spark SQL and in DataFusion (the dashboard's reader), so both see the
same rows. `{name}` stands for a table.
"""

from collections.abc import Iterable
from dataclasses import fields

from medhelm_spark.domain.stages import Stage
from medhelm_spark.lake.tables import TABLES


def newest(table: str, by: Iterable[str], order: str) -> str:
    """SQL of the row of each key that comes first in an order: its row type's columns."""
    names = [field.name for field in fields(TABLES[table].row)]
    return f"""
SELECT {", ".join(names)}
FROM (SELECT *, row_number() OVER (
        PARTITION BY {", ".join(by)} ORDER BY {order}, write_id DESC) AS age
      FROM {{{table}}})
WHERE age = 1
"""


CURRENT_RUNS = newest("runs", ("stage", "unit_id"), "finished_at DESC")

CURRENT_RUN_SPECS = newest("run_specs", ("suite", "name"), "planned_at DESC")
"""Per (suite, run name) the newest plan is current; the others are superseded."""

# An answer beats a failure; the earliest answer stands, and of failures the latest: a request that
# failed in an outage may since have been found too long.
CURRENT_RESULTS = """
SELECT * FROM (SELECT *, row_number() OVER (
        PARTITION BY request_id
        ORDER BY CASE WHEN failure IS NULL THEN 0 ELSE 1 END,
                 CASE WHEN failure IS NULL THEN completed_at END,
                 completed_at DESC, write_id) AS age
      FROM {request_results})
WHERE age = 1
"""


def output_of(table: str, stage: Stage, unit: str = "run_spec_id") -> str:
    """SQL of a stage's output: the rows of the write that `runs` marks finished for each unit."""
    return f"""
SELECT t.* FROM {{{table}}} t
JOIN ({CURRENT_RUNS}) r
  ON r.stage = '{stage.name}' AND r.unit_id = t.{unit} AND r.write_id = t.write_id
"""
