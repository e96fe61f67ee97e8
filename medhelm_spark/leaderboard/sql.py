"""Names as SQL literals, in the part of the language that Spark SQL and DataFusion share."""

import re
from collections.abc import Iterable

from medhelm_spark.errors import LakeError

# The two dialects read a backslash in a literal differently, so names from users stay out of SQL.
_PLAIN = re.compile(r"[\w.-]{0,128}", re.ASCII)


def literal(name: str) -> str:
    """An id or a name of the house as a literal; LakeError for anything that needs escaping.

    >>> literal("3f2a")
    "'3f2a'"
    """
    if not _PLAIN.fullmatch(name):
        raise LakeError(
            f"an id of {len(name)} characters cannot be looked up: letters, digits, '_', '-' and "
            "'.' are allowed, up to 128."
        )
    return f"'{name}'"


def among(names: Iterable[str]) -> str:
    """The inside of `IN (...)`; of nothing where there is no name.

    >>> among(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(map(literal, sorted(set(names)))) or "NULL"
