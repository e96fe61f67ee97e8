"""Parquet and Feather files, read in batches."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.archives import seekable
from medhelm_spark.scenarios.records import BadReason, column_of
from medhelm_spark.scenarios.tables import CheckColumns, RawFile

BATCH_ROWS = 1024
BATCH_BYTES = 16 << 20


def read_parquet(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Parquet file; nulls are absent values.

    Raises:
        DataError: the file is not Parquet, is cut off, holds text that is not UTF-8, or names a
            column twice.
    """
    with _readable(file, "Parquet"):
        table = _opened(file)
        check_names(file.path, table.schema_arrow.names)
        check(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=_batch_rows(table)):
            yield from batch.to_pylist()


def read_stripe(
    file: RawFile, check: CheckColumns, wanted: Sequence[str], *, stripe: int, stripes: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Every so many of a Parquet file's row groups: the rows' numbers from 1, and some columns.

    Raises:
        DataError: as `read_parquet`.
    """
    with _readable(file, "Parquet"):
        table = _opened(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        columns = sorted({name for each in wanted if (name := column_of(names, each))})
        first = 1
        for group in range(table.num_row_groups):
            if group % stripes == stripe:
                batches = table.iter_batches(
                    _batch_rows(table), row_groups=[group], columns=columns
                )
                rows = (row for batch in batches for row in batch.to_pylist())
                yield from enumerate(rows, first)
            first += table.metadata.row_group(group).num_rows


def read_feather(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Feather file (version 2, which is an Arrow file); nulls are absent values.

    Raises:
        DataError: as `read_parquet`.
    """
    import pyarrow as pa

    with _readable(file, "Feather"), pa.ipc.open_file(seekable(file.stream)) as table:
        check_names(file.path, table.schema.names)
        check(table.schema.names)
        for number in range(table.num_record_batches):
            yield from table.get_batch(number).to_pylist()


def check_names(path: str, names: Sequence[str]) -> None:
    """Refuse a table with two columns of one name: a row would lose one of them.

    Raises:
        DataError: a name stands twice.
    """
    places = [place for place, name in enumerate(names, 1) if name in names[: place - 1]]
    if places:
        raise DataError(
            f"{path}: a column name stands twice (column {', '.join(map(str, places))})."
        )


def _opened(file: RawFile) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(seekable(file.stream), page_checksum_verification=True)


def _batch_rows(table: Any) -> int:
    """Fewer rows at a time where they are long: a record may be a megabyte."""
    groups = [table.metadata.row_group(place) for place in range(table.num_row_groups)]
    rows, size = sum(one.num_rows for one in groups), sum(one.total_byte_size for one in groups)
    fitting: int = BATCH_BYTES * rows // (size + 1)
    return max(1, min(BATCH_ROWS, fitting))


@contextmanager
def _readable(file: RawFile, kind: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{file.path}: holds text that is not UTF-8; write it anew.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file.path}: not a readable {kind} file ({type(error).__name__}); is it cut off?"
        ) from None
