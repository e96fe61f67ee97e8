"""Parquet and Feather files, read in batches."""

from collections.abc import Iterator, Mapping
from typing import Any

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.archives import seekable
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
        table = parquet.ParquetFile(seekable(file.stream))
        check(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=BATCH_ROWS):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file.path}: not a readable Parquet file ({type(error).__name__})."
        ) from None


def read_feather(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Feather file (version 2, which is an Arrow file); nulls are absent values.

    Raises:
        DataError: the file is not Feather or is cut off.
    """
    import pyarrow as pa

    try:
        with pa.ipc.open_file(seekable(file.stream)) as table:
            check(table.schema.names)
            for number in range(table.num_record_batches):
                yield from table.get_batch(number).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file.path}: not a readable Feather file ({type(error).__name__})."
        ) from None
