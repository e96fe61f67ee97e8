"""Matches of patterns that somebody answers for, one by one, and the file that lists them."""

import os
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.errors import ConfigError
from medhelm_spark.sharing.scan import Leak

ALL_ROWS = "*"
"""The `match` of a waiver for all matches of its pattern in its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A match of a pattern in a column of a share's table, with who answers for it and why."""

    table: str
    """`texts`, or another table of the share; `manifest` for the manifest."""
    column: str
    pattern: str
    match: str
    """As the list of matches has it, or `*`."""
    approver: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waivers:
    """The waivers of a file, and the key by which its matches are hashed."""

    key: str
    waivers: tuple[Waiver, ...] = ()

    @classmethod
    def none(cls) -> "Waivers":
        """No waivers, and a new key."""
        return cls(key=secrets.token_hex(16))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """A match as the list has it: a waiver, and the rows where it was."""

    table: str
    column: str
    pattern: str
    match: str
    rows: tuple[int, ...] = ()
    approver: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    key: str = ""
    waivers: tuple[_Listed, ...] = ()
    never_waived: tuple[str, ...] = ()


def load_waivers(path: Path) -> Waivers:
    """The waivers of a YAML file, as `write_matches` writes it and somebody completes it.

    Raises:
        ConfigError: the file cannot be read, or a waiver lacks approver or reason.
    """
    loaded = load_yaml(path, _File)
    for number, waiver in enumerate(loaded.waivers, 1):
        for name in ("match", "approver", "reason"):
            if not getattr(waiver, name).strip():
                raise ConfigError(f"{path}: waiver {number}: {name} is empty.")
    waivers = tuple(
        Waiver(
            table=each.table,
            column=each.column,
            pattern=each.pattern,
            match=each.match,
            approver=each.approver,
            reason=each.reason,
        )
        for each in loaded.waivers
    )
    return Waivers(key=loaded.key or Waivers.none().key, waivers=waivers)


def blocking(leaks: Iterable[Leak], waivers: Sequence[Waiver]) -> list[Leak]:
    """The leaks that block: texts and undeclared columns always, patterns unless waived."""
    waived = set(map(_key, waivers))
    return [leak for leak in leaks if not leak.is_waivable or not _keys(leak) & waived]


def as_data(leaks: Iterable[Leak], waivers: Sequence[Waiver]) -> list[dict[str, Any]]:
    """Waivers as a manifest has them, with how many matches each is for; without unused ones."""
    counts = Counter(key for leak in leaks if leak.is_waivable for key in _keys(leak))
    return [
        {**asdict(waiver), "matches": counts[_key(waiver)]}
        for waiver in waivers
        if counts[_key(waiver)]
    ]


def write_matches(path: Path, leaks: Sequence[Leak], key: str) -> Path:
    """Write every leak to a new file that only its owner reads, as waivers to be completed.

    Returns:
        Where: `path`, or the first of its names with a number that is not taken.
    """
    rows: dict[tuple[str, str, str, str], list[int]] = {}
    for leak in leaks:
        if leak.is_waivable:
            rows.setdefault((table_of(leak.file), leak.column, leak.kind, leak.match), []).append(
                leak.row
            )
    listed = [
        _Listed(table=table, column=column, pattern=pattern, match=match, rows=tuple(row_numbers))
        for (table, column, pattern, match), row_numbers in rows.items()
    ]
    document = {
        "key": key,
        "waivers": [{**asdict(each), "rows": list(each.rows)} for each in listed],
        "never_waived": [str(leak) for leak in leaks if not leak.is_waivable],
    }
    number = 1
    while True:
        new_path = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            opened = os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            yaml.safe_dump(document, file, sort_keys=False, allow_unicode=True)
        return new_path


def table_of(file: str) -> str:
    """The table of a share's file, as `share-0f…-texts.parquet`."""
    return Path(file).stem.rpartition("-")[2]


def _key(waiver: Waiver) -> tuple[str, str, str, str]:
    return waiver.table, waiver.column, waiver.pattern, waiver.match


def _keys(leak: Leak) -> set[tuple[str, str, str, str]]:
    """The waivers that are for a leak."""
    prefix = table_of(leak.file), leak.column, leak.kind
    return {(*prefix, leak.match), (*prefix, ALL_ROWS)}
