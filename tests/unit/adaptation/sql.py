"""SQL expressions evaluated without Spark, by the engine of the lake's reader."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def evaluated(folder: Path, expression: str, **columns: Any) -> Any:
    """The value of an expression over one row of these columns."""
    table = str(folder / "row")
    write_deltalake(table, pa.table({name: [value] for name, value in columns.items()}))
    query = QueryBuilder().register("row", DeltaTable(table))
    (value,) = pa.table(query.execute(f"SELECT {expression} AS value FROM row"))["value"]
    return value.as_py()
