"""Current views: what counts among append-only rows, defined once in SQL.

The text runs unchanged in Spark SQL and in DataFusion (the dashboard's reader), so both see the
same rows. `{name}` is a table.
"""

from collections.abc import Iterable
from dataclasses import fields

from medhelm_spark.domain.stages import Stage
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.tables import TABLES


def newest(table: str, by: Iterable[str], order: str, where: str = "") -> str:
    """SQL of the row of each key that comes first in an order: its row type's columns.

    `where` narrows what is read, by columns of the key.
    """
    names = [field.name for field in fields(TABLES[table].row)]
    read = f"WHERE {where}" if where else ""
    return f"""
SELECT {", ".join(names)}
FROM (SELECT *, row_number() OVER (
        PARTITION BY {", ".join(by)} ORDER BY {order}, write_id DESC) AS age
      FROM {{{table}}} {read})
WHERE age = 1
"""


def current_runs(where: str = "") -> str:
    """SQL of the current record of each unit of each stage; `where` narrows by stage and unit."""
    return newest("runs", ("stage", "unit_id"), "finished_at DESC", where)


def current_run_specs(suites: Iterable[str] | None = None) -> str:
    """SQL of the current plans, of some suites or of all.

    A suite's name that would need escaping narrows nothing: who reads the rows leaves others out.
    """
    where = "" if suites is None else among("suite", suites)
    return newest("run_specs", ("suite", "name"), "planned_at DESC", where)


CURRENT_RUNS = current_runs()

CURRENT_RUN_SPECS = current_run_specs()
"""Per (suite, run name) the newest plan is current; the others are superseded."""

# An answer beats a failure; the earliest answer counts, and of failures the latest: a request that
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


def current_results(requests: str) -> str:
    """SQL of the current results of these requests: `requests` is SQL with their `request_id`.

    Other requests of the lake are left out before results are sorted by their age.
    """
    return current_results_where(f"request_id IN (SELECT request_id FROM ({requests}) a)")


def current_results_where(where: str) -> str:
    """SQL of the current results among the rows with a condition; it is of requests as a whole."""
    own = f"(SELECT * FROM {{request_results}} WHERE {where})"
    return CURRENT_RESULTS.replace("{request_results}", own)


def output_of(
    table: str, stage: Stage, unit: str = "run_spec_id", units: Iterable[str] | None = None
) -> str:
    """SQL of a stage's output: the rows of the write that `runs` marks finished for each unit.

    With `units` of these alone, or of more where the name of one would need escaping.
    """
    names = None if units is None else list(units)
    records = current_runs("" if names is None else among("unit_id", names))
    return f"""
SELECT t.* FROM {{{table}}} t
JOIN ({records}) r
  ON r.stage = '{stage.name}' AND r.unit_id = t.{unit} AND r.write_id = t.write_id
{"" if names is None else f"WHERE {among(f't.{unit}', names)}"}
"""
