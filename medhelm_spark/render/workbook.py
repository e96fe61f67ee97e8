"""A result as an Excel workbook: a sheet for each of its tables, with every number as a number."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from medhelm_spark.domain.names import printable
from medhelm_spark.errors import SetupError
from medhelm_spark.render.report import unformulated
from medhelm_spark.render.result import columns_of, texts_of

_LONGEST_CELL = 32_767
"""Characters that Excel takes in a cell."""

_NOT_IN_A_TITLE = re.compile(r"[\\/*?:\[\]]")
_LONGEST_TITLE = 31


def workbook(document: Mapping[str, Any]) -> bytes:
    """The file of a result's JSON document: its lists of records and of texts are sheets.

    Args:
        document: as `render("json")` gives it.

    Raises:
        SetupError: the package openpyxl is absent.
    """
    try:
        openpyxl = import_module("openpyxl")
    except ImportError:
        raise SetupError(
            "workbooks need the package `openpyxl`; install 'medhelm-spark[excel]' or write csv."
        ) from None
    book = openpyxl.Workbook(write_only=True)
    alone: list[tuple[str, Any]] = []
    for name, value in document.items():
        if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
            _add(book, name, columns_of((), value), (row.values() for row in _whole(value)))
        elif isinstance(value, list):
            _add(book, name, [name], ([each] for each in value))
        else:
            alone.append((name, value))
    if alone or not book.worksheets:
        _add(book, "about", ["name", "value"], alone)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _whole(rows: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """The rows with every column."""
    names = columns_of((), rows)
    return ({name: row.get(name) for name in names} for row in rows)


def _add(book: Any, name: str, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    sheet = book.create_sheet(_NOT_IN_A_TITLE.sub("-", name)[:_LONGEST_TITLE])
    sheet.freeze_panes = "A2"
    for row in (header, *rows):
        sheet.append([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    """Numbers stay numbers; a text that begins as a formula does gets an apostrophe."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else next(iter(texts_of([value])))
    return unformulated(printable(text)[:_LONGEST_CELL])
