"""`Result`: what a method of `Evaluation` returns, shown in a terminal, a notebook and pandas."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable, html_table, text_table

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
"""The values of a line by column."""


class Result(ABC):
    """Rows that print as a table, and turn into pandas and into text of five formats.

    A subclass gives `rows`, and HEADER, `notes` and `render` where they are not the default.
    """

    __slots__ = ()

    HEADER: ClassVar[Sequence[str]] = ()
    """The columns in order (none: the columns of the rows)."""

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """What is returned, a line each."""

    @property
    def notes(self) -> Sequence[str]:
        """Lines below the table."""
        return ()

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        rows = list(self.rows())
        header = columns_of(self.HEADER, rows)
        texts = [texts_of(row.get(name) for name in header) for row in rows]
        table = TextTable(header=header, rows=texts, notes=self.notes)
        if form == "table":
            return text_table(table)
        if form == "html":
            return html_table(header, texts, self.notes)
        report = Report(tables=[table], content={"rows": rows}, fields=header, records=rows)
        return formatted(report, form)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        rows = list(self.rows())
        return frame(rows, columns_of(self.HEADER, rows))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


def frame(rows: Sequence[Row], columns: Sequence[str]) -> "pd.DataFrame":
    """Rows as a DataFrame with these columns."""
    import pandas as pd  # only who asks for a DataFrame needs it

    return pd.DataFrame(list(rows), columns=list(columns))


def columns_of(header: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The header, and the columns that rows have beyond it."""
    return list(dict.fromkeys([*header, *(name for row in rows for name in row)]))


def texts_of(values: Iterable[Any]) -> list[str]:
    """Values as a table shows them: numbers with three decimals, nothing for None."""
    return list(_texts(values))


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if value is None:
            yield ""
        else:
            yield f"{value:.3f}" if isinstance(value, float) else str(value)
