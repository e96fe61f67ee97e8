"""Looks up a key by its reference on the machine that uses it; a deployment never has one.

env:NAME            the environment variable NAME
secret:SCOPE/KEY    the variable MEDHELM_SPARK_SECRET_<SCOPE>_<KEY> (upper case, other characters
                    as _), else the Databricks secret scope where the platform offers one
credentials:FILE#KEY  the entry KEY of a MedHELM `credentials.conf` (HOCON); `deployments:NAME` is
                    the entry NAME of its map `deployments`
file:PATH           the text of that file
"""

import importlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.hocon import parse_hocon

SECRET_VARIABLE = "MEDHELM_SPARK_SECRET_"
PLATFORM = "DATABRICKS_RUNTIME_VERSION"
REFERENCE = re.compile(r"(env|secret|credentials|file):\S.*")
FORMS = "env:NAME, file:PATH, secret:SCOPE/KEY or credentials:FILE#KEY"


def is_reference(value: str) -> bool:
    """Whether a setting refers to a key instead of being one."""
    return REFERENCE.fullmatch(value) is not None


def references_in(args: Mapping[str, Any]) -> tuple[str, ...]:
    """The references to keys in a deployment's arguments, those of its headers too."""
    nested = [
        value for value in map(args.get, ("api_key", "headers")) if isinstance(value, Mapping)
    ]
    values = [*args.values(), *(value for each in nested for value in each.values())]
    return tuple(value for value in values if isinstance(value, str) and is_reference(value))


def resolve(reference: str, *, where: str) -> str:
    """The key behind a reference, without white space around it: secrets often end with a line.

    Raises:
        SetupError: no such key, one that no header may carry, a broken file, or `reference` is
            none; no key is ever shown.
    """
    if not is_reference(reference):
        raise SetupError(f"{where}: a key is given by reference ({FORMS}), never written out.")
    scheme, _, name = reference.partition(":")
    if scheme == "env":
        key, cure = os.environ.get(name), f"set the environment variable {name}"
    elif scheme == "secret":
        variable = secret_variable(name)
        key = os.environ.get(variable) or _from_scope(name)
        cure = f"set the environment variable {variable} on driver and executors"
    elif scheme == "file":
        key, cure = _text_of(Path(name)), "write the key into that file, readable on every executor"
    else:
        key = _from_file(name, where)
        cure = "add the key, in quotes, to that file, readable on every executor"
    key = (key or "").strip()
    if not key:
        raise SetupError(f"{where}: no key found for {reference}; {cure}.")
    if not key.isprintable():
        raise SetupError(
            f"{where}: the key found for {reference} has {len(key)} characters, and one in its "
            "middle is a line break or cannot be printed; allowed: one line of printable "
            "characters."
        )
    return key


def secret_variable(name: str) -> str:
    """The environment variable of the secret SCOPE/KEY.

    >>> secret_variable("llm/gpt-4o")
    'MEDHELM_SPARK_SECRET_LLM_GPT_4O'
    """
    return SECRET_VARIABLE + re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def _from_scope(name: str) -> str | None:
    if PLATFORM not in os.environ:
        # Elsewhere the same import searches the network for a workspace to log in to.
        return None
    scope, _, key = name.partition("/")
    try:
        dbutils = importlib.import_module("databricks.sdk.runtime").dbutils
        return str(dbutils.secrets.get(scope=scope, key=key))
    except Exception:
        # The platform's error types cannot be imported here, and their text may say too much.
        return None


def _text_of(path: Path) -> str | None:
    """The key that is a file's whole text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _from_file(location: str, where: str) -> str | None:
    """The text beside a key; a number is none, since HOCON reads 0123 and 1e3 as other numbers."""
    file, _, key = location.rpartition("#")
    path = Path(file)
    try:
        values = parse_hocon(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError):
        return None
    except ConfigError as error:
        raise SetupError(f"{where}: {error}") from None
    table, is_nested, name = key.partition(":")
    entries = values.get(table) if is_nested else values
    value = entries.get(name if is_nested else key) if isinstance(entries, Mapping) else None
    return value if isinstance(value, str) else None
