"""The configured models, what each lacks, and whether it answers."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from medhelm_spark import engines
from medhelm_spark.config.deployments import Refusal
from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.deployment import UNKNOWN, Deployment
from medhelm_spark.domain.listed_model import ListedModel
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import factory_of
from medhelm_spark.engines.health_check import Answered, ask_once
from medhelm_spark.engines.machine import look
from medhelm_spark.engines.memory import memory_note, memory_of, room_for
from medhelm_spark.engines.secrets import references_in, resolve
from medhelm_spark.errors import MedhelmSparkError, SetupError
from medhelm_spark.pipeline.checks import check_engine
from medhelm_spark.policy.gate import gate_for
from medhelm_spark.workspace.workspace import Workspace

SET, NOT_SET = "set", "not set"

NAMED_AT = "NAME@http://HOST:PORT/v1"
NEXT = {
    FailureKind.UNREACHABLE: f"start the server there, or give its address: {NAMED_AT}",
    FailureKind.TIMEOUT: "is it still loading the model? Ask again, or give a longer `timeout`",
    FailureKind.ENGINE_ERROR: "the server's own log says why",
    FailureKind.DENIED: "the policy lists who may be asked: docs/governance.md",
}
"""What to try if the question got no answer."""


def listed_models(
    workspace: Workspace, names: Sequence[str] = (), *, check: bool
) -> tuple[ListedModel, ...]:
    """These models, or all that files list; with `check` each is asked one public question.

    Without `check` no connection is opened.

    Raises:
        ConfigError: a name is not that of a model.
    """
    registry = workspace.registry
    named = [registry.resolve_model(name) for name in names]
    deployments = named or list(registry.deployments.values())
    refusals = () if named else registry.refusals.values()
    return (
        *(_listed(workspace, each, check=check) for each in deployments),
        *map(_refused, refusals),
    )


def _refused(refusal: Refusal) -> ListedModel:
    """A deployment in a file that this project cannot run."""
    return ListedModel(
        name=refusal.name,
        model=refusal.model,
        engine="",
        locality=UNKNOWN,
        is_locality_stated=False,
        destination="",
        origin=refusal.origin,
        lacks=refusal.reason,
    )


def _listed(workspace: Workspace, deployment: Deployment, *, check: bool) -> ListedModel:
    row = ListedModel(
        name=deployment.name,
        model=deployment.model,
        engine=deployment.engine,
        locality=deployment.locality or UNKNOWN,
        is_locality_stated=deployment.is_locality_stated,
        destination=factory_of(deployment).destination(deployment),
        origin=deployment.origin,
        prices=deployment.prices,
        key=", ".join(_keys(deployment)),
        demo=deployment.demo,
        lacks=_lacks(workspace, deployment),
    )
    if not check:
        return row
    return _checked(workspace, deployment, replace(row, memory=_memory(workspace, deployment)))


def _memory(workspace: Workspace, deployment: Deployment) -> str:
    memory = memory_of(deployment)
    if memory is None:
        return ""
    is_local = workspace.settings.platform is Platform.LOCAL
    return memory_note(deployment.name, memory, room_for(deployment, look()) if is_local else None)


def _keys(deployment: Deployment) -> Iterator[str]:
    """For each key that it refers to, whether it is set here, or the program that prints it."""
    source = deployment.args.get("api_key")
    if isinstance(source, Mapping) and (command := source.get("command")):
        yield f"command {command[0]}"
    for reference in references_in(deployment.args):
        try:
            resolve(reference, where=deployment.name)
        except SetupError:
            yield f"{reference} {NOT_SET}"
        else:
            yield f"{reference} {SET}"


def _lacks(workspace: Workspace, deployment: Deployment) -> str:
    try:
        check_engine(deployment, workspace)
    except MedhelmSparkError as error:
        return str(error)
    return ""


def _checked(workspace: Workspace, deployment: Deployment, row: ListedModel) -> ListedModel:
    """The row with the outcome of the question; a deployment that lacks something is not asked."""
    if row.lacks:
        return replace(row, answers=False, failure=row.lacks)
    factory = factory_of(deployment)
    if factory.exclusive and workspace.settings.platform is not Platform.LOCAL:
        return row  # the executors load it: this machine has neither their GPUs nor their packages
    workspace.say(f"models: asking {deployment.name}")
    routes = {deployment.name: factory.route(deployment)}
    policy = workspace.registry.policy
    gate = gate_for(policy, {deployment.name: deployment}, routes)
    try:
        with _without_warnings():
            answered = ask_once(deployment, gate)
    except MedhelmSparkError as error:
        return replace(row, answers=False, failure=str(error))
    return replace(
        row,
        answers=answered.failure is None,
        failure=_failure(deployment, answered, row.destination),
        seconds=answered.seconds,
        prompt_tokens=answered.prompt_tokens,
        completion_tokens=answered.completion_tokens,
    )


def _failure(deployment: Deployment, answered: Answered, destination: str) -> str:
    failure = answered.failure
    if failure is None:
        return ""
    step = answered.reason if failure.needs_reason else NEXT.get(failure)
    if failure is FailureKind.UNREACHABLE and deployment.name.startswith("ollama/"):
        step = f"start it by `ollama serve`, or give its address: {NAMED_AT}"
    return f"{failure} at {destination}{f'; {step}' if step else ''}"


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress an engine's warning of a failed request: the row has the same message."""
    logger = logging.getLogger(engines.__name__)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
