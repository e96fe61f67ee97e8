"""Files of typed tables: Parquet and Feather, read in batches, and Excel workbooks.

Of a workbook the first sheet is read, with its first row as the header.
"""

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO, Self

from medhelm_spark.errors import DataError, SetupError
from medhelm_spark.scenarios.parquet_pages import group_size
from medhelm_spark.scenarios.raw_files import (
    SHOWN_COLUMNS,
    CheckColumns,
    RawFile,
    repeated,
    seekable,
)
from medhelm_spark.scenarios.records import BadReason, column_of
from medhelm_spark.scenarios.unpacking import Allowance, Count, check_parts, size_of

BATCH_ROWS = 1024
BATCH_BYTES = 16 << 20
NUMBER_BYTES = 8
ROW_BYTES = 8
"""What a row counts beside its values: rows of nothing by the billion cost as well."""
SHARED = re.compile("dictionary<|view|run_end")
"""Arrow types where many rows, or parts of a row, may share the same bytes."""
WRITE_ANEW = "write it anew as csv or JSON lines"
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
        DataError: the file is not Parquet, is cut off, holds text that is not UTF-8, names a
            column twice, or grows beyond what `unpacking` allows.
    """
    with _readable_arrow(file, "Parquet"):
        stream, table = _parquet(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        counts = _Counts.of(file, stream)
        for group in range(table.num_row_groups):
            yield from _group_rows(stream, table, group, names, counts)


def read_row_groups(
    file: RawFile, check: CheckColumns, wanted: Sequence[str], *, partition: int, partitions: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The `wanted` columns of every `partitions`-th row group of a Parquet file.

    Yields each row with its number in the file, from 1.

    Raises:
        DataError: as `read_parquet`.
    """
    with _readable_arrow(file, "Parquet"):
        stream, table = _parquet(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        columns = sorted({column for name in wanted if (column := column_of(names, name))})
        counts = _Counts.of(file, stream)
        first = 1
        for group in range(table.num_row_groups):
            if group % partitions == partition:
                yield from enumerate(_group_rows(stream, table, group, columns, counts), first)
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


@dataclass(frozen=True, slots=True)
class _Counts:
    """Bytes of a file's pages, and of the rows that were made of them."""

    pages: Count
    rows: Count

    @classmethod
    def of(cls, file: RawFile, stream: BinaryIO) -> Self:
        allowance = Allowance(path=file.path, compressed=size_of(stream), cure=WRITE_ANEW)
        return cls(Count(allowance), Count(allowance))


def _parquet(file: RawFile) -> tuple[BinaryIO, Any]:
    from pyarrow import parquet

    stream = seekable(file.stream)
    return stream, parquet.ParquetFile(stream, page_checksum_verification=True)


def _group_rows(
    stream: BinaryIO, table: Any, group: int, columns: Sequence[str], counts: _Counts
) -> Iterator[Mapping[str, Any]]:
    """The rows of a row group, fewer at a time where they are long: a record may be a megabyte."""
    size = group_size(stream, table, group, columns, most=counts.pages.left)
    counts.pages.add(size.pages)
    if max(size.row, size.lists) > counts.rows.allowance.limit:
        raise counts.rows.allowance.error()
    rows = max(1, table.metadata.row_group(group).num_rows)
    fitting = BATCH_BYTES // (size.row + size.pages // rows + 1)
    batch_rows = max(1, min(BATCH_ROWS, fitting))
    for batch in table.iter_batches(batch_rows, row_groups=[group], columns=columns):
        yield from _rows(batch, counts.rows)


def _rows(batch: Any, count: Count) -> Iterator[Mapping[str, Any]]:
    """The rows of a record batch, counted before they are held as Python values."""
    if any(SHARED.search(str(field.type)) for field in batch.schema):
        for number in range(batch.num_rows):
            count.add(ROW_BYTES)
            yield {name: _value(batch[name][number], count) for name in batch.schema.names}
        return
    count.add(batch.nbytes + batch.num_rows * (batch.num_columns + ROW_BYTES))
    yield from batch.to_pylist()


def _value(scalar: Any, count: Count) -> Any:
    """An Arrow value that may stand in many rows at once, counted part by part as it is made."""
    import pyarrow as pa

    if isinstance(scalar, pa.DictionaryScalar | pa.ExtensionScalar | pa.RunEndEncodedScalar):
        return _value(scalar.value, count) if scalar.is_valid else None
    if isinstance(scalar, pa.StructScalar) and scalar.is_valid:
        return {name: _value(scalar[name], count) for name in scalar}
    if isinstance(scalar, pa.ListScalar) and scalar.is_valid:
        values = [_value(value, count) for value in scalar.values]
        is_map = isinstance(scalar, pa.MapScalar)
        return [tuple(value.values()) for value in values] if is_map else values
    value = scalar.as_py()
    count.add(len(value) if isinstance(value, str | bytes) else NUMBER_BYTES)
    return value


@contextmanager
def _readable_arrow(file: RawFile, kind: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{file.path}: holds text that is not UTF-8; write it anew.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
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
