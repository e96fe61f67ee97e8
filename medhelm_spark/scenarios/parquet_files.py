"""Parquet files, read in batches."""

from collections.abc import Iterator, Mapping
from typing import Any

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.tables import CheckColumns, RawFile

BATCH_ROWS = 1024


def read_parquet(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Parquet file; nulls are absent values.

    Raises:
        DataError: the file is not Parquet or is cut off.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file.stream)
        check(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=BATCH_ROWS):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file.path}: not a readable Parquet file ({type(error).__name__})."
        ) from None
