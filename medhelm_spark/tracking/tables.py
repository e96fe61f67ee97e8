"""The table of MLflow runs that have the numbers of a suite or release."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.lake.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class MlflowRun:
    """Row of `mlflow_runs`: an MLflow run with the numbers of one model, or of one of its runs.

    `kind` is suite or release, `name` its name; `run_spec_id` is empty for the model's row of the
    board. `address` is the run's page in MLflow, empty where only the platform has it, without a
    login; `served_by` is the command that serves that page, empty for a server that always runs.
    """

    kind: str
    name: str
    model_deployment: str
    run_spec_id: str
    mlflow_run_id: str
    address: str
    served_by: str
    tracked_at: datetime


TABLES = (
    Table(
        name="mlflow_runs",
        row=MlflowRun,
        key=("kind", "name", "model_deployment", "run_spec_id", "tracked_at"),
        indexed=("kind", "name"),
        description="Which MLflow run has the numbers of a model, and of each of its runs; the "
        "newest is current.",
    ),
)
