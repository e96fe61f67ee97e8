"""The runs of a release in parts, so that a process without Spark has few of their rows at once."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.literals import literals

ROWS_AT_ONCE = 100_000
"""How many rows the runs of a part have together, if it is not one run."""

_SIZES = """
SELECT run_spec_id, CAST(count(*) AS BIGINT) AS rows FROM {{{table}}}
WHERE run_spec_id IN ({units}) GROUP BY run_spec_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    run_spec_id: str
    rows: int


def parts_of(lake: Lake, table: str, units: Collection[str]) -> Iterator[set[str]]:
    """The runs in order, parted by the rows that they have in a table; by Spark in one part.

    Runs whose ids follow on each other lie together in a table that is sorted by them.
    """
    if not lake.is_in_process:
        yield set(units)
        return
    sql = _SIZES.format(table=table, units=literals(units))
    sizes = {size.run_spec_id: size.rows for size in lake.rows(sql, _Size)}
    part, rows = set[str](), 0
    for unit in sorted(units):
        if part and rows + sizes.get(unit, 0) > ROWS_AT_ONCE:
            yield part
            part, rows = set(), 0
        part.add(unit)
        rows += sizes.get(unit, 0)
    if part:
        yield part
