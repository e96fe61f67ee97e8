"""Removes the runs of a scenario in MLflow, with their params and artefacts.

The next time that numbers are logged, they get new runs.
"""

from medhelm_spark.domain.names import without_login
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.purge import PurgeScope, Swept
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.literals import literals
from medhelm_spark.tracking.store import remove_runs
from medhelm_spark.tracking.track import uri_of
from medhelm_spark.workspace.workspace import Workspace

_TRACKED = "SELECT DISTINCT mlflow_run_id FROM {{mlflow_runs}} WHERE run_spec_id IN ({runs})"


def purge(workspace: Workspace, scope: PurgeScope, *, dry_run: bool) -> Swept:
    """Remove the MLflow runs that have the numbers of the scenario's runs."""
    found = workspace.reader.query(_TRACKED.format(runs=literals(scope.run_spec_ids)))
    runs = sorted(found["mlflow_run_id"].to_pylist())
    if dry_run or not runs:
        return Swept(removed={"runs in MLflow": len(runs)})
    uri = uri_of(workspace, None)
    server = without_login(uri) if uri else "its default tracking server"
    try:
        remaining = remove_runs(uri, runs)
    except SetupError as error:
        number = counted(len(runs), "run")
        return Swept(removed={}, unreached=(f"{number} in MLflow at {server}: {error}",))
    unreached = (
        f"{counted(len(remaining), 'run')} in MLflow at {server}, marked as deleted: "
        "`mlflow gc` removes them there",
    )
    return Swept(removed={"runs in MLflow": len(runs)}, unreached=unreached if remaining else ())
