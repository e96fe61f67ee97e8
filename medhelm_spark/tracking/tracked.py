"""Which MLflow runs have the numbers of a suite or release."""

from medhelm_spark.board.sources import BoardSource
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import newest
from medhelm_spark.tracking.tables import MlflowRun

CURRENT_MLFLOW_RUNS = newest(
    "mlflow_runs", ("kind", "name", "model_deployment", "run_spec_id"), "tracked_at DESC"
)


def tracked_of(reader: Reader, source: BoardSource) -> list[MlflowRun]:
    """The MLflow runs of its models and of their runs, by name; none where nothing was tracked."""
    rows = reader.rows(CURRENT_MLFLOW_RUNS, MlflowRun)
    mine = [row for row in rows if (row.kind, row.name) == (source.kind.value, source.name)]
    return sorted(mine, key=lambda row: (row.model_deployment, row.run_spec_id))
