"""MLflow, driver side only: one run per (model deployment, suite), children per RunSpec, releases.

Metric keys are the same for every model, so that MLflow's compare page shows every scenario side by
side. Tracking again changes nothing where nothing changed.
"""

import os
import re
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.domain.ids import content_id
from medhelm_spark.lake.location import is_catalog
from medhelm_spark.tracking.links import Dashboard
from medhelm_spark.tracking.records import (
    TrackedRun,
    TrackedSuite,
    metrics_of,
    params_of,
    shown_name,
    suite_metrics,
    work_metrics,
)
from medhelm_spark.tracking.store import (
    PARENT,
    TAG,
    RunPage,
    Store,
    Target,
    client_class,
    opened,
    run_page,
    runs_address,
)

__all__ = [
    "Dashboard",
    "Logged",
    "TrackedRun",
    "TrackedSuite",
    "default_uri",
    "experiment_page",
    "preload",
    "shown_name",
    "track_release",
    "track_suite",
]

EXPERIMENT = "medhelm-spark"
SUITE, RUN_SPEC, RELEASE = "suite", "run_spec", "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """The MLflow run of one deployment; `run_spec_id` is empty for all of its runs together."""

    model_deployment: str
    run_id: str
    page: RunPage
    run_spec_id: str = ""


def preload() -> None:
    """Import MLflow in a thread while Spark starts; if it is missing, its first use raises."""

    def load() -> None:
        with suppress(ImportError):
            client_class()

    threading.Thread(target=load, daemon=True, name="medhelm-spark-mlflow").start()


def default_uri(location: str) -> str | None:
    """Where the runs of a lake are tracked: `mlflow.db` in a local lake's folder.

    None, which leaves the choice to MLflow, if `MLFLOW_TRACKING_URI` is set, on Databricks, and for
    a lake in an object store or catalog: there the cluster has its tracking server.
    """
    if {"MLFLOW_TRACKING_URI", "DATABRICKS_RUNTIME_VERSION"} & os.environ.keys():
        return None
    folder = re.sub(r"^file:(//)?(?=/)", "", location)
    # Two letters or more before the colon: a single one is a drive.
    if is_catalog(folder) or re.match(r"\w{2,}:", folder):
        return None
    return f"sqlite:///{(Path(folder) / 'mlflow.db').absolute()}"


def track_suite(
    tracked: TrackedSuite, tracking_uri: str | None, experiment: str = EXPERIMENT
) -> list[Logged]:
    """Bring MLflow up to date with one model deployment's suite; returns the parent run first.

    Params of a child are exactly its RunSpec's fields, see `records.flatten`. The Delta versions
    are added as inputs when a number changed, so they are those that the numbers were read from.

    Raises:
        SetupError: mlflow is not installed or refuses.
    """
    key = content_id(SUITE, tracked.suite, tracked.model_deployment)
    with opened(tracking_uri, experiment) as store:
        runs = store.find(key)
        parents = [run for run in runs if run.data.tags.get(f"{TAG}kind") == SUITE]
        parent_id = store.put(parents[0] if parents else None, _parent(tracked, key))
        children = {
            run.data.tags.get(f"{TAG}run_spec_id", ""): run
            for run in reversed(runs)
            if run.data.tags.get(PARENT) == parent_id
        }
        logged = [_logged(store, tracked.model_deployment, parent_id)]
        for run in tracked.runs:
            child = _child(tracked, run, key, parent_id)
            unit = run.run_spec.run_spec_id
            run_id = store.put(children.get(unit), child)
            logged.append(_logged(store, tracked.model_deployment, run_id, unit))
        current = {run.run_spec.run_spec_id for run in tracked.runs}
        for run_spec_id in children.keys() & set(tracked.superseded) - current:
            store.tag(children[run_spec_id], "superseded", "true")
        return logged


def _logged(store: Store, deployment: str, run_id: str, run_spec_id: str = "") -> Logged:
    return Logged(
        model_deployment=deployment,
        run_id=run_id,
        page=run_page(store.client.tracking_uri, store.experiment_id, run_id),
        run_spec_id=run_spec_id,
    )


def run_name(deployment: str, source: str) -> str:
    """The name of a model's run in MLflow: the model comes first, because lists cut long names.

    >>> run_name("huggingface/smollm2-135m-instruct", "demo")
    'smollm2-135m-instruct (demo, huggingface)'
    """
    organisation, _, model = deployment.rpartition("/")
    return f"{model} ({', '.join(part for part in (source, organisation) if part)})"


def experiment_page(tracking_uri: str | None, experiment: str = EXPERIMENT) -> str | None:
    """The address of MLflow's page with our runs; None where only the platform has it.

    Raises:
        SetupError: mlflow is not installed or refuses.
    """
    with opened(tracking_uri, experiment) as store:
        return runs_address(tracking_uri, store.experiment_id)


def _parent(tracked: TrackedSuite, key: str) -> Target:
    return Target(
        name=run_name(tracked.model_deployment, tracked.suite),
        tags={
            "key": key,
            "kind": SUITE,
            "suite": tracked.suite,
            "model_deployment": tracked.model_deployment,
        },
        metrics=suite_metrics(tracked) | work_metrics(tracked.work),
        delta_versions=tracked.delta_versions,
        page=tracked.page,
    )


def _child(tracked: TrackedSuite, run: TrackedRun, key: str, parent_id: str) -> Target:
    return Target(
        name=run.run_spec.name,
        tags={
            "key": key,
            "kind": RUN_SPEC,
            "suite": tracked.suite,
            "model_deployment": tracked.model_deployment,
            "run_spec_id": run.run_spec.run_spec_id,
            "superseded": "false",
            **{f"fingerprint.{stage}": value for stage, value in run.fingerprints.items()},
            **{f"count.{name}": str(value) for name, value in run.counts.items()},
        },
        metrics=metrics_of(replace(run, variant="")),
        params=params_of(run.run_spec),
        parent=parent_id,
        page=run.page,
    )


def track_release(
    release: str,
    status: str,
    manifest_hash: str,
    tracked: Iterable[TrackedSuite],
    *,
    tracking_uri: str | None,
    experiment: str = EXPERIMENT,
) -> list[Logged]:
    """Bring MLflow up to date with a release; returns one run per model deployment, by name.

    `tracked` has each deployment once, with the runs of all suites of the release. A deployment
    that left the release keeps its run, with the tag `superseded`.

    Raises:
        SetupError: mlflow is not installed or refuses.
    """
    key = content_id(RELEASE, release)
    common = {"key": key, "kind": RELEASE, "release": release, "status": status}
    common |= {"manifest_hash": manifest_hash, "superseded": "false"}
    rows = {row.model_deployment: row for row in tracked}
    with opened(tracking_uri, experiment) as store:
        existing = {
            run.data.tags[f"{TAG}model_deployment"]: run for run in reversed(store.find(key))
        }
        for name in existing.keys() - rows.keys():
            store.tag(existing[name], "superseded", "true")
        return [
            _logged(store, name, store.put(existing.get(name), _released(release, common, row)))
            for name, row in sorted(rows.items())
        ]


def _released(release: str, tags: Mapping[str, str], row: TrackedSuite) -> Target:
    return Target(
        name=run_name(row.model_deployment, f"release {release}"),
        tags={**tags, "model_deployment": row.model_deployment, "suites": row.suite},
        metrics=suite_metrics(row),
        delta_versions=row.delta_versions,
        page=row.page,
    )
