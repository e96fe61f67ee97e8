"""MLflow, driver side only: one run per (model deployment, suite), children per RunSpec, releases.

Metric keys are the same for every model, so that MLflow's compare page shows every scenario side by
side. Tracking again changes nothing where nothing changed.
"""

import os
import re
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from medhelm_spark.domain.ids import content_id
from medhelm_spark.lake.location import is_catalog
from medhelm_spark.tracking.records import (
    TrackedRun,
    TrackedSuite,
    metrics_of,
    params_of,
    work_metrics,
)
from medhelm_spark.tracking.store import (
    PARENT,
    TAG,
    Target,
    client_class,
    opened,
    runs_address,
    without_login,
)

__all__ = [
    "TrackedRun",
    "TrackedSuite",
    "default_uri",
    "experiment_page",
    "preload",
    "track_release",
    "track_suite",
    "without_login",
]

EXPERIMENT = "medhelm-spark"
SUITE, RUN_SPEC, RELEASE = "suite", "run_spec", "release"


def preload() -> None:
    """Import MLflow in a thread while Spark starts; where it is missing, its first use raises."""

    def load() -> None:
        with suppress(ImportError):
            client_class()

    threading.Thread(target=load, daemon=True, name="medhelm-spark-mlflow").start()


def default_uri(place: str) -> str | None:
    """Where the runs of a lake are tracked: `mlflow.db` in a local lake's folder.

    None, which leaves the choice to MLflow, where `MLFLOW_TRACKING_URI` is set, on Databricks, and
    for a lake in an object store or catalog: there the cluster has its tracking server.
    """
    if {"MLFLOW_TRACKING_URI", "DATABRICKS_RUNTIME_VERSION"} & os.environ.keys():
        return None
    folder = re.sub(r"^file:(//)?(?=/)", "", place)
    # Two letters or more before the colon: a single one is a drive.
    if is_catalog(folder) or re.match(r"\w{2,}:", folder):
        return None
    return f"sqlite:///{(Path(folder) / 'mlflow.db').absolute()}"


def track_suite(
    tracked: TrackedSuite, tracking_uri: str | None, experiment: str = EXPERIMENT
) -> str:
    """Bring MLflow up to date with one model deployment's suite; returns the parent run's id.

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
        for run in tracked.runs:
            child = _child(tracked, run, key, parent_id)
            store.put(children.get(run.run_spec.run_spec_id), child)
        current = {run.run_spec.run_spec_id for run in tracked.runs}
        for run_spec_id in children.keys() & set(tracked.superseded) - current:
            store.tag(children[run_spec_id], "superseded", "true")
        return parent_id


def run_name(deployment: str, source: str) -> str:
    """What MLflow calls a model's run: what tells two models apart first, for its lists cut names.

    >>> run_name("huggingface/smollm2-135m-instruct", "demo")
    'smollm2-135m-instruct (demo, huggingface)'
    """
    organisation, _, model = deployment.rpartition("/")
    return f"{model} ({', '.join(part for part in (source, organisation) if part)})"


def experiment_page(tracking_uri: str | None, experiment: str = EXPERIMENT) -> str | None:
    """The address of MLflow's page with our runs; None where only the platform knows it.

    Raises:
        SetupError: mlflow is not installed or refuses.
    """
    with opened(tracking_uri, experiment) as store:
        return runs_address(tracking_uri, store.experiment_id)


def _numbers(runs: Iterable[TrackedRun], suite: TrackedSuite) -> dict[str, float]:
    return metrics_of(runs, suite.mean_win_rate, suite.medhelm_mean_win_rate)


def _parent(tracked: TrackedSuite, key: str) -> Target:
    return Target(
        name=run_name(tracked.model_deployment, tracked.suite),
        tags={
            "key": key,
            "kind": SUITE,
            "suite": tracked.suite,
            "model_deployment": tracked.model_deployment,
        },
        metrics=_numbers(tracked.runs, tracked) | work_metrics(tracked.work),
        delta_versions=tracked.delta_versions,
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
        metrics=metrics_of([replace(run, variant="")]),
        params=params_of(run.run_spec),
        parent=parent_id,
    )


def track_release(
    release: str,
    status: str,
    manifest_hash: str,
    tracked: Sequence[TrackedSuite],
    *,
    tracking_uri: str | None,
    experiment: str = EXPERIMENT,
) -> list[str]:
    """Bring MLflow up to date with a release; returns one run id per model deployment, by name.

    Where two suites of a deployment have a run of the same name, the last one's is logged; the win
    rates are the last one's too. A deployment that left the release keeps its run, with the tag
    `superseded`.

    Raises:
        SetupError: mlflow is not installed or refuses.
    """
    key = content_id(RELEASE, release)
    common = {"key": key, "kind": RELEASE, "release": release, "status": status}
    common |= {"manifest_hash": manifest_hash, "superseded": "false"}
    suites: dict[str, list[TrackedSuite]] = {}
    for suite in tracked:
        suites.setdefault(suite.model_deployment, []).append(suite)
    with opened(tracking_uri, experiment) as store:
        by_deployment = {
            run.data.tags[f"{TAG}model_deployment"]: run for run in reversed(store.find(key))
        }
        for deployment in by_deployment.keys() - suites.keys():
            store.tag(by_deployment[deployment], "superseded", "true")
        return [
            store.put(by_deployment.get(name), _released(release, common, members))
            for name, members in sorted(suites.items())
        ]


def _released(release: str, tags: dict[str, str], members: Sequence[TrackedSuite]) -> Target:
    runs = {run.run_spec.name: run for member in members for run in member.runs}
    deployment = members[-1].model_deployment
    names = {"model_deployment": deployment, "suites": ", ".join(m.suite for m in members)}
    return Target(
        name=run_name(deployment, f"release {release}"),
        tags=tags | names,
        metrics=_numbers(runs.values(), members[-1]),
        delta_versions={k: v for member in members for k, v in member.delta_versions.items()},
    )
