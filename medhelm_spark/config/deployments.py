"""`model_deployments.yaml`: MedHELM's file with `engine` and `locality` added.

An entry with `engine` is ours: `client_spec.args` are that engine's arguments, which the engine
itself checks before anything is asked. An entry without is MedHELM's own, and its client class is
translated (`helm_clients`). What has no counterpart here becomes a `Refusal`: it may be listed,
and says what to write instead when it is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medhelm_spark.config.addresses import check_secrets, check_url, locality_of
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.deployment import CHOICES, Deployment, Locality, OnFailure, Prices
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.errors import ConfigError, UnknownNameError

ENGINE_NAMES = ("llama_cpp", "openai", "vllm", "canned", "imported")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSpec:
    """MedHELM's client class and its arguments; with `engine`, the engine's arguments."""

    class_name: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentEntry:
    """One item of the file: MedHELM's keys, then ours."""

    name: str
    model_name: str | None = None
    tokenizer_name: str | None = None
    client_spec: ClientSpec = field(default_factory=ClientSpec)
    window_service_spec: ClientSpec | None = None
    max_sequence_length: int | None = None
    max_request_length: int | None = None
    max_sequence_and_generated_tokens_length: int | None = None
    deprecated: bool = False
    args: Mapping[str, Any] | None = None
    engine: str | None = None
    locality: Locality | None = None
    max_concurrency: int = 16
    max_attempts: int = 5
    max_failures_in_a_row: int | None = None
    on_failure: Mapping[FailureKind, OnFailure] = field(default_factory=dict)
    tokens_per_second: float | None = None
    prices: Prices | None = None
    demo: bool = False

    @property
    def model(self) -> str:
        """The model it serves: HELM lets a deployment's name stand for it."""
        return self.model_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeploymentsFile:
    model_deployments: tuple[DeploymentEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A deployment that this project cannot run; `reason` is the sentence for its user."""

    name: str
    model: str
    reason: str
    origin: str


Translate = Callable[[DeploymentEntry], tuple[str, Mapping[str, Any]]]


def load_deployments(path: Path, translate: Translate) -> tuple[Deployment | Refusal, ...]:
    """Reads one file; `translate` gives engine and arguments of MedHELM's own entries.

    Raises:
        ConfigError: If the file is broken, names a deployment twice or an engine nobody has, or
            gives an engine an argument it does not take.
    """
    entries = load_yaml(path, _DeploymentsFile).model_deployments
    for index, entry in enumerate(entries):
        if any(entry.name == other.name for other in entries[:index]):
            raise ConfigError(f"{path}: deployment {entry.name!r} is given twice.")
    return tuple(_deployment(entry, path, translate) for entry in entries)


def _deployment(entry: DeploymentEntry, path: Path, translate: Translate) -> Deployment | Refusal:
    where = f"{path}: deployment {entry.name!r}"
    _check_limits(entry, where)
    if entry.engine:
        _check_engine(entry.engine, entry.client_spec.args, where)
        return _built(entry, entry.engine, entry.client_spec.args, path)
    if not entry.client_spec.class_name:
        names = ", ".join(ENGINE_NAMES)
        raise ConfigError(f"{where} names no engine; add engine: with one of {names}.")
    try:
        engine, args = translate(entry)
        _check_engine(engine, args, where)
    except ConfigError as error:
        reason = f"{where}: {str(error).removeprefix(where).removeprefix(': ')}"
        return Refusal(name=entry.name, model=entry.model, reason=reason, origin=str(path))
    return _built(entry, engine, args, path)


def _built(entry: DeploymentEntry, engine: str, args: Mapping[str, Any], path: Path) -> Deployment:
    return Deployment(
        name=entry.name,
        model=entry.model,
        engine=engine,
        locality=entry.locality or locality_of(engine, args),
        args=args,
        tokenizer_name=entry.tokenizer_name,
        max_sequence_length=entry.max_sequence_length,
        max_request_length=entry.max_request_length or entry.max_sequence_length,
        max_sequence_and_generated_tokens_length=entry.max_sequence_and_generated_tokens_length,
        on_failure=entry.on_failure,
        max_concurrency=entry.max_concurrency,
        max_attempts=entry.max_attempts,
        max_failures_in_a_row=entry.max_failures_in_a_row,
        tokens_per_second=entry.tokens_per_second,
        prices=entry.prices,
        demo=entry.demo,
        deprecated=entry.deprecated,
        origin=str(path),
    )


def _check_limits(entry: DeploymentEntry, where: str) -> None:
    keys = ("max_sequence_length", "max_request_length", "max_concurrency", "max_attempts")
    for key in (*keys, "max_failures_in_a_row", "tokens_per_second"):
        value = getattr(entry, key)
        if value is not None and value <= 0:
            raise ConfigError(f"{where}: {key} is {value}; allowed: a number above 0.")
    for kind, action in entry.on_failure.items():
        if action not in CHOICES[kind]:
            raise ConfigError(
                f"{where}: on_failure.{kind} is {action.value!r}; allowed: "
                f"{', '.join(CHOICES[kind])}."
            )
    if entry.prices and min(entry.prices.prompt, entry.prices.completion) < 0:
        raise ConfigError(f"{where}: prices are {entry.prices}; allowed: numbers from 0.")


def _check_engine(engine: str, args: Mapping[str, Any], where: str) -> None:
    if engine not in ENGINE_NAMES:
        raise UnknownNameError("engine", engine, ENGINE_NAMES, where=where)
    check_secrets(args, where)
    check_url(args, where)
