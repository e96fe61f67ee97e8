"""A condition on a table's rows, and the files that by their statistics may have such rows."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from medhelm_spark.lake.literals import any_of, literal, literals
from medhelm_spark.lake.tables import WRITE_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCondition:
    """Which rows of a table are requested: `sql`, alike in Spark SQL and DataFusion.

    `values` are the only ones that these columns have in such rows: a file whose smallest and
    largest value exclude all of them has no such row. `at_most` is how many rows can meet it in any
    table, where that is known; an estimate will do.
    """

    sql: str
    values: Mapping[str, Collection[str]] = field(default_factory=dict)
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFiles:
    """What files with requested rows have: rows, where that is known, and bytes."""

    rows: int | None
    size: int


def one_of(column: str, names: Collection[str], at_most: int | None = None) -> RowCondition:
    """The rows whose column is one of some ids.

    >>> one_of("unit_id", ["b", "a"]).sql
    "unit_id IN ('a', 'b')"
    """
    return RowCondition(
        sql=f"{column} IN ({literals(names)})", values={column: names}, at_most=at_most
    )


def of_writes(column: str, pairs: Iterable[tuple[str, str]]) -> RowCondition:
    """The rows whose write and column are one of some pairs.

    >>> of_writes("run_spec_id", [("w", "b"), ("w", "a")]).sql
    "(write_id = 'w' AND run_spec_id IN ('a', 'b'))"
    """
    written: dict[str, set[str]] = {}
    for write_id, name in pairs:
        written.setdefault(write_id, set()).add(name)
    sql = any_of(
        [
            f"({WRITE_ID} = {literal(write_id)} AND {column} IN ({literals(names)}))"
            for write_id, names in sorted(written.items())
        ]
    )
    named = set[str]().union(*written.values())
    return RowCondition(sql=sql, values={WRITE_ID: list(written), column: sorted(named)})


def files_with(files: pa.Table, values: Mapping[str, Collection[str]]) -> Sequence[int]:
    """The indices of the files that may contain rows with these values, by their statistics.

    `files` are Delta's actions, flat. A file or column without statistics may contain anything.
    """
    indices: Sequence[int] = range(files.num_rows)
    for column, allowed in values.items():
        names = [f"{bound}.{column}" for bound in ("min", "max")]
        if not set(names) <= set(files.column_names):
            continue
        low, high = (files[name].to_pylist() for name in names)
        ordered = sorted(set(allowed))
        indices = [index for index in indices if _may_contain(low[index], high[index], ordered)]
    return indices


def _may_contain(low: str | None, high: str | None, ordered: Sequence[str]) -> bool:
    if low is None or high is None:
        return True
    index = bisect_left(ordered, low)
    return index < len(ordered) and ordered[index] <= high
