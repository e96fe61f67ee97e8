"""Engines: what turns Requests into RequestResults.

`ENGINES` names them all. An engine is a module of this folder that declares an EngineFactory in its
mapping `ENGINES`; a site's own is one of a plug-in (`docs/plugins.md`), on driver and executors.
"""

from collections.abc import Mapping

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines.engine import Engine, EngineFactory, Gate
from medhelm_spark.engines.imported import IMPORTED
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.plugins import PluginRegistry

__all__ = [
    "ENGINES",
    "IMPORTED",
    "Engine",
    "EngineFactory",
    "Gate",
    "build_engine",
    "described",
    "factory_of",
    "preflight",
]

ENGINES: Mapping[str, EngineFactory] = PluginRegistry("ENGINES", EngineFactory, __name__)


def factory_of(deployment: Deployment) -> EngineFactory:
    """The entry of `ENGINES` that a deployment names.

    Raises:
        UnknownNameError: there is none.
    """
    if deployment.engine not in ENGINES:
        where = f"deployment {deployment.name!r}"
        raise UnknownNameError("engine", deployment.engine, ENGINES, where=where)
    return ENGINES[deployment.engine]


def build_engine(deployment: Deployment, *, max_in_flight: int | None = None) -> Engine:
    """A new engine; `max_in_flight` is by default the deployment's `max_concurrency`.

    Raises:
        SetupError: something is missing on this machine.
        EngineError: the engine cannot be built.
    """
    limit = max_in_flight or deployment.max_concurrency
    return factory_of(deployment).build(deployment, limit)


def described(deployment: Deployment) -> str:
    """A deployment's engine, for a person, with the server's host and port or the weights."""
    args, host = deployment.args, factory_of(deployment).host(deployment)
    if host:
        return f"engine {deployment.engine} at {host}"
    weights = args.get("path") or args.get("model")
    return f"engine {deployment.engine}" + (f", weights {weights}" if weights else "")


def preflight(deployment: Deployment) -> None:
    """Checks, without loading anything, that the deployment's engine can run on this machine.

    Raises:
        SetupError: a package, model file, key or GPU is missing; one sentence says which.
        ConfigError: an argument is wrong.
    """
    factory_of(deployment).check(deployment)
