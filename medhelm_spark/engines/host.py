"""Engines kept by this process, so that batches and tasks share a loaded model."""

import os
import threading

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.engines import factory_of
from medhelm_spark.engines.engine import Engine


class _Host:
    """The engines of one process, by configuration; `exclusive` is the key of the big one."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.engines: dict[str, Engine] = {}
        self.exclusive: str | None = None

    def engine(self, deployment: Deployment, limit: int) -> Engine:
        key = content_id(deployment, limit)
        with self.lock:
            if key not in self.engines:
                self.engines[key] = self._build(key, deployment, limit)
            return self.engines[key]

    def _build(self, key: str, deployment: Deployment, limit: int) -> Engine:
        factory = factory_of(deployment)
        if not factory.exclusive:
            return factory.build(deployment, limit)
        if self.exclusive is not None:
            self.engines.pop(self.exclusive).close()
            self.exclusive = None
        engine = factory.build(deployment, limit)
        self.exclusive = key
        return engine

    def close(self) -> None:
        with self.lock:
            for engine in self.engines.values():
                engine.close()
            self.engines.clear()
            self.exclusive = None


_host = _Host()


def engine_for(deployment: Deployment, *, max_in_flight: int | None = None) -> Engine:
    """The engine of this configuration: built at first use, then the same one.

    A process holds at most one exclusive engine (one that loads a model): another configuration
    ends it first, so that two models never share the memory of one. `max_in_flight` is this
    process's part of the deployment's `max_concurrency`, which it is by default.

    Raises:
        SetupError: something is missing on this machine.
        EngineError: the engine cannot be built.
    """
    return _of_this_process().engine(deployment, max_in_flight or deployment.max_concurrency)


def close_engines() -> None:
    """Closes all engines of this process."""
    _of_this_process().close()


def _of_this_process() -> _Host:
    """A forked child inherits neither the threads nor the connections of its parent's engines."""
    global _host
    if _host.pid != os.getpid():
        _host = _Host()
    return _host
