"""Current views: what counts among append-only rows, defined once in SQL.

The text runs unchanged in Spark SQL and in DataFusion (the dashboard's reader), so both see the
same rows. `{name}` stands for a table.
"""

from medhelm_spark.domain.stages import Stage

CURRENT_RUNS = """
SELECT stage, unit_id, write_id, fingerprint, suite, started_at, finished_at, counts,
       code_version, spark_version, schema_version, comparability, run_by
FROM (SELECT *, row_number() OVER (
        PARTITION BY stage, unit_id ORDER BY finished_at DESC, write_id DESC) AS age
      FROM {runs})
WHERE age = 1
"""

# Per (suite, run name) the newest plan is current; the others are superseded.
CURRENT_RUN_SPECS = """
SELECT suite, name, run_spec_id, planned_at, locality, engine, is_jury_validated, run_spec,
       is_primary, margin, is_listed, part_of, is_disjoint, is_reading_default,
       as_imported, declared, prompt_attested, is_jury_demo
FROM (SELECT *, row_number() OVER (
        PARTITION BY suite, name ORDER BY planned_at DESC, write_id DESC) AS age
      FROM {run_specs})
WHERE age = 1
"""

# A scenario that was imported again is the newest import.
CURRENT_IMPORTS = """
SELECT scenario_name, name, args, data_version, access_level, card, header, package,
       package_version, imported_at
FROM (SELECT *, row_number() OVER (
        PARTITION BY scenario_name ORDER BY imported_at DESC, write_id DESC) AS age
      FROM {imported_scenarios})
WHERE age = 1
"""

CURRENT_MLFLOW_RUNS = """
SELECT kind, name, model_deployment, run_spec_id, mlflow_run_id, address, served_by, tracked_at
FROM (SELECT *, row_number() OVER (
        PARTITION BY kind, name, model_deployment, run_spec_id
        ORDER BY tracked_at DESC, write_id DESC) AS age
      FROM {mlflow_runs})
WHERE age = 1
"""

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


CURRENT_RELEASES = """
SELECT m.* FROM {releases} m
JOIN (SELECT release, max(created_at) AS created_at FROM {releases} GROUP BY release) n
  ON n.release = m.release AND n.created_at = m.created_at
"""
