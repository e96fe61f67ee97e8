"""Answers that were made elsewhere, as those of a deployment that is not asked."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace


def with_unknown_models(workspace: Workspace, entries: LoadedEntries) -> Workspace:
    """The workspace with a deployment for each named model that it does not have.

    Where such a model answered is not known, unless `attest_locality` of the entries states it.
    """
    known = workspace.registry.deployments
    served = {deployment.model for deployment in known.values()}
    unknown = entries.models - known.keys() - served
    if not unknown:
        return workspace
    return workspace.with_deployments(
        Deployment(name=name, model=name, engine=IMPORTED, locality=None, origin="import-responses")
        for name in sorted(unknown)
    )


def check_single(runs: Sequence[ResolvedRun]) -> None:
    """Refuse runs of more than one scenario or model.

    Raises:
        ConfigError: a file of answers has no place for a second one.
    """
    if len({run.card.name for run in runs}) > 1 or len({run.deployment.name for run in runs}) > 1:
        raise ConfigError(
            "a file of answers has one model's answers to one scenario; give one run entry, or "
            "of a suite file's entries one model (--models-to-run) and scenario (--groups-to-run)."
        )


def as_imported(runs: Sequence[ResolvedRun], revision: str) -> tuple[ResolvedRun, ...]:
    """The runs with models that are not asked and whose answers are those of one file.

    `revision` becomes part of the deployments' identity, so that answers of another file, and those
    that the model itself gives, are other runs: the one that is planned last supersedes.
    """
    return tuple(replace(run, deployment=_imported(run.deployment, revision)) for run in runs)


def _imported(deployment: Deployment, revision: str) -> Deployment:
    return replace(deployment, engine=IMPORTED, args={"revision": revision}, serving=frozenset())
