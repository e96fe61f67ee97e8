"""Which MLflow runs have the numbers of a suite or release."""

from medhelm_spark.domain.mlflow_run import MlflowRun
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_MLFLOW_RUNS
from medhelm_spark.leaderboard.sources import BoardSource


def tracked_of(reader: Reader, source: BoardSource) -> list[MlflowRun]:
    """The MLflow runs of its models and of their runs, by name; none where nothing was tracked."""
    rows = reader.rows(CURRENT_MLFLOW_RUNS, MlflowRun)
    mine = [row for row in rows if (row.kind, row.name) == (source.kind.value, source.name)]
    return sorted(mine, key=lambda row: (row.model_deployment, row.run_spec_id))
