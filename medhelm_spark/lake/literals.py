"""Ids as SQL literals, alike in Spark SQL and DataFusion."""

import re
from collections.abc import Iterable

from medhelm_spark.errors import LakeError

# Spark SQL and DataFusion read a backslash in a literal differently: nothing that needs escaping.
_PLAIN = re.compile(r"[\w.-]{0,128}", re.ASCII)


def literal(name: str) -> str:
    """An id, or a name that this package gave, as an SQL literal.

    >>> literal("3f2a")
    "'3f2a'"

    Raises:
        LakeError: It holds a character that would need escaping.
    """
    if not _PLAIN.fullmatch(name):
        raise LakeError(
            f"an id of {len(name)} characters cannot be looked up: letters, digits, '_', '-' and "
            "'.' are allowed, up to 128."
        )
    return f"'{name}'"


def literals(names: Iterable[str]) -> str:
    """Literals for `IN (...)`; NULL, which equals nothing, where there is no name.

    >>> literals(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(map(literal, sorted(set(names)))) or "NULL"
