"""Which MLflow runs have the numbers of a suite or release."""

from medhelm_spark.board.sources import BoardSource, Kind
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import newest
from medhelm_spark.tracking.tables import MlflowRun


def current_mlflow_runs(kind: Kind, name: str) -> str:
    """SQL of the newest row on each of the MLflow runs of a suite or release.

    If the name needs escaping, also rows of other names.
    """
    by = ("kind", "name", "model_deployment", "run_spec_id")
    where = f"{among('kind', [kind.value])} AND {among('name', [name])}"
    return newest("mlflow_runs", by, "tracked_at DESC", where)


def tracked_of(reader: Reader, source: BoardSource) -> list[MlflowRun]:
    """The MLflow runs of its models and of their runs, by name; empty if nothing was tracked."""
    rows = reader.rows(current_mlflow_runs(source.kind, source.name), MlflowRun)
    own = [row for row in rows if (row.kind, row.name) == (source.kind.value, source.name)]
    return sorted(own, key=lambda row: (row.model_deployment, row.run_spec_id))
