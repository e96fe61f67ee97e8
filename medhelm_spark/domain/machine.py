"""What a machine of the job was found to have: facts, which `medhelm-spark doctor` judges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAt:
    """What one task is to look at on its machine: `paths` that have to be there."""

    number: int
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The driver's machine, or that of an executor.

    `clock` is its time when it looked, `packages` the versions of what counts here, `gpus` its
    devices' names, `free_bytes` what is left where Spark spills, `missing` those of the paths that
    are not there.
    """

    name: str
    clock: datetime
    python: str
    cores: int
    packages: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    gpu_driver: str | None = None
    free_bytes: int = 0
    missing: tuple[str, ...] = ()
