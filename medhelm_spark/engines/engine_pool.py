"""Engines kept by this process, so that batches and tasks share a loaded model."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.engines import factory_of, slots
from medhelm_spark.engines.engine import Engine, EngineFactory, Gate
from medhelm_spark.engines.engine_lock import Claim, claim
from medhelm_spark.engines.worker import end_process, executor_folder, task_context
from medhelm_spark.errors import MedhelmSparkError, SetupError


class _Resident:
    """An exclusive engine: its slot is busy while it answers, and idle between two calls."""

    def __init__(self, engine: Engine, claim: Claim, start: float) -> None:
        self.fingerprint = engine.fingerprint
        self.own_process = getattr(engine, "own_process", False)
        self._engine, self._claim, self._start = engine, claim, start
        self.is_asked = False

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine; the first result has the seconds that the engine took to start."""
        self.is_asked = True
        with self._claim.at_work():
            results = self._engine.answer(requests, gate)
            if self._start and (first := next(results, None)):
                yield replace(first, engine_start=self._start)
                self._start = 0.0
            yield from results

    def close(self) -> None:
        self._engine.close()


class _Host:
    """The engines of one process, by configuration; `resident` is the exclusive one, in `claim`."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.engines: dict[str, Engine] = {}
        self.resident: tuple[str, _Resident] | None = None
        self.task: int | None = None
        self.claim: Claim | None = None

    def engine(self, deployment: Deployment, limit: int) -> Engine:
        factory = factory_of(deployment)
        with self.lock:
            if factory.exclusive:
                return self._exclusive(deployment, factory, limit)
            key = content_id(deployment, limit)
            if key not in self.engines:
                self.engines[key] = factory.build(deployment, limit)
            return self.engines[key]

    def _exclusive(self, deployment: Deployment, factory: EngineFactory, limit: int) -> Engine:
        slot = self._slot(deployment, factory.gpus(deployment))
        key = content_id(deployment.engine, deployment.args, deployment.max_sequence_length)
        task = _task()
        if self.resident and self.resident[0] == key:
            self.task = task
            return self.resident[1]
        # A process may not give back all that its first engine took, memory of a GPU above all; an
        # engine in a process of its own gives it back by ending.
        leaves_something = self.resident is not None and not self.resident[1].own_process
        if leaves_something and task is not None and task != self.task:
            end_process("its engine is of another model. A fresh process takes the task over.")
        self._end_resident()
        with slot.at_work():
            started = time.perf_counter()
            try:
                built = factory.build(deployment, limit)
            except Exception as error:  # a plug-in's engine has kinds of its own
                if leaves_something:
                    _leave_to_another(error)  # what the first engine left may be in the way
                raise
        engine = _Resident(built, slot, time.perf_counter() - started)
        self.resident, self.task = (key, engine), task
        return engine

    def _slot(self, deployment: Deployment, num_gpus: int | None) -> Claim:
        """The slot of this process: the one it has where it may take that one."""
        executor = executor_folder(os.environ)
        groups = _groups(deployment, num_gpus)
        names = [slots.lock_names(group, slots.listed_gpus(), executor) for group in groups]
        if self.claim and self.claim.names in names:
            return self.claim
        self._give_up_slot()
        self.claim = claim(names, executor or f"pid-{os.getpid()}")
        try:
            slots.bind(groups[names.index(self.claim.names)])
        except SetupError as error:
            self._give_up_slot()
            _leave_to_another(error)
            raise
        return self.claim

    def _give_up_slot(self) -> None:
        self._end_resident()
        if self.claim:
            self.claim.close()
            self.claim = None

    def _end_resident(self) -> None:
        if self.resident:
            self.resident[1].close()
            self.resident = None

    def end_unasked(self) -> None:
        with self.lock:
            if self.resident and not self.resident[1].is_asked:
                self._end_resident()

    def close(self) -> None:
        with self.lock:
            self._give_up_slot()
            for engine in self.engines.values():
                engine.close()
            self.engines.clear()


def _groups(deployment: Deployment, num_gpus: int | None) -> tuple[slots.Group, ...]:
    """The groups of GPUs that the engine may take here; one without any for the CPU."""
    if num_gpus == 0:
        return (slots.CPU,)
    assigned, taken = slots.assigned_gpus(), slots.bound()
    if taken and not assigned and (num_gpus or 1) <= len(taken):
        return (taken,)
    visible, listed = os.environ.get(slots.VISIBLE), slots.listed_gpus()
    groups = slots.gpu_groups(assigned, visible, listed, num_gpus)
    if not groups:
        factory_of(deployment).check(deployment)  # a package that is missing is reported first
        few = slots.too_few(assigned, visible, listed, num_gpus)
        raise SetupError(f"deployment {deployment.name!r} {few}.")
    return groups


def _task() -> int | None:
    """The attempt of a Spark task that this thread works on."""
    context = task_context()
    return context.taskAttemptId() if context else None


def _leave_to_another(error: Exception) -> None:
    """Ends a Spark worker that cannot do its task, so that the retry meets a fresh one."""
    if task_context():
        reason = str(error) if isinstance(error, MedhelmSparkError) else type(error).__name__
        end_process(f"{reason} A fresh process takes the task over.")


_host = _Host()


def engine_for(deployment: Deployment, *, max_in_flight: int | None = None) -> Engine:
    """The engine of this configuration: built at first use, then the same one.

    A slot has at most one exclusive engine (one that loads a model): another configuration, in
    this process or in another one of the same executor, ends it first, so that two models never
    share the memory of one. `max_in_flight` is this process's part of the deployment's
    `max_concurrency`, which it is by default.

    Raises:
        SetupError: something is missing on this machine.
        EngineError: the engine cannot be built, or another process is busy on its slot.
    """
    return _of_this_process().engine(deployment, max_in_flight or deployment.max_concurrency)


class StartedEngine:
    """An engine that starts in a thread of its own, before anything is there to ask it.

    `engine_for` waits for it. What its start raises is left to `engine_for`, which tries again.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._thread = threading.Thread(target=self._start, name="medhelm-spark-engine-start")
        self._thread.start()

    def _start(self) -> None:
        with suppress(Exception):  # a plug-in's engine has kinds of its own
            engine_for(self._deployment)

    def wait(self) -> None:
        """See EarlyStart."""
        self._thread.join()

    def end(self) -> None:
        """See EarlyStart."""
        self._thread.join()
        _of_this_process().end_unasked()


def close_engines() -> None:
    """Closes all engines of this process."""
    _of_this_process().close()


def _of_this_process() -> _Host:
    """A forked child inherits neither the threads nor the connections of its parent's engines."""
    global _host
    if _host.pid != os.getpid():
        _host = _Host()
    return _host
