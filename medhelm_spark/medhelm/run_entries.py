"""HELM's run entries: `name[:key=value,...]`, alone or in HOCON `.conf` files.

Grammar (facts section 2.1): split at the first colon, then at every comma; a value is a whole
number, else a decimal, else text. There is no quoting. Unlike HELM, a repeated key and an empty
value are refused.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.loader import validate
from medhelm_spark.config.yaml_text import read_text
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.errors import ConfigError
from medhelm_spark.hocon import parse_hocon

MODEL, DEPLOYMENT = "model", "model_deployment"
MODEL_KEYS = (MODEL, DEPLOYMENT)

KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
GRAMMAR = "write name:key=value,key=value"
INDEX_MARK = ":entries["


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConfEntry:
    description: str
    priority: int | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConfFile:
    entries: tuple[_ConfEntry, ...]


def parse_entry(
    text: str, *, where: str, priority: int | None = None, groups: Sequence[str] = ()
) -> RunEntry:
    """Reads one run entry.

    Raises:
        ConfigError: With `where`, the entry, and the part that is wrong.
    """
    prefix = f"{where}: run entry {text!r}"
    if not text.replace("\n", " ").replace("\t", " ").isprintable():
        raise ConfigError(f"{prefix} contains a character that is not printable; write it anew.")
    name, colon, arguments = text.partition(":")
    name = name.strip()
    if not name:
        raise ConfigError(f"{prefix} has no name; {GRAMMAR}.")
    args: dict[str, str | int | float] = {}
    for part in arguments.split(",") if colon else ():
        key, value = _argument(part, prefix)
        if key in args:
            raise ConfigError(f"{prefix} gives {key!r} twice.")
        args[key] = value
    return RunEntry(name=name, args=args, priority=priority, groups=tuple(groups), where=where)


def _argument(part: str, where: str) -> tuple[str, str | int | float]:
    if not part.strip():
        raise ConfigError(f"{where} has a colon or a comma with nothing after it; {GRAMMAR}.")
    key, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals or not value:
        raise ConfigError(f"{where} has {part.strip()!r} where key=value is expected; {GRAMMAR}.")
    if not KEY.fullmatch(key):
        raise ConfigError(f"{where} has the key {key!r}; a key is letters, digits and _.")
    return key, parse_value(value)


def parse_value(text: str) -> str | int | float:
    """A value as HELM reads it; `nan` and `inf` stay text, because no hash can be made of them."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def parse_flags(texts: Iterable[str], *, flag: str = "--run-entries") -> tuple[RunEntry, ...]:
    """Reads the entries of the command line."""
    return tuple(parse_entry(text, where=flag) for text in texts)


def load_conf(path: Path) -> tuple[RunEntry, ...]:
    """Reads the entries of one HOCON file.

    Raises:
        ConfigError: If the file is absent, broken, or contains a wrong entry.
    """
    tree = parse_hocon(read_text(path), path)
    if "entries" not in tree:
        raise ConfigError(f"{path}: has no key 'entries'; it has {counted(len(tree), 'key')}.")
    # Other keys of the file are variables for substitutions.
    conf = validate({"entries": tree["entries"]}, _ConfFile, str(path))
    return tuple(
        parse_entry(
            entry.description,
            where=f"{path}{INDEX_MARK}{index}]",
            priority=entry.priority,
            groups=entry.groups,
        )
        for index, entry in enumerate(conf.entries)
    )


def load_confs(paths: Iterable[Path]) -> tuple[RunEntry, ...]:
    """Reads several HOCON files, one after the other."""
    return tuple(entry for path in paths for entry in load_conf(path))


def up_to_priority(entries: Iterable[RunEntry], priority: int | None) -> tuple[RunEntry, ...]:
    """The entries whose priority is at most `priority`; those without one remain."""
    return tuple(
        entry
        for entry in entries
        if priority is None or entry.priority is None or entry.priority <= priority
    )


def conf_folder(entry: RunEntry) -> Path | None:
    """The folder of the file that an entry comes from, None for the command line."""
    file, mark, _ = entry.where.rpartition(INDEX_MARK)
    return Path(file).parent if mark else None


def without_model(text: str) -> str:
    """A run entry without the model or deployment that it names.

    >>> without_model("pubmed_qa:model=acme/m,max_eval_instances=3")
    'pubmed_qa:max_eval_instances=3'
    """
    name, _, rest = text.partition(":")
    parts = [part for part in rest.split(",") if part.partition("=")[0].strip() not in MODEL_KEYS]
    return f"{name}:{','.join(parts)}" if any(parts) else name
