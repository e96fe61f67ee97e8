"""Untrusted SQL on a SQLite file: read-only, with limits on time, memory and size.

The text comes from a language model, so everything is denied by default (as the SQLite project
advises for untrusted SQL): the file is opened read-only and immutable; an authorizer allows only
SELECT, reading columns, recursion and the functions listed here, so that ATTACH, PRAGMA, VACUUM
INTO, extensions and every write are refused when the statement is prepared; values, statements and
patterns have a maximum length; a progress handler ends a query after `max_steps` steps of SQLite's
virtual machine (the same number on every host), and a clock after `max_seconds`, also between two
calls of the handler. A single function call is not interrupted; the maximum lengths keep each
listed function to a second. SQLite's heap is limited for
the whole process, the only heap limit that SQLite has, and temporary tables are in memory.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import count
from pathlib import Path
from threading import Timer

from medhelm_spark.errors import SetupError

Row = tuple[str | int | float | bytes | None, ...]

_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
# No printf: one call can take minutes. No random: a score must come out the same twice.
_FUNCTION_NAMES = (
    "abs avg ceil ceiling char coalesce concat concat_ws count cume_dist current_date current_time"
    " current_timestamp date datetime dense_rank exp first_value floor glob group_concat hex ifnull"
    " iif instr julianday lag last_value lead length like ln log log10 log2 lower ltrim max min mod"
    " nth_value ntile nullif percent_rank pi pow power quote rank replace round row_number rtrim"
    " sign sqrt strftime string_agg substr substring sum time timediff total trim trunc typeof"
    " unicode unixepoch upper"
)
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_LENGTHS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 1 << 16),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1 << 16),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_HEAP_BYTES = 256 << 20
_RESULT_CHARACTERS = 16 << 20
_STEPS_PER_TICK = 10_000
_OVER_A_LIMIT = frozenset({"SQLITE_INTERRUPT", "SQLITE_TOOBIG", "SQLITE_NOMEM"})


class QueryOutcome(StrEnum):
    """How a query ended: with rows, with an error of its own, refused, or over a limit."""

    ROWS = "rows"
    ERROR = "error"
    REFUSED = "refused"
    OVER_LIMIT = "over_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The rows of a query in its order; none unless the outcome is ROWS."""

    outcome: QueryOutcome
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one query may cost; more than `max_rows` rows is over a limit, not cut."""

    max_steps: int = 500_000_000
    max_seconds: float = 5.0
    max_rows: int = 10_000


Run = Callable[[str], QueryResult]


@contextmanager
def sandbox(database: str, limits: Limits) -> Iterator[Run]:
    """A function that runs one statement on this file; whatever the text is, it does not raise.

    Raises SetupError where the file is absent or no SQLite database.
    """
    with closing(_connect(database)) as connection:
        yield partial(_run, connection, limits)


def _connect(database: str) -> sqlite3.Connection:
    address = f"{Path(database).absolute().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            _restrict(connection)
        except sqlite3.Error:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise SetupError(
            f"The database {database!r} cannot be read on this host ({error}); a SQLite file that "
            "the driver and every executor can read is needed."
        ) from None
    return connection


def _restrict(connection: sqlite3.Connection) -> None:
    """Set every limit; raises sqlite3.DatabaseError where the file is no database."""
    for pragma in (
        f"hard_heap_limit={_HEAP_BYTES}",
        "temp_store=MEMORY",
        "trusted_schema=OFF",
        "query_only=ON",
        "schema_version",
    ):
        connection.execute(f"PRAGMA {pragma}")
    for category, limit in _LENGTHS:
        connection.setlimit(category, limit)
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    connection.set_authorizer(_authorize)


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in _ACTIONS:
        return sqlite3.SQLITE_OK
    is_known = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS
    return sqlite3.SQLITE_OK if is_known else sqlite3.SQLITE_DENY


def _stop_at(limits: Limits) -> Callable[[], bool]:
    ticks = count(1)
    return lambda: next(ticks) * _STEPS_PER_TICK > limits.max_steps


@contextmanager
def _interrupted(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Ends what runs on a connection after this time; nothing that runs later."""
    clock = Timer(seconds, connection.interrupt)
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
        clock.join()


def _run(connection: sqlite3.Connection, limits: Limits, sql: str) -> QueryResult:
    connection.set_progress_handler(_stop_at(limits), _STEPS_PER_TICK)
    try:
        with (
            _interrupted(connection, limits.max_seconds),
            closing(connection.execute(sql)) as cursor,
        ):
            return _fetch(cursor, limits.max_rows)
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
        return QueryResult(outcome=_why(error))


def _fetch(cursor: sqlite3.Cursor, max_rows: int) -> QueryResult:
    rows: list[Row] = []
    num_characters = 0
    for row in cursor:
        rows.append(row)
        num_characters += sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
        if len(rows) > max_rows or num_characters > _RESULT_CHARACTERS:
            return QueryResult(outcome=QueryOutcome.OVER_LIMIT)
    return QueryResult(outcome=QueryOutcome.ROWS, rows=tuple(rows))


def _why(error: Exception) -> QueryOutcome:
    if isinstance(error, MemoryError):
        return QueryOutcome.OVER_LIMIT
    if getattr(error, "sqlite_errorname", "") in _OVER_A_LIMIT:
        return QueryOutcome.OVER_LIMIT
    # SQLite gives a refused function no error code of its own.
    is_refused = str(error).startswith(("not authorized", "unsafe use of"))
    return QueryOutcome.REFUSED if is_refused else QueryOutcome.ERROR
