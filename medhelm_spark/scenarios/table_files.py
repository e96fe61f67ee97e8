"""Files of typed tables: Parquet and Feather, read in batches, and Excel workbooks."""

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from typing import Any, BinaryIO, Self

from medhelm_spark.delimited import HEADER_ROWS, header_row, names_all
from medhelm_spark.domain.columns import SHOWN_COLUMNS, listed_columns, shown_column
from medhelm_spark.errors import DataError, MissingColumnError, SetupError
from medhelm_spark.scenarios.parquet_pages import group_size
from medhelm_spark.scenarios.raw_files import (
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
ERROR = "e"
"""The type of a cell that shows an error."""
ZEROS = re.compile("00+")
"""The format of numbers that Excel shows with leading zeros, as those of records."""
SHOWN_SHEETS = 20
WRITE_ANEW = "write it anew as csv or JSON lines"
NO_VALUE = (OverflowError, ValueError, LookupError, ImportError)
"""What Arrow raises for a value that Python has none for, as a day in the year 10000."""
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
        DataError: the file is not Parquet, is cut off, has text that is not UTF-8, names a
            column twice, or grows beyond what `unpacking` allows.
    """
    with _readable_arrow(file, "Parquet"):
        stream, table = _parquet(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        counts = _Counts.of(file, stream)
        for group in range(table.num_row_groups):
            yield from _group_rows(file, stream, table, group, names, counts)


def read_row_groups(
    file: RawFile, check: CheckColumns, requested: Sequence[str], *, partition: int, partitions: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The `requested` columns of every `partitions`-th row group of a Parquet file.

    Yields each row with its number in the file, from 1.

    Raises:
        DataError: as `read_parquet`.
    """
    with _readable_arrow(file, "Parquet"):
        stream, table = _parquet(file)
        names = table.schema_arrow.names
        check_names(file.path, names)
        check(names)
        columns = sorted({column for name in requested if (column := column_of(names, name))})
        counts = _Counts.of(file, stream)
        first = 1
        for group in range(table.num_row_groups):
            if group % partitions == partition:
                yield from enumerate(
                    _group_rows(file, stream, table, group, columns, counts), first
                )
            first += table.metadata.row_group(group).num_rows


def read_feather(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a Feather file (version 2, which is an Arrow file); nulls are absent values.

    Raises:
        DataError: as `read_parquet`.
    """
    import pyarrow as pa

    stream = seekable(file.stream)
    with _readable_arrow(file, "Feather"), pa.ipc.open_file(stream) as table:
        check_names(file.path, table.schema.names)
        check(table.schema.names)
        allowance = Allowance(path=file.path, compressed=size_of(stream), cure=WRITE_ANEW)
        count = Count(allowance)
        for number in range(table.num_record_batches):
            yield from _rows(table.get_batch(number), count, file)


def check_names(path: str, names: Sequence[str]) -> None:
    """Refuse a table with two columns of one name: a row would lose one of them.

    Raises:
        DataError: a name occurs twice.
    """
    if numbers := repeated(names):
        twice = ", ".join(map(str, numbers[:SHOWN_COLUMNS]))
        raise DataError(f"{path}: a column name occurs twice (column {twice}).")


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
    file: RawFile,
    stream: BinaryIO,
    table: Any,
    group: int,
    columns: Sequence[str],
    counts: _Counts,
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
        yield from _rows(batch, counts.rows, file)


class UnreadableFile:
    """A value that Python cannot represent, in a column that no reader needs."""


def _rows(batch: Any, count: Count, file: RawFile) -> Iterator[Mapping[str, Any]]:
    """The rows of a record batch, counted before they become Python values.

    Raises:
        DataError: a needed column has a value that Python cannot represent.
    """
    names = batch.schema.names
    own = [column.nbytes for column in batch if not _is_shared(column)]
    count.add(sum(own) + batch.num_rows * (len(own) + ROW_BYTES))
    needed = {column_of(names, name) for name in file.required}
    columns: list[Iterable[Any]] = []
    for number, (name, column) in enumerate(zip(names, batch, strict=True), 1):
        try:
            columns.append(_shared(column, count) if _is_shared(column) else _values(column))
        except UnicodeDecodeError:
            raise
        except NO_VALUE as error:
            if name in needed:
                raise DataError(
                    f"{file.path}: column {shown_column(number, name)} of type {column.type} has "
                    f"a value that cannot be read ({type(error).__name__}); write it as text."
                ) from None
            columns.append([UnreadableFile()] * len(column))
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _is_shared(column: Any) -> bool:
    return SHARED.search(str(column.type)) is not None


def _shared(column: Any, count: Count) -> Iterator[Any]:
    return (_value(scalar, count) for scalar in column)


def _values(column: Any) -> list[Any]:
    """The values of a column: moments in UTC, for which no table of time zones is needed.

    A number of 32 bits is the shortest that gives it: 0.1 and not 0.10000000149011612.
    """
    import numpy as np
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        column = column.view(pa.int64()).view(pa.timestamp(kind.unit))
        column = column.cast(pa.timestamp("us"), safe=False)
    elif pa.types.is_time64(kind):
        column = column.cast(pa.time64("us"), safe=False)
    values: list[Any] = column.to_pylist()
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        return [None if each is None else float(str(np.float32(each))) for each in values]
    return values


def _value(scalar: Any, count: Count) -> Any:
    """An Arrow value that may be in many rows at once, counted part by part as it is made."""
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
        raise DataError(f"{file.path}: has text that is not UTF-8; write it anew.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{file.path}: not a readable {kind} file ({type(error).__name__}); is it cut off?"
        ) from None


def read_xlsx(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a workbook's sheet, row by row; a row of empty cells is passed over.

    The size that the sheet states is not used: many programs write a wrong one. A whole number is
    read without a decimal point and with its leading zeros, as Excel shows it, a day without a time
    of day; an empty cell and an error, as #N/A, are absent.

    Raises:
        SetupError: the package `openpyxl` is absent.
        DataError: the file is no workbook, is cut off, lacks the sheet, or is empty.
    """
    openpyxl = _openpyxl(file)
    with _readable_workbook(file):
        stream = seekable(file.stream)
        with zipfile.ZipFile(stream) as document:
            check_parts(file.path, document, size_of(stream))
        stream.seek(0)
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        with closing(book):
            sheet = _sheet(file, book)
            sheet.reset_dimensions()
            rows = filter(any_value, map(_plain_cells, sheet.iter_rows()))
            head = list(islice(rows, HEADER_ROWS))
            names = [[_name(cell) for cell in cells] for cells in head]
            above = header_row(names, names_all(file.required)) or 0
            header = _header(file, names[above] if head else ())
            if above:
                file.report(f"column names in row {above + 1}")
            with _naming_sheet(file, book):
                check([name for name in header if name])
            for cells in chain(head[above + 1 :], rows):
                yield _row(header, cells)


def any_value(cells: Sequence[object]) -> bool:
    """Whether one of the cells is there."""
    return any(cell is not None for cell in cells)


def _sheet(file: RawFile, book: Any) -> Any:
    """The sheet that is named, else the first; one of a chart alone has no cells."""
    title, sheets = file.source.sheet, book.worksheets
    if title is None:
        if len(sheets) > 1:
            file.report(f"the first of {len(sheets)} sheets")
        return sheets[0]
    for sheet in sheets:
        if sheet.title == title:
            return sheet
    allowed = listed_columns([sheet.title for sheet in sheets], SHOWN_SHEETS)
    raise DataError(f"{file.path}: sheet (--sheet) is {title!r}; allowed: {allowed}.")


@contextmanager
def _naming_sheet(file: RawFile, book: Any) -> Iterator[None]:
    """A column that is not there may be in another sheet."""
    try:
        yield
    except MissingColumnError as error:
        if file.source.sheet or len(book.worksheets) < 2:
            raise
        raise MissingColumnError(
            f"{error} It is the first of {len(book.worksheets)} sheets; sheet (--sheet) names one."
        ) from None


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


def _name(cell: object) -> str:
    """A column's name; empty for a cell that names none."""
    return "" if cell is None else str(cell).strip()


def _header(file: RawFile, names: Sequence[str]) -> Sequence[str]:
    named = [name for name in names if name]
    if not named:
        raise DataError(f"{file.path}: the sheet is empty; its first row names the columns.")
    if len(set(named)) < len(named):
        raise DataError(f"{file.path}: the first row gives a column name twice.")
    return names


def _row(header: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    return {
        name: cell for name, cell in zip(header, cells, strict=False) if name and cell is not None
    }


def _plain_cells(cells: Sequence[Any]) -> list[Any]:
    return list(map(_plain_cell, cells))


def _plain_cell(cell: Any) -> Any:
    from openpyxl.styles.numbers import is_datetime
    from openpyxl.utils.escape import unescape

    value = cell.value
    if value is None or cell.data_type == ERROR:
        return None
    if isinstance(value, str):
        return unescape(value) if "_x" in value else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and value >= 0 and ZEROS.fullmatch(cell.number_format):
        return str(value).zfill(len(cell.number_format))
    if isinstance(value, datetime.datetime) and is_datetime(cell.number_format) == "date":
        return value.date()
    return str(value) if isinstance(value, datetime.timedelta) else value
