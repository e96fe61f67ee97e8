"""Engine: what turns Requests into RequestResults, and how one is declared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import urlsplit

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.network import NOWHERE, Reach, Route
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.domain.run import AnswerForm
from medhelm_spark.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")
Args = Mapping[str, Any]
Gate = Callable[[Request], Decision]


IN_THIS_JOB = "this job"
UNKNOWN = "not told by the engine"


class Engine(Protocol):
    """A loaded model or a connected server.

    `fingerprint` is short JSON: engine, version, model and the settings that shape an answer; it
    is on every result row and has no secret.
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


class EarlyStart(Protocol):
    """An engine that starts before there is anything to ask it."""

    def wait(self) -> None:
        """Return when the start has ended; one that failed is tried again by whoever asks."""
        ...

    def end(self) -> None:
        """End the start, and the engine where nothing was asked of it."""
        ...


def in_this_job(args: Args) -> Locality:
    """The locality of an engine that computes in the process that asks."""
    return Locality.LOCAL


def _anywhere(args: Args) -> Locality:
    return Locality.EXTERNAL


class Destinations(Enum):
    """Destinations of an engine that gives no addresses."""

    IN_PROCESS = "in process"
    """The text stays in the process that asks."""

    UNKNOWN = "unknown"
    """The engine does not state them, and gets public text alone."""


def _no_names(args: Args) -> tuple[str, ...]:
    return ()


def _any_arguments(deployment: Deployment) -> None:
    return None


def _rendered_elsewhere(deployment: Deployment) -> str:
    return ""


def _free_form(_: Args) -> frozenset[AnswerForm]:
    return frozenset({AnswerForm.FREE})


def any_form(_: Args) -> frozenset[AnswerForm]:
    """Every form: for an engine that enforces them itself."""
    return frozenset(AnswerForm)


def _no_gpu(deployment: Deployment) -> int | None:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """An engine as it is declared: an entry of `ENGINES`, the package's own or a plug-in's.

    `build(deployment, max_in_flight)` loads the engine; `check` raises SetupError or ConfigError
    where it cannot run on this machine, and loads nothing. An `exclusive` engine fills its slot:
    there is at most one. `gpus` says how many devices it takes; None means all that Spark
    assigned.

    `destinations` gives the addresses that a deployment's `args` have text pass: the server's, then
    a proxy's, and raises ValueError where they contradict each other. An engine without addresses
    states one of Destinations.
    `hub_names` gives the arguments that name something to download, as `key=value`.
    `check_arguments` raises ConfigError for arguments that no machine accepts: unlike `check` it is
    asked on a driver that cannot run the engine.
    `locality` is that of a deployment which states none: external, unless the engine sets another.
    `serving` names the arguments of where and how fast, not of what is answered: `Deployment`.
    `answer_forms` names the forms of answers that it enforces with such arguments.
    One that `needs_worker` is built in a worker of Spark alone, which may end with it.
    `tokens_per_second` does nothing: older plug-ins may still declare it. `rendering` describes
    how prompts become what the model reads; empty where the server decides it.
    `imports` names the modules that building it takes long to import: workers on the driver's
    machine are made with them.
    """

    build: Callable[[Deployment, int], Engine]
    check: Callable[[Deployment], None]
    exclusive: bool = False
    gpus: Callable[[Deployment], int | None] = _no_gpu
    destinations: Callable[[Args], tuple[str, ...]] | Destinations = Destinations.UNKNOWN
    hub_names: Callable[[Args], tuple[str, ...]] = _no_names
    check_arguments: Callable[[Deployment], None] = _any_arguments
    locality: Callable[[Args], Locality | None] = _anywhere
    serving: frozenset[str] = frozenset()
    needs_worker: bool = False
    answer_forms: Callable[[Args], frozenset[AnswerForm]] = _free_form
    tokens_per_second: float = 1_000.0
    rendering: Callable[[Deployment], str] = _rendered_elsewhere
    imports: tuple[str, ...] = ()

    @property
    def states_destinations(self) -> bool:
        """Whether it states `destinations`."""
        return self.destinations is not Destinations.UNKNOWN

    def addresses(self, args: Args) -> tuple[str, ...]:
        """The addresses that text passes; none where the text stays or they are unknown.

        Raises:
            ValueError: the arguments contradict each other.
        """
        return () if isinstance(self.destinations, Destinations) else self.destinations(args)

    def host(self, deployment: Deployment) -> str:
        """Host and port of the server that is asked, for messages; empty where there is none."""
        return host_and_port(next(iter(self.route(deployment).urls), ""))

    def destination(self, deployment: Deployment) -> str:
        """Where text goes: host and port, IN_THIS_JOB, or UNKNOWN by a plug-in's engine."""
        own = IN_THIS_JOB if self.states_destinations else UNKNOWN
        return self.host(deployment) or own

    def route(self, deployment: Deployment) -> Route:
        """What the deployment's arguments say about the network.

        Raises:
            ConfigError: they contradict each other.
        """
        args = deployment.args
        try:
            urls, names = self.addresses(args), self.hub_names(args)
        except ValueError as error:
            raise ConfigError(f"deployment {deployment.name!r}: {error}") from None
        return Route(urls=urls, hub_names=names, is_known=self.states_destinations)


def reach_of(request: Request, decision: Decision) -> Reach | None:
    """Where a server may be that this request is sent to; None: anywhere, for public text alone."""
    if request.access_level is AccessLevel.PUBLIC:
        return None
    return (decision.reach or NOWHERE) if decision.allowed else NOWHERE


def host_and_port(url: str) -> str:
    """Host and port of an address: a path or a user in it may be a secret."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def read_settings(cls: type[S], deployment: Deployment) -> S:
    """An instance of the dataclass `cls`, whose fields are the accepted arguments.

    Raises:
        UnknownNameError: an argument that the engine does not have; it would be ignored silently.
        ConfigError: a value of the wrong type, or one that `cls` itself refuses.
    """
    where = f"deployment {deployment.name!r}"
    annotations = get_type_hints(cls)
    known = {field.name: annotations[field.name] for field in fields(cls)}
    values = {}
    for name, value in deployment.args.items():
        if name not in known:
            kind = f"argument of engine {deployment.engine!r}"
            raise UnknownNameError(kind, name, known, where=where)
        values[name] = _checked(value, known[name], f"{where}: args.{name}")
    try:
        return cls(**values)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def _checked(value: Any, annotation: Any, where: str) -> Any:
    is_union = get_origin(annotation) in (Union, UnionType)
    parts = get_args(annotation) if is_union else (annotation,)
    allowed = [get_origin(part) or part for part in parts]
    if tuple in allowed and isinstance(value, list):
        return tuple(value)
    if float in allowed and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    fits = isinstance(value, tuple(allowed)) and (bool in allowed or not isinstance(value, bool))
    if not fits:
        names = " or ".join(getattr(kind, "__name__", "none") for kind in allowed)
        # The value is not shown: a key pasted into the wrong place would be shown with it.
        raise ConfigError(f"{where} is of type {type(value).__name__}; allowed is {names}.")
    return value
