"""Schemes: what a committee asks, item by item, and what fills each item."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.resources import conf_path
from medhelm_spark.errors import ConfigError, UnknownNameError

SHIPPED = "evidence"
"""The folder below `conf` that has the shipped schemes."""
ENDINGS = (".yaml", ".yml")
UNCHECKED = "to be checked against the source"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSource:
    """Where a document asks for an item."""

    item: str
    """Its number or name in the document."""

    document: str = ""
    """The document; empty: the scheme's."""

    checked: bool = False
    """Whether somebody compared the number or name with the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceItem:
    """One item of a scheme: its question, and the fills that answer it."""

    id: str
    """Lower-case letters, digits and hyphens; the item's address on the page."""

    title: str

    source: ItemSource

    fill: tuple[str, ...] = ()
    """Names of fills (`evidence.fills.FILLS`)."""

    human: bool = False
    """Whether a person of the site has to write something."""

    write: str = ""
    """What the person has to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceScheme:
    """A scheme as its file states it."""

    title: str

    document: str
    """The document that the items come from."""

    items: tuple[EvidenceItem, ...]

    model_cards: bool = False
    """Whether each model gets a card of its own, by the same items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScheme:
    """A scheme with its name and the hash of its file."""

    name: str
    sha256: str
    scheme: EvidenceScheme


def shipped_schemes() -> list[str]:
    """The names of the schemes that ship."""
    return sorted(path.stem for path in conf_path(SHIPPED).glob("*.yaml"))


def load_scheme(named: str | Path, fills: Collection[str]) -> StoredScheme:
    """A shipped scheme by its name, or a site's own by the path of its file.

    Args:
        named: the name or the path; a path ends with `.yaml` or `.yml`.
        fills: the names that `fill` may have.

    Raises:
        UnknownNameError: no such scheme ships, or an item names an unknown fill.
        ConfigError: the file is absent, broken or does not fit; names file and key.
    """
    path = Path(named)
    if path.suffix not in ENDINGS:
        if str(named) not in shipped_schemes():
            raise UnknownNameError(
                "scheme", str(named), shipped_schemes(), where="a file of your own ends with .yaml"
            )
        path = conf_path(SHIPPED, f"{named}.yaml")
    scheme = load_yaml(path, EvidenceScheme)
    _check(scheme, str(path), fills)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return StoredScheme(name=path.stem, sha256=digest, scheme=scheme)


def _check(scheme: EvidenceScheme, where: str, fills: Collection[str]) -> None:
    if not scheme.items:
        raise ConfigError(f"{where}: items is empty; allowed: at least one item.")
    seen: dict[str, str] = {}
    for index, item in enumerate(scheme.items):
        key = f"items[{index}]"
        if not _ID.fullmatch(item.id):
            raise ConfigError(
                f"{where}: {key}.id is {item.id!r}; allowed: lower-case letters, digits, hyphens."
            )
        if item.id in seen:
            raise ConfigError(f"{where}: {key}.id is {item.id!r}, the id of {seen[item.id]} too.")
        seen[item.id] = key
        for number, name in enumerate(item.fill):
            if name not in fills:
                raise UnknownNameError("fill", name, fills, where=f"{where}: {key}.fill[{number}]")
        if not item.fill and not item.human:
            raise ConfigError(f"{where}: {key} has neither fill nor human: true.")
        if item.human != bool(item.write.strip()):
            raise ConfigError(
                f"{where}: {key}.human is {str(item.human).lower()} and {key}.write is "
                f"{'stated' if item.write.strip() else 'empty'}; allowed: both, or neither."
            )
