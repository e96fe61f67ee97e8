"""Engines: what turns Requests into RequestResults.

`ENGINES` names them all. A site adds its own at start, on driver and executors, by building its
own mapping from this one.
"""

from collections.abc import Mapping
from typing import NoReturn

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import canned, llama_cpp, openai_api, vllm_engine
from medhelm_spark.engines.engine import Engine, EngineFactory, Gate
from medhelm_spark.errors import SetupError, UnknownNameError

__all__ = [
    "ENGINES",
    "Engine",
    "EngineFactory",
    "Gate",
    "build_engine",
    "factory_of",
    "preflight",
]


def _never_asked(deployment: Deployment, max_in_flight: int = 0) -> NoReturn:
    raise SetupError(
        f"deployment {deployment.name!r} holds imported answers and cannot be asked for new ones; "
        "bring the missing answers by `medhelm-spark import-responses`."
    )


ENGINES: Mapping[str, EngineFactory] = {
    "llama_cpp": EngineFactory(build=llama_cpp.build, check=llama_cpp.check, exclusive=True),
    "openai": EngineFactory(build=openai_api.build, check=openai_api.check, place=openai_api.place),
    "vllm": EngineFactory(
        build=vllm_engine.build, check=vllm_engine.check, exclusive=True, gpus=vllm_engine.gpus
    ),
    "canned": EngineFactory(build=canned.build, check=canned.check),
    "imported": EngineFactory(build=_never_asked, check=_never_asked),
}


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


def preflight(deployment: Deployment) -> None:
    """Checks, without loading anything, that the deployment's engine can run on this machine.

    Raises:
        SetupError: a package, model file, key or GPU is missing; one sentence says which.
        ConfigError: an argument is wrong.
    """
    factory_of(deployment).check(deployment)
