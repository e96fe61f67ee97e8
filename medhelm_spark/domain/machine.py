"""What a machine of the job was found to have: facts, which `medhelm-spark doctor` judges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The driver's machine, or that of an executor."""

    name: str
    clock: datetime
    """Its time when it looked."""
    python: str
    cores: int
    packages: Mapping[str, str] = field(default_factory=dict)
    """The versions of what counts here."""
    gpus: tuple[str, ...] = ()
    """Its devices' names."""
    gpu_bytes: tuple[int, ...] = ()
    """Its devices' memory, in their order; 0 of one that prints no size."""
    gpu_driver: str | None = None
    memory_bytes: int = 0
    """What this process may use of the machine's memory; 0 where the system has no number."""
    free_bytes: int = 0
    """What is left where Spark spills."""
    missing: tuple[str, ...] = ()
    """The requested paths that are not there."""
