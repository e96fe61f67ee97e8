"""The ratings that count: the newest row of each key."""

from collections.abc import Sequence

from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.tables import KEY, Rating

_NEWEST = """
SELECT * FROM (SELECT *, row_number() OVER (
        PARTITION BY {key} ORDER BY rated_at DESC, write_id DESC) AS age
      FROM {{ratings}} WHERE run_spec_id IN ({units})) r
WHERE age = 1
"""


def stored_ratings(reader: Reader, run_spec_ids: Sequence[str]) -> list[Rating]:
    """The ratings of these runs' answers that count, in the order of their keys."""
    if not run_spec_ids:
        return []
    sql = _NEWEST.format(key=", ".join(KEY), units=literals(run_spec_ids))
    rows: list[Rating] = reader.rows(sql, Rating)
    return sorted(rows, key=lambda row: tuple(getattr(row, name) for name in KEY))
