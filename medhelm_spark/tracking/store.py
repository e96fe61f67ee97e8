"""The runs of one MLflow experiment: found by key, created once, then only changes are logged."""

import logging
import os
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan, nan
from time import time
from typing import TYPE_CHECKING, Any

from medhelm_spark.domain.ids import canonical_json, content_id
from medhelm_spark.domain.names import without_login
from medhelm_spark.errors import SetupError
from medhelm_spark.statistics.ranking import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE
from medhelm_spark.tracking.database import ensure_database, rewrite_database
from medhelm_spark.tracking.records import SCORES, allowed_name

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, Run

TAG = "medhelm_spark."
PAGE = f"{TAG}page"
LOGGED_AT = f"{TAG}logged_at"
"""When a run's numbers were logged last, in milliseconds."""
PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"
"""The description of a run on its page, as Markdown."""
MAX_RUN_NAME = 250
EXPERIMENT_KIND = ("mlflow.experimentKind", "custom_model_development")
"""MLflow's tag for an experiment whose runs are compared; without it, the experiment's page shows
traces of an application, which we do not log."""
FEW_TRIES = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
"""MLflow's settings for a check whether a server answers; the timeout is in seconds."""
RUNS = "/#/experiments/{}/runs?workflowType=machine_learning&compareRunsMode=CHART"
"""The page of an experiment's runs with their charts. MLflow 3.17 takes the kind from the address,
else from the page that the browser opened last."""
RUN = "/#/experiments/{}/runs/{}"
"""The page of one run."""
LOCAL_SERVER = "http://127.0.0.1:5000"
"""Where `server_command` serves."""
# MLflow's telemetry is off, and it does not print the URL of every run.
QUIET = ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT")
QUIET_SERVER = (
    "MLFLOW_DISABLE_TELEMETRY=true",
    "DO_NOT_TRACK=true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false",
)
# MLflow takes 1,000 metrics, 100 params, 100 tags and 1,000 of all together in a batch.
MAX_METRICS, MAX_PARAMS, MAX_TAGS = 800, 100, 100


RATES = (MEAN_WIN_RATE, allowed_name(MEDHELM_MEAN_WIN_RATE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The content that one MLflow run should have; `tags` are without our prefix.

    `delta_versions` gives per table its location and version. `page` is the dashboard's page of the
    same numbers: a tag, and the run's description, which does not replace a person's text.
    """

    name: str
    tags: Mapping[str, str]
    metrics: Mapping[str, float] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    delta_versions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    parent: str | None = None
    page: str = ""

    def all_tags(self) -> dict[str, str]:
        """The tags under their names in MLflow."""
        tags = {f"{TAG}{allowed_name(name)}": value for name, value in self.tags.items()}
        tags |= {PARENT: self.parent} if self.parent else {}
        return tags | ({PAGE: self.page} if self.page else {})


def changed_metrics(current: Mapping[str, float], logged: Mapping[str, float]) -> dict[str, float]:
    """The points to add: a metric is a history, so an equal value is no new point.

    A value that no longer exists (of a scenario whose `n` was logged by us) becomes NaN, because
    MLflow cannot take a metric back.

    >>> changed_metrics({"a/n": 3.0, "a/f1": 0.5}, {"a/n": 3.0, "a/f1": 0.25, "loss": 1.0})
    {'a/f1': 0.5}
    >>> changed_metrics({}, {"a/n": 3.0, "loss": 1.0})
    {'a/n': nan}
    """
    ours = {
        key
        for key in logged
        if key.startswith(f"{SCORES}/") or f"{key.rpartition('/')[0]}/n" in logged or key in RATES
    }
    gone = {key: nan for key in ours - current.keys() if not isnan(logged[key])}
    return {key: value for key, value in current.items() if logged.get(key) != value} | gone


def _changed(current: Mapping[str, str], logged: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in current.items() if logged.get(key) != value}


def note_of(page: str) -> str:
    """The run's description in MLflow, as Markdown; empty without a page.

    >>> note_of("https://boards.example.org/?suite=s1")
    'The same numbers, and the answers behind them: [dashboard](<https://boards.example.org/?suite=s1>)'
    """
    if not page:
        return ""
    is_address = page.startswith(("http://", "https://"))
    link = f"[dashboard](<{page}>)" if is_address else f"`{page}`"
    return f"The same numbers, and the answers behind them: {link}"


def _note(page: str, logged: Mapping[str, str]) -> dict[str, str]:
    """The description, if it has to be written; it does not replace a person's text."""
    note, existing = note_of(page), logged.get(NOTE, "")
    is_ours = existing in ("", note_of(logged.get(PAGE, "")))
    return {NOTE: note} if note and note != existing and is_ours else {}


def _datasets(versions: Mapping[str, tuple[str, int]]) -> "Iterator[Dataset]":
    """Delta tables as MLflow's `delta_table` source, built here because its class needs a JVM.

    The digest covers the location, because an experiment keeps one data set per name and digest.
    """
    from mlflow.entities import Dataset

    for table, (location, version) in sorted(versions.items()):
        kind = "path" if "/" in location else "delta_table_name"
        yield Dataset(
            name=f"{table}@v{version}",
            digest=content_id(location, version)[:8],
            source_type="delta_table",
            source=canonical_json({kind: location, "delta_table_version": version}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The experiment that one client writes to."""

    client: "MlflowClient"
    experiment_id: str

    def find(self, key: str) -> "list[Run]":
        """The active runs tagged with a key, oldest first, so that two drivers agree on one."""
        runs: list[Run] = []
        token = None
        while True:
            page = self.client.search_runs(
                [self.experiment_id],
                f"tags.`{TAG}key` = '{key}'",
                order_by=["attributes.start_time ASC"],
                page_token=token,
            )
            runs.extend(page)
            token = page.token
            if not token:
                return runs

    def put(self, existing: "Run | None", target: Target) -> str:
        """Create the run or bring it up to date; writes nothing where nothing changed."""
        run = existing or self.client.create_run(
            self.experiment_id, tags=target.all_tags(), run_name=target.name[:MAX_RUN_NAME]
        )
        run_id: str = run.info.run_id
        tags = _changed(target.all_tags(), run.data.tags) | _note(target.page, run.data.tags)
        metrics = changed_metrics(target.metrics, run.data.metrics)
        at, step = _moment(run.data.tags)
        if metrics:
            tags[f"{TAG}revision"] = str(int(run.data.tags.get(f"{TAG}revision", -1)) + 1)
            tags[LOGGED_AT] = str(at) if step == 0 else ""
            # Before the numbers: an interrupted call must not leave numbers without their tables.
            self._add_inputs(run, target.delta_versions)
        self._log(run_id, metrics, _changed(target.params, run.data.params), tags, at, step)
        if run.info.status != "FINISHED":
            self.client.set_terminated(run_id)
        return run_id

    def tag(self, run: "Run", name: str, value: str) -> None:
        """Set one of our tags where it differs."""
        if run.data.tags.get(f"{TAG}{name}") != value:
            self.client.set_tag(run.info.run_id, f"{TAG}{name}", value)

    def _add_inputs(self, run: "Run", versions: Mapping[str, tuple[str, int]]) -> None:
        from mlflow.entities import DatasetInput, InputTag

        known = run.inputs.dataset_inputs if run.inputs else []
        logged = {(item.dataset.name, item.dataset.digest) for item in known}
        context = [InputTag("mlflow.data.context", "evaluation")]
        new = [d for d in _datasets(versions) if (d.name, d.digest) not in logged]
        if new:
            self.client.log_inputs(run.info.run_id, [DatasetInput(d, context) for d in new])

    def _log(
        self,
        run_id: str,
        metrics: Mapping[str, float],
        params: Mapping[str, str],
        tags: Mapping[str, str],
        at: int,
        step: int,
    ) -> None:
        from mlflow.entities import Metric, Param, RunTag

        points = [Metric(key, value, at, step) for key, value in metrics.items()]
        settings = [Param(key, value) for key, value in params.items()]
        marks = [RunTag(key, value) for key, value in tags.items()]
        while points or settings or marks:
            self.client.log_batch(
                run_id, points[:MAX_METRICS], settings[:MAX_PARAMS], marks[:MAX_TAGS]
            )
            points, settings = points[MAX_METRICS:], settings[MAX_PARAMS:]
            marks = marks[MAX_TAGS:]


def _moment(tags: Mapping[str, str]) -> tuple[int, int]:
    """The time in milliseconds and the step at which a run's numbers are logged now.

    The step is 0 each time: MLflow draws such a number as a bar, by which models are compared, and
    a later step as a line. Of equal steps the latest time counts, so the time is later than before
    whatever this machine's clock shows. A run with numbers at later steps goes on with steps.
    """
    now, before = int(time() * 1000), tags.get(LOGGED_AT)
    if before:
        return max(now, int(before) + 1), 0
    revision = int(tags.get(f"{TAG}revision", -1)) + 1
    return now, revision if revision > 1 else 0


def server_command(tracking_uri: str) -> str:
    """The line that shows the runs of a local database: on this machine only, with no look-up.

    Without its variables MLflow reports how it is used, and starts workers for jobs.
    """
    return f"{' '.join(QUIET_SERVER)} mlflow server --host 127.0.0.1 --backend-store-uri " + (
        f"{shlex.quote(without_login(tracking_uri))} --workers 1"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """A run's page: its address, and the command that serves it, empty for a server of its own.

    Both are empty where only the platform has the page.
    """

    address: str = ""
    served_by: str = ""


def run_page(tracking_uri: str, experiment_id: str, run_id: str) -> RunPage:
    """The page of a run, without a login.

    >>> run_page("https://me:secret@mlflow.example.org/", "7", "ab").address
    'https://mlflow.example.org/#/experiments/7/runs/ab'
    """
    page = RUN.format(experiment_id, run_id)
    if tracking_uri.startswith(("http://", "https://")):
        return RunPage(address=_linked(_server(tracking_uri)) + page)
    if tracking_uri.startswith("databricks"):
        host = os.environ.get("DATABRICKS_HOST", "").strip("/")
        base = host if "://" in host else f"https://{host}"
        return RunPage(address=f"{_linked(base)}/ml{page[2:]}") if host else RunPage()
    if "://" in tracking_uri:
        return RunPage(address=LOCAL_SERVER + page, served_by=server_command(tracking_uri))
    return RunPage()


def _linked(address: str) -> str:
    """An address for a link, without a login and its mask."""
    return without_login(address).replace("//***@", "//")


def _server(tracking_uri: str) -> str:
    return without_login(tracking_uri.partition("?")[0].rstrip("/"))


def runs_address(tracking_uri: str | None, experiment_id: str) -> str | None:
    """The address of the page with an experiment's runs; None where only the platform has it.

    For a local database it is the page that `server_command` serves.

    >>> runs_address("https://me:secret@mlflow.example.org/", "7")
    'https://***@mlflow.example.org/#/experiments/7/runs?workflowType=machine_learning&compareRunsMode=CHART'
    """
    if tracking_uri and tracking_uri.startswith(("http://", "https://")):
        return _server(tracking_uri) + RUNS.format(experiment_id)
    if tracking_uri and "://" in tracking_uri:
        return LOCAL_SERVER + RUNS.format(experiment_id)
    return None


def client_class() -> "type[MlflowClient]":
    """MLflow's client, imported with its messages off; the import takes seconds."""
    for name in QUIET:
        os.environ[name] = "true"
    from mlflow import MlflowClient

    return MlflowClient


@contextmanager
def opened(tracking_uri: str | None, experiment: str) -> Iterator[Store]:
    """The experiment; it is made if it is missing.

    Raises:
        SetupError: mlflow is not installed, the experiment is deleted, or MLflow refuses.
    """
    with _connected(tracking_uri) as client:
        yield Store(client=client, experiment_id=_experiment_id(client, experiment))


def remove_runs(tracking_uri: str | None, run_ids: Sequence[str]) -> list[str]:
    """Remove runs with their params, tags and artefacts; ignores runs that do not exist.

    Returns:
        The runs that a server keeps, marked as deleted, until its own `mlflow gc` removes them.

    Raises:
        SetupError: mlflow is not installed, or MLflow refuses.
    """
    marked = []
    with _connected(tracking_uri) as client:
        from mlflow.exceptions import MlflowException
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        remove = getattr(client._tracking_client.store, "_hard_delete_run", None)
        artefacts: Any = get_artifact_repository  # its methods have no types
        for run_id in run_ids:
            try:
                run = client.get_run(run_id)
            except MlflowException as error:
                if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                    raise
                continue
            if client.list_artifacts(run_id):
                artefacts(run.info.artifact_uri).delete_artifacts()
            if run.info.lifecycle_stage == "active":
                client.delete_run(run_id)
            if remove is None:
                marked.append(run_id)
            else:
                remove(run_id)
        rewrite_database(tracking_uri)
    return marked


def ask(tracking_uri: str) -> None:
    """Send one request that changes nothing to a server, twice at most.

    Raises:
        SetupError: mlflow is not installed, or MLflow refuses.
    """
    with _few_tries(), _connected(tracking_uri) as client:
        _few_experiments(client)


def _few_experiments(client: "MlflowClient") -> None:
    client.search_experiments(max_results=1)


@contextmanager
def _few_tries() -> Iterator[None]:
    """Limits the retries: by default MLflow tries an absent server for four minutes."""
    own = {name: value for name, value in FEW_TRIES.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


@contextmanager
def _connected(tracking_uri: str | None) -> "Iterator[MlflowClient]":
    try:
        client_type = client_class()
    except ImportError as error:
        raise SetupError(
            "MLflow is not installed: pip install 'medhelm-spark[local]', or run without tracking."
        ) from error
    # It logs every table that it creates in a new SQLite file.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)
    try:
        ensure_database(tracking_uri, lambda uri: _few_experiments(client_type(uri)))
        yield client_type(tracking_uri)
    except Exception as error:
        # A broken address, or one whose driver is not installed, is no error of our code either.
        of_uri = isinstance(error, ValueError | ImportError) and tracking_uri
        if not (_is_refusal(error) or of_uri):
            raise
        server = tracking_uri or "its default tracking server"
        reason = str(error).strip().splitlines()[0]
        # The error is not chained: a traceback would print the address with its login.
        raise SetupError(without_login(f"MLflow at {server} refused: {reason}")) from None


def _is_refusal(error: Exception) -> bool:
    """Whether the error is from MLflow, the network or its database, and not from our code."""
    from mlflow.exceptions import MlflowException

    # The database's package is not there where MLflow is only a client.
    from_database = type(error).__module__.partition(".")[0] == "sqlalchemy"
    return isinstance(error, MlflowException | OSError | sqlite3.Error) or from_database


def _experiment_id(client: "MlflowClient", experiment: str) -> str:
    from mlflow.exceptions import MlflowException

    # Databricks names experiments by workspace path.
    on_databricks = client.tracking_uri.startswith("databricks")
    name = f"/Shared/{experiment}" if on_databricks and experiment[:1] != "/" else experiment
    known = client.get_experiment_by_name(name)
    key, kind = EXPERIMENT_KIND
    if known is None:
        try:
            return str(client.create_experiment(name, tags={key: kind}))
        except MlflowException:
            # Another driver may have made it since.
            known = client.get_experiment_by_name(name)
            if known is None:
                raise
    if known.lifecycle_stage != "active":
        raise SetupError(
            f"MLflow's experiment {name!r} is deleted: restore it or name another one."
        )
    if key not in known.tags:  # a person's choice stays
        client.set_experiment_tag(known.experiment_id, key, kind)
    return str(known.experiment_id)
