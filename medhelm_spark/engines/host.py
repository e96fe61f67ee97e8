"""Engines kept by this process, so that batches and tasks share a loaded model."""

import os
import threading
from dataclasses import dataclass, field

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.engines import factory_of
from medhelm_spark.engines.engine import Engine


@dataclass(slots=True)
class _Held:
    """The engines of the process `pid`, by configuration; `exclusive` is the key of the big one."""

    pid: int = field(default_factory=os.getpid)
    engines: dict[str, Engine] = field(default_factory=dict)
    exclusive: str | None = None


_lock = threading.Lock()
_held = _Held()


def engine_for(deployment: Deployment, *, max_in_flight: int | None = None) -> Engine:
    """The engine of this configuration: built at first use, then the same one.

    A process holds at most one exclusive engine (one that loads a model): another configuration
    ends it first, so two models never share the memory of one. `max_in_flight` is this process's
    part of the deployment's `max_concurrency`, which it is by default.

    Raises:
        SetupError: something is missing on this machine.
        EngineError: the engine cannot be built.
    """
    limit = max_in_flight or deployment.max_concurrency
    key = content_id(deployment, limit)
    with _lock:
        _forget_if_forked()
        if key not in _held.engines:
            _build(key, deployment, limit)
        return _held.engines[key]


def close_engines() -> None:
    """Closes all engines of this process."""
    with _lock:
        _forget_if_forked()
        for engine in _held.engines.values():
            engine.close()
        _held.engines.clear()
        _held.exclusive = None


def _build(key: str, deployment: Deployment, limit: int) -> None:
    factory = factory_of(deployment)
    if factory.exclusive and _held.exclusive is not None:
        _held.engines.pop(_held.exclusive).close()
        _held.exclusive = None
    _held.engines[key] = factory.build(deployment, limit)
    if factory.exclusive:
        _held.exclusive = key


def _forget_if_forked() -> None:
    """A forked child inherits neither the threads nor the connections of its parent's engines."""
    global _held
    if _held.pid != os.getpid():
        _held = _Held()
