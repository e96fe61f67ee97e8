"""A Delta table by its folder, without Spark or a JVM: its columns, and the values of one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.reader import REFUSED_NAMES

if TYPE_CHECKING:
    from deltalake import DeltaTable


def delta_columns(table: str) -> tuple[str, ...] | None:
    """The columns of a Delta folder of this machine, in their order.

    None where only Spark can read them: in an object store, whose login is Spark's, and of a table
    that the reader without a JVM cannot open.

    Raises:
        LakeError: there is no Delta table.
    """
    opened = _opened(table, None)
    return None if opened is None else tuple(field.name for field in opened.schema().fields)


def delta_values(table: str, column: str, version: str | None) -> list[Any] | None:
    """The different values of a column of a Delta folder, the newest version's where none is named.

    None as of `delta_columns`, and where the table has no such column.

    Raises:
        LakeError: there is no Delta table.
    """
    opened = _opened(table, version)
    if opened is None or column not in {field.name for field in opened.schema().fields}:
        return None
    import pyarrow as pa
    from deltalake import QueryBuilder

    name = column.replace('"', '""')
    builder = QueryBuilder().register("given", opened)
    try:
        batches = builder.execute(f'SELECT DISTINCT "{name}" AS value FROM given')
        read = pa.RecordBatchReader.from_stream(batches).read_all()
    except Exception:  # the engine has no class of its own for what it cannot read
        return None
    values: list[Any] = read["value"].to_pylist()
    return values


def _opened(table: str, version: str | None) -> "DeltaTable | None":
    location = Location.of(table)
    if not location.is_folder or REFUSED_NAMES.search(location.name):
        return None
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    if not Path(location.name, "_delta_log").is_dir():
        raise LakeError(f"table {table!r}: there is no Delta table in this folder.")
    try:
        return DeltaTable(location.name, version=int(version) if version else None)
    except (DeltaError, OSError):
        return None
