"""What the queries of a board share: ids as SQL literals, and one stat out of stored scores."""

import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

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


def stat_column(scores: pa.Table, name: str) -> pa.Table:
    """The rows of `scores` that have this stat, with its `value` and `status` in place of `stats`.

    `scores` has the column `stats` of `per_instance_stats`; its other columns are kept.
    """
    stats = scores.column("stats").combine_chunks()
    flat = stats.flatten()
    is_named = pc.equal(flat.field("name"), name)
    rows = scores.drop_columns(["stats"]).take(pc.list_parent_indices(stats).filter(is_named))
    rows = rows.append_column("value", flat.field("value").filter(is_named))
    return rows.append_column("status", flat.field("status").filter(is_named))
