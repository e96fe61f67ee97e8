"""Reads a deployment's `args` into an engine's own settings, and refuses what it does not know."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


def read_settings(cls: type[S], deployment: Deployment) -> S:
    """An instance of the dataclass `cls`, whose fields are the accepted arguments.

    Raises:
        UnknownNameError: an argument that the engine does not have; it would be ignored silently.
        ConfigError: a value of the wrong type, or one that `cls` itself refuses.
    """
    where = f"deployment {deployment.name!r}"
    known = {field.name: field.type for field in fields(cls)}
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
    allowed = [get_origin(part) or part for part in get_args(annotation) or (annotation,)]
    if get_origin(annotation) in (tuple, Mapping):
        allowed = [get_origin(annotation)]
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
