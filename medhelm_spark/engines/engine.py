"""Engine: what turns Requests into RequestResults, and how one is made."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import Request, RequestResult

Gate = Callable[[Request], Decision]


class Engine(Protocol):
    """A loaded model or a connected server.

    `fingerprint` is short JSON: engine, version, model and the settings that shape an answer; it
    stands on every result row and holds no secret.
    """

    @property
    def fingerprint(self) -> str: ...

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """Yields one result per request as it finishes, in any order.

        Pulls ahead of what it has yielded by a bounded number only, and pulls in the caller's
        thread. Asks `gate` just before sending; a denied request becomes a failure unsent. A caller
        that closes it early cancels what is open.

        Raises:
            EngineError: the engine as a whole is dead or misconfigured. One bad request never
                raises; it becomes a failure row.
        """
        ...

    def close(self) -> None:
        """Frees the model, threads and connections; a second call does nothing."""
        ...


def _nowhere(deployment: Deployment) -> str:
    return ""


def _no_gpu(deployment: Deployment) -> int | None:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """An entry of `ENGINES`.

    `build(deployment, max_in_flight)` loads the engine; `check` raises SetupError or ConfigError
    where it cannot run on this machine, and loads nothing. An `exclusive` engine fills its slot:
    there is at most one. `gpus` says how many devices it takes; None stands for all that Spark
    assigned. `place` names the server that is asked, for messages: host and port, nothing secret.
    """

    build: Callable[[Deployment, int], Engine]
    check: Callable[[Deployment], None]
    exclusive: bool = False
    gpus: Callable[[Deployment], int | None] = _no_gpu
    place: Callable[[Deployment], str] = _nowhere
