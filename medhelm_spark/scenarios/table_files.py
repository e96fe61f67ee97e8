"""Files of typed tables: Parquet and Feather, read in batches, and Excel workbooks.

Of a workbook the first sheet is read, with its first row as the header.
"""

import datetime
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from medhelm_spark.errors import DataError, SetupError
from medhelm_spark.scenarios.raw_files import (
    SHOWN_COLUMNS,
    CheckColumns,
    RawFile,
    repeated,
    seekable,
)
from medhelm_spark.scenarios.records import BadReason, column_of
from medhelm_spark.scenarios.unpacking import check_parts, size_of

BATCH_ROWS = 1024
BATCH_BYTES = 16 << 20
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    SyntaxError,  # which broken XML is
    LookupError,
    ValueError,
    EOFError,
    OSError,
)
"""What openpyxl raises for a workbook that is cut off or damaged."""


def read_parquet(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Parquet file; nulls are absent values.

    Raises:
        DataError: the file is not Parquet, is cut off, holds text that is not UTF-8, or names a
            column twice.
    """
    with _readable_arrow(file, "Parquet"):
        table = _parquet(file)
        check_names(file.path, table.schema_arrow.names)
        check(table.schema_arrow.names)
        for batch in table.iter_batches(batch_size=_batch_rows(table)):
            yield from batch.to_pylist()


def read_row_groups(
    file: RawFile, check: CheckColumns, wanted: Sequence[str], *, partition: int, partitions: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The `wanted` columns of every `partitions`-th row group of a Parquet file.

    Yields each row with its number in the file, from 1.

    Raises:
        DataError: as `read_parquet`.
    """
    with _readable_arrow(file, "Parquet"):
        table = _parquet(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        columns = sorted({column for name in wanted if (column := column_of(names, name))})
        first = 1
        for group in range(table.num_row_groups):
            if group % partitions == partition:
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

    with _readable_arrow(file, "Feather"), pa.ipc.open_file(seekable(file.stream)) as table:
        check_names(file.path, table.schema.names)
        check(table.schema.names)
        for number in range(table.num_record_batches):
            yield from table.get_batch(number).to_pylist()


def check_names(path: str, names: Sequence[str]) -> None:
    """Refuse a table with two columns of one name: a row would lose one of them.

    Raises:
        DataError: a name stands twice.
    """
    if numbers := repeated(names):
        twice = ", ".join(map(str, numbers[:SHOWN_COLUMNS]))
        raise DataError(f"{path}: a column name stands twice (column {twice}).")


def _parquet(file: RawFile) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(seekable(file.stream), page_checksum_verification=True)


def _batch_rows(table: Any) -> int:
    """Fewer rows at a time where they are long: a record may be a megabyte."""
    groups = [table.metadata.row_group(number) for number in range(table.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    size = sum(group.total_byte_size for group in groups)
    fitting: int = BATCH_BYTES * rows // (size + 1)
    return max(1, min(BATCH_ROWS, fitting))


@contextmanager
def _readable_arrow(file: RawFile, kind: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{file.path}: holds text that is not UTF-8; write it anew.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file.path}: not a readable {kind} file ({type(error).__name__}); is it cut off?"
        ) from None


def read_xlsx(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a workbook's first sheet, row by row; a row of empty cells is passed over.

    A whole number is given without a decimal point, as Excel shows it; an empty cell is absent.

    Raises:
        SetupError: the package `openpyxl` is absent.
        DataError: the file is no workbook, is cut off, or is empty.
    """
    openpyxl = _openpyxl(file)
    with _readable_workbook(file):
        stream = seekable(file.stream)
        with zipfile.ZipFile(stream) as document:
            check_parts(file.path, document, size_of(stream))
        stream.seek(0)
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        with closing(book):
            rows = book.worksheets[0].iter_rows(values_only=True)
            header = _header(file, next(rows, ()))
            check([name for name in header if name is not None])
            for cells in rows:
                if any(cell is not None for cell in cells):
                    yield _row(header, cells)


def _openpyxl(file: RawFile) -> Any:
    try:
        return import_module("openpyxl")
    except ImportError:
        raise SetupError(
            f"{file.path}: Excel files need the package `openpyxl`; install 'medhelm-spark[excel]' "
            "or save the sheet as csv."
        ) from None


@contextmanager
def _readable_workbook(file: RawFile) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise DataError(
            f"{file.path}: not a readable Excel workbook ({type(error).__name__}); is it cut off?"
        ) from None


def _header(file: RawFile, cells: Sequence[object]) -> list[str | None]:
    names = [None if cell is None else str(cell).strip() for cell in cells]
    given = [name for name in names if name]
    if not given:
        raise DataError(f"{file.path}: the first sheet is empty; its first row names the columns.")
    if len(set(given)) < len(given):
        raise DataError(f"{file.path}: the first row gives a column name twice.")
    return [name or None for name in names]


def _row(header: Sequence[str | None], cells: Sequence[Any]) -> dict[str, Any]:
    return {
        name: _plain_cell(cell)
        for name, cell in zip(header, cells, strict=False)
        if name is not None and cell is not None
    }


def _plain_cell(cell: Any) -> Any:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return str(cell) if isinstance(cell, datetime.timedelta) else cell
