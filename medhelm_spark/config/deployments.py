"""`model_deployments.yaml`: MedHELM's file with `engine` and `locality` added.

An entry with `engine` is ours: `client_spec.args` are that engine's arguments, which the engine
itself checks before anything is asked. An entry without is MedHELM's own, and its client class is
translated (`medhelm.clients`). What has no counterpart here, or an engine that is not loaded,
becomes a `Refusal`: it may be listed, and raises what to write instead when it is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from medhelm_spark.config.addresses import check_secrets, check_url
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.deployment import (
    BY_NAME,
    CHOICES,
    Deployment,
    Locality,
    Prices,
    StatedDeployment,
)
from medhelm_spark.errors import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSpec:
    """MedHELM's client class and its arguments; with `engine`, the engine's arguments."""

    class_name: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentEntry(StatedDeployment):
    """One item of the file: what its deployment has too, then MedHELM's other keys, then ours."""

    model_name: str | None = None
    client_spec: ClientSpec = field(default_factory=ClientSpec)
    window_service_spec: ClientSpec | None = None
    args: Mapping[str, Any] | None = None
    engine: str | None = None
    locality: Locality | None = None

    @property
    def model(self) -> str:
        """The model it serves: in HELM a deployment's name may mean it."""
        return self.model_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentsFile:
    """`model_deployments.yaml`."""

    model_deployments: tuple[DeploymentEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A deployment that this project cannot run; `reason` is the sentence for its user."""

    name: str
    model: str
    reason: str
    origin: str


Args = Mapping[str, Any]
Translate = Callable[[DeploymentEntry], tuple[str, Args]]


class DeclaredEngine(Protocol):
    """What a deployment takes from its engine's declaration (`engines.EngineFactory`)."""

    def addresses(self, args: Args) -> tuple[str, ...]: ...
    @property
    def locality(self) -> Callable[[Args], Locality | None]: ...
    @property
    def serving(self) -> frozenset[str]: ...


Engines = Mapping[str, DeclaredEngine]


def load_deployments(
    path: Path, translate: Translate, engines: Engines
) -> tuple[Deployment | Refusal, ...]:
    """Reads one file; `translate` gives engine and arguments of MedHELM's own entries.

    Raises:
        ConfigError: If the file is broken or names a deployment twice, a deployment names no
            engine, or has a written-out key or an address that is not valid.
    """
    return tuple(_deployment(entry, path, translate, engines) for entry in load_entries(path))


def load_entries(path: Path) -> tuple[DeploymentEntry, ...]:
    """The entries of one file, whether or not an engine can run them.

    Raises:
        ConfigError: If the file is broken or names a deployment twice.
    """
    entries = load_yaml(path, DeploymentsFile).model_deployments
    for index, entry in enumerate(entries):
        if any(entry.name == other.name for other in entries[:index]):
            raise ConfigError(f"{path}: deployment {entry.name!r} is given twice.")
    return entries


def _deployment(
    entry: DeploymentEntry, path: Path, translate: Translate, engines: Engines
) -> Deployment | Refusal:
    where = f"{path}: deployment {entry.name!r}"
    _check_limits(entry, where)
    if entry.engine:
        if entry.engine in engines:
            return _built(entry, entry.engine, entry.client_spec.args, engines, where, str(path))
        check_secrets(entry.client_spec.args, where)
        unknown = UnknownNameError("engine", entry.engine, engines)
        return _refusal(entry, path, f"{where}: {unknown} One of your own is loaded by --plugins.")
    if not entry.client_spec.class_name:
        names = ", ".join(engines)
        raise ConfigError(f"{where} names no engine; add engine: with one of {names}.")
    try:
        engine, args = translate(entry)
        return _built(entry, engine, args, engines, where, str(path))
    except ConfigError as error:
        reason = str(error).removeprefix(where).removeprefix(": ")
        return _refusal(entry, path, f"{where}: {reason}")


def _refusal(entry: DeploymentEntry, path: Path, reason: str) -> Refusal:
    return Refusal(name=entry.name, model=entry.model, reason=reason, origin=str(path))


def from_name(entry: DeploymentEntry, engines: Engines) -> Deployment:
    """The deployment that a name alone defines, checked as one of a file is.

    Raises:
        ConfigError: its address is not valid, or has a user or a key; neither is shown.
    """
    where = f"model {entry.name.partition('@')[0]}"
    return _built(entry, str(entry.engine), entry.client_spec.args, engines, where, BY_NAME)


def _built(
    entry: DeploymentEntry, engine: str, args: Args, engines: Engines, where: str, origin: str
) -> Deployment:
    declared = engines[engine]
    urls = _checked_urls(declared, args, where)
    locality = declared.locality(args)
    # What computes in the process that asks is local by its nature, and sends nowhere.
    is_here = locality is Locality.LOCAL and not urls
    stated = {item.name: getattr(entry, item.name) for item in fields(StatedDeployment)}
    stated["max_request_length"] = entry.max_request_length or entry.max_sequence_length
    return Deployment(
        **stated,
        model=entry.model,
        engine=engine,
        locality=entry.locality or locality,
        is_locality_stated=is_here or entry.locality is not None,
        args=args,
        serving=declared.serving,
        origin=origin,
    )


def check_deployment(deployment: Deployment, engines: Engines) -> Deployment:
    """The deployment, which a program made and no file, checked as one of a file is.

    Raises:
        ConfigError: It has a written-out key, or an address that is not valid.
    """
    if deployment.engine in engines:
        where = f"deployment {deployment.name!r}"
        _checked_urls(engines[deployment.engine], deployment.args, where)
    return deployment


def _checked_urls(declared: DeclaredEngine, args: Args, where: str) -> tuple[str, ...]:
    """The addresses that these arguments have text sent to; neither they nor a key is shown."""
    check_secrets(args, where)
    try:
        urls = declared.addresses(args)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    for url in urls:
        check_url(url, where)
    return urls


def _check_limits(entry: DeploymentEntry, where: str) -> None:
    for item in fields(entry):
        value = getattr(entry, item.name)
        if item.metadata.get("is_above_zero") and value is not None and value <= 0:
            raise ConfigError(f"{where}: {item.name} is {value}; allowed: a number above 0.")
    for kind, action in entry.on_failure.items():
        if action not in CHOICES[kind]:
            raise ConfigError(
                f"{where}: on_failure.{kind} is {action.value!r}; allowed: "
                f"{', '.join(CHOICES[kind])}."
            )
    if entry.prices:
        _check_prices(entry.prices, where)


def _check_prices(prices: Prices, where: str) -> None:
    if min(prices.prompt, prices.completion) < 0:
        raise ConfigError(f"{where}: prices are {prices}; allowed: numbers from 0.")
    try:
        date.fromisoformat(prices.as_of or "2000-01-01")
    except ValueError:
        raise ConfigError(
            f"{where}: prices.as_of is {prices.as_of!r}; allowed: a day, as 2024-10-02."
        ) from None
