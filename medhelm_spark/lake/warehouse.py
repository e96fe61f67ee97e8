"""A lake in a catalog, read through a SQL warehouse: neither Spark nor a JVM on this machine.

The connector is Databricks' own, the optional package `databricks-sql-connector`. Tests answer its
cursor's calls by Spark and by DataFusion; a real warehouse was not tried.
"""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from medhelm_spark.domain.warehouse import Warehouse
from medhelm_spark.errors import LakeError, SetupError
from medhelm_spark.lake.columnar import fields_of
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.reader import Part, decode, named_tables, table_schema, without_views
from medhelm_spark.lake.tables import TABLES

Row = TypeVar("Row")

WAIT_SECONDS = 120
"""For how long a warehouse that does not answer, as one that is starting, is tried again."""
RECHECK_SECONDS = 15.0
"""For how long a table that is absent, or lacks columns, is taken for such."""

_ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")
_CONDITION = re.compile(r"\[([A-Z][A-Z_.0-9]+)\]")
"""How the name of an error begins its message; the rest may show the statement."""


class Cursor(Protocol):
    """What is used of the connector's cursor."""

    def execute(self, operation: str) -> Any:
        """Run one statement."""

    def fetchall_arrow(self) -> pa.Table:
        """The whole answer."""

    def close(self) -> None:
        """Let its answer go."""


class WarehouseConnection(Protocol):
    """What is used of the connector's connection."""

    def cursor(self) -> Cursor:
        """A cursor of its own for each statement."""

    def close(self) -> None:
        """End the session."""


def connect(warehouse: Warehouse) -> WarehouseConnection:
    """A new session.

    Raises:
        SetupError: The connector is not installed, or no token is found.
    """
    try:
        import databricks.sql as connector
    except ImportError as error:
        raise SetupError(
            "reading a lake in a catalog through a SQL warehouse needs the package "
            "databricks-sql-connector: pip install 'medhelm-spark[databricks]'."
        ) from error
    token = os.environ.get(warehouse.variable)
    if not token:
        raise SetupError(
            f"sql_warehouse: no token found for {warehouse.token}; set the environment variable "
            f"{warehouse.variable}."
        )
    connection: WarehouseConnection = connector.connect(
        server_hostname=warehouse.host,
        http_path=warehouse.path,
        access_token=token,
        session_configuration={"TIMEZONE": "UTC"},
        user_agent_entry="medhelm-spark",
        enable_telemetry=False,
        _retry_stop_after_attempts_duration=WAIT_SECONDS,
    )
    return connection


@dataclass(frozen=True, slots=True)
class _Seen:
    """A table's columns (none where it is absent), and until when they are used."""

    columns: frozenset[str]
    until: float


class WarehouseReader:
    """Answers a reader's SQL through sessions that are opened as they are needed.

    A session serves one thread at a time: each statement takes an idle one, or opens one.
    """

    def __init__(self, location: str, open_session: Callable[[], WarehouseConnection]) -> None:
        self.location = location
        self._lake_location = Location.of(location)
        self._open_session = open_session
        self._idle: list[WarehouseConnection] = []
        self._seen: dict[str, _Seen] = {}

    def query(self, sql: str, *, each: Part | None = None) -> pa.Table:
        """Answer SQL over the tables that it names.

        Raises:
            LakeError: The warehouse cannot be reached or refuses; no word of its message is shown.
        """
        sources = {name: self._source(name) for name in named_tables(sql)}
        try:
            rows = without_views(self._answer(sql.format_map(sources)))
        except Exception as error:  # the connector has a family of classes, the network its own
            raise self._plain_error(error) from None
        return each(rows) if each else rows

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)

    def _source(self, name: str) -> str:
        """A table in SQL, with nulls for the columns that it lacks."""
        quoted, expected = self._lake_location.quoted(name), table_schema(name).names
        present = self._columns(name, quoted)
        if present.issuperset(expected):
            return quoted
        kinds = {field: codec.ddl for field, codec in fields_of(TABLES[name].row).items()}
        columns = ", ".join(
            name if name in present else f"CAST(NULL AS {kinds.get(name, 'STRING')}) AS {name}"
            for name in expected
        )
        return f"(SELECT {columns} {f'FROM {quoted}' if present else 'WHERE false'})"

    def _columns(self, name: str, quoted: str) -> frozenset[str]:
        seen = self._seen.get(name)
        if seen and time.monotonic() < seen.until:
            return seen.columns
        try:
            names = self._answer(f"SELECT * FROM {quoted} LIMIT 0").column_names
        except Exception as error:
            if condition_of(error) not in _ABSENT:
                raise self._plain_error(error) from None
            names = []
        is_whole = frozenset(names).issuperset(table_schema(name).names)
        until = float("inf") if is_whole else time.monotonic() + RECHECK_SECONDS
        self._seen[name] = _Seen(frozenset(names), until)
        return self._seen[name].columns

    def _answer(self, sql: str) -> pa.Table:
        """Run a statement in an idle session, and again in a new one where that has ended."""
        if self._idle:
            try:
                return self._run(self._idle.pop(), sql)
            except Exception as error:
                if condition_of(error):  # an answer, about the statement
                    raise
        return self._run(self._open_session(), sql)

    def _run(self, connection: WarehouseConnection, sql: str) -> pa.Table:
        try:
            cursor = connection.cursor()
            try:
                cursor.execute(sql)
                rows = cursor.fetchall_arrow()
            finally:
                cursor.close()
        except Exception as error:
            if condition_of(error):
                self._idle.append(connection)
            else:
                with suppress(Exception):
                    connection.close()
            raise
        self._idle.append(connection)
        return rows

    def _plain_error(self, error: Exception) -> Exception:
        if isinstance(error, SetupError | LakeError):
            return error
        condition = condition_of(error)
        kind = f"{type(error).__name__}{f', {condition}' if condition else ''}"
        return LakeError(
            f"{self.location}: the SQL warehouse does not answer ({kind}). Check that it runs, its "
            "address in sql_warehouse, and that the token's owner may USE the catalog and schema "
            "and SELECT from the tables."
        )


def condition_of(error: Exception) -> str:
    """The name of a warehouse's error, as `TABLE_OR_VIEW_NOT_FOUND`; empty where it has none."""
    found = _CONDITION.match(str(error))
    return found[1] if found else ""
