"""Engines: what turns Requests into RequestResults.

`ENGINES` names them all. An engine is a module that declares itself as an EngineFactory, and a line
here; a site's own is one of a plug-in (`docs/plugins.md`), on driver and executors.
"""

from collections.abc import Mapping
from typing import NoReturn

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import canned, llama_cpp, openai_api, vllm_engine
from medhelm_spark.engines.engine import Args, Engine, EngineFactory, Gate, nowhere
from medhelm_spark.errors import SetupError, UnknownNameError
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

IMPORTED = "imported"
"""The engine of deployments whose answers came by `import-responses`; nobody asks it."""


def _never_asked(deployment: Deployment, max_in_flight: int = 0) -> NoReturn:
    raise SetupError(
        f"deployment {deployment.name!r} holds imported answers and cannot be asked for new ones; "
        "bring the missing answers by `medhelm-spark import-responses`."
    )


def _not_known(args: Args) -> None:
    """Where answers from a file were made is for a person to state."""


ENGINES: Mapping[str, EngineFactory] = PluginRegistry(
    "ENGINES",
    EngineFactory,
    {
        "llama_cpp": llama_cpp.ENGINE,
        "openai": openai_api.ENGINE,
        "vllm": vllm_engine.ENGINE,
        "canned": canned.ENGINE,
        IMPORTED: EngineFactory(
            build=_never_asked, check=_never_asked, locality=_not_known, destinations=nowhere
        ),
    },
)


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
    """Engine and place of a deployment, for a person: a server's host and port, or the weights."""
    args, place = deployment.args, factory_of(deployment).place(deployment)
    if place:
        return f"engine {deployment.engine} at {place}"
    weights = args.get("path") or args.get("model")
    return f"engine {deployment.engine}" + (f", weights {weights}" if weights else "")


def preflight(deployment: Deployment) -> None:
    """Checks, without loading anything, that the deployment's engine can run on this machine.

    Raises:
        SetupError: a package, model file, key or GPU is missing; one sentence says which.
        ConfigError: an argument is wrong.
    """
    factory_of(deployment).check(deployment)
