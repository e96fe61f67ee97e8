"""The columns of a Delta table by its folder, without Spark or a JVM."""

from pathlib import Path

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.location import Location


def delta_columns(table: str) -> tuple[str, ...] | None:
    """The columns of a Delta folder of this machine, in their order.

    None where only Spark can tell: in an object store, whose login is Spark's, and of a table that
    the reader without a JVM does not know how to open.

    Raises:
        LakeError: there is no Delta table.
    """
    location = Location.of(table)
    if not location.is_folder:
        return None
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    if not Path(location.name, "_delta_log").is_dir():
        raise LakeError(f"table {table!r}: there is no Delta table in this folder.")
    try:
        fields = DeltaTable(location.name).schema().fields
    except (DeltaError, OSError):
        return None
    return tuple(field.name for field in fields)
