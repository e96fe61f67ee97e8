"""Matches of patterns that somebody answers for, one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.errors import ConfigError
from medhelm_spark.sharing.scan import Leak


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A pattern in a column of a share's table, with who answers for its matches and why."""

    table: str
    """`texts`, or another table of the share."""
    column: str
    pattern: str
    approver: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    waivers: tuple[Waiver, ...] = ()


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a YAML file: a list `waivers` of table, column, pattern, approver, reason.

    Raises:
        ConfigError: the file is none, or a waiver lacks approver or reason.
    """
    held = load_yaml(path, _File).waivers
    for place, waiver in enumerate(held, 1):
        for name in ("approver", "reason"):
            if not getattr(waiver, name).strip():
                raise ConfigError(f"{path}: waiver {place}: {name} is empty.")
    return held


def blocking(leaks: Iterable[Leak], waivers: Sequence[Waiver]) -> list[Leak]:
    """The leaks that block: texts and undeclared columns always, patterns unless waived."""
    waived = {(waiver.table, waiver.column, waiver.pattern) for waiver in waivers}
    return [
        leak
        for leak in leaks
        if not leak.is_waivable or (table_of(leak.file), leak.column, leak.kind) not in waived
    ]


def table_of(file: str) -> str:
    """The table of a share's file, as `share-0f…-texts.parquet`."""
    return Path(file).stem.rpartition("-")[2]


def as_data(waivers: Sequence[Waiver]) -> list[dict[str, str]]:
    """Waivers as a manifest has them."""
    return [asdict(waiver) for waiver in waivers]
