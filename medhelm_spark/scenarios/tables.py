"""RawFile and the check of a table's header, shared by the readers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, BinaryIO

from medhelm_spark.domain.scenario import DataSource
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.records import BadReason, column_of

CheckColumns = Callable[[Sequence[str]], None]
ELSEWHERE: Mapping[str, Any] = MappingProxyType({})
"""A row that another stripe reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """An open file, its path for messages, and the source it belongs to.

    Where only every so many of its rows are wanted, a reader may yield the others as `ELSEWHERE`,
    unread.
    """

    path: str
    stream: BinaryIO
    source: DataSource
    stripe: int = 0
    stripes: int = 1

    def holds(self, row: int) -> bool:
        """Whether a row, counted from 1, is wanted."""
        return row % self.stripes == self.stripe


Reader = Callable[[RawFile, CheckColumns], Iterator[Mapping[str, Any] | BadReason]]


def check_columns(
    path: str, required: Iterable[str], columns: Sequence[str], *, from_schema: bool = False
) -> None:
    """Refuse a table that lacks a column its card names.

    The columns present are listed only where a schema gives them or one of the needed ones is among
    them: otherwise the first line may be data, not a header.

    Raises:
        DataError: a needed column is absent.
    """
    needed = tuple(required)
    missing = [name for name in needed if column_of(columns, name) is None]
    if not missing:
        return
    lacks = ", ".join(" or ".join(map(repr, name.split("|"))) for name in missing)
    if len(missing) == len(needed) and not from_schema:
        raise DataError(
            f"{path}: needs column {lacks}, but none of its {len(columns)} columns is needed; "
            "is the header line missing?"
        )
    shown = ", ".join(_shown(place, name) for place, name in enumerate(columns, 1))
    raise DataError(f"{path}: needs column {lacks}; columns present: {shown}.")


def _shown(place: int, name: str) -> str:
    return repr(name) if re.fullmatch(r"[\w .:()/-]{1,60}", name) else f"(column {place})"
