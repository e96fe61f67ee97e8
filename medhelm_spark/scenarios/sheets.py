"""Excel workbooks: the first sheet, its first row as the header."""

import datetime
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from medhelm_spark.errors import DataError, SetupError
from medhelm_spark.scenarios.archives import seekable
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.tables import CheckColumns, RawFile

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


def read_xlsx(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The rows of a workbook's first sheet, row by row; a row of empty cells is passed over.

    A whole number is given without a decimal point, as Excel shows it; an empty cell is absent.

    Raises:
        SetupError: the package `openpyxl` is absent.
        DataError: the file is no workbook, is cut off, or is empty.
    """
    openpyxl = _package(file)
    with _readable(file):
        book = openpyxl.load_workbook(seekable(file.stream), read_only=True, data_only=True)
        with closing(book):
            rows = book.worksheets[0].iter_rows(values_only=True)
            header = _header(file, next(rows, ()))
            check([name for name in header if name is not None])
            for cells in rows:
                if any(cell is not None for cell in cells):
                    yield _row(header, cells)


def _package(file: RawFile) -> Any:
    try:
        return import_module("openpyxl")
    except ImportError:
        raise SetupError(
            f"{file.path}: Excel files need the package `openpyxl`; install 'medhelm-spark[excel]' "
            "or save the sheet as csv."
        ) from None


@contextmanager
def _readable(file: RawFile) -> Iterator[None]:
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
        name: _plain(cell)
        for name, cell in zip(header, cells, strict=False)
        if name is not None and cell is not None
    }


def _plain(cell: Any) -> Any:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return str(cell) if isinstance(cell, datetime.timedelta) else cell
