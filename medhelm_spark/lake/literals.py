"""Ids and conditions as SQL text, alike in Spark SQL and DataFusion."""

import re
from collections.abc import Collection, Iterable, Sequence

from medhelm_spark.errors import LakeError

# Spark SQL and DataFusion read a backslash in a literal differently: nothing that needs escaping.
_PLAIN = re.compile(r"[\w.-]{0,128}", re.ASCII)
_UNESCAPED = re.compile(r"[\w.:/@+ -]*", re.ASCII)


def literal(name: str) -> str:
    """An id, or a name that this package gave, as an SQL literal.

    >>> literal("3f2a")
    "'3f2a'"

    Raises:
        LakeError: It has a character that would need escaping.
    """
    if not _PLAIN.fullmatch(name):
        raise LakeError(
            f"an id of {len(name)} characters cannot be looked up: letters, digits, '_', '-' and "
            "'.' are allowed, up to 128."
        )
    return f"'{name}'"


def among(column: str, names: Iterable[str]) -> str:
    """The condition that a column is one of some names; `true` where one would need escaping.

    For a filter that saves reading and is no part of the answer.

    >>> among("model_deployment", ["acme/m:8b"])
    "model_deployment IN ('acme/m:8b')"
    >>> among("model_deployment", ["it's"])
    'true'
    """
    listed = sorted(set(names))
    if not all(map(_UNESCAPED.fullmatch, listed)):
        return "true"
    return f"{column} IN ({', '.join(map(repr, listed)) or 'NULL'})"


def between(column: str, names: Collection[str]) -> str:
    """The condition that a column is from the first to the last of some names; see `among`.

    >>> between("run_spec_id", ["b", "a", "c"])
    "run_spec_id BETWEEN 'a' AND 'c'"
    """
    ends = [min(names), max(names)] if names else []
    if not ends or not all(map(_UNESCAPED.fullmatch, ends)):
        return "true"
    return f"{column} BETWEEN '{ends[0]}' AND '{ends[1]}'"


def any_of(conditions: Sequence[str]) -> str:
    """Conditions joined by OR, as a tree: a chain of thousands is deeper than an engine's stack.

    >>> any_of(["a", "b", "c"])
    '(a) OR (b OR c)'
    >>> any_of([])
    'false'
    """
    if len(conditions) <= 2:
        return " OR ".join(conditions) or "false"
    middle = len(conditions) // 2
    return f"({any_of(conditions[:middle])}) OR ({any_of(conditions[middle:])})"


def literals(names: Iterable[str]) -> str:
    """Literals for `IN (...)`; NULL, which equals nothing, where there is no name.

    >>> literals(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(map(literal, sorted(set(names)))) or "NULL"
