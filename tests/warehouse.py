"""The connector's cursor as far as the reader uses it, over a lake of this machine.

It executes every statement for real, by DataFusion over Delta files or by Spark over a catalog, and
fails as a warehouse does. No real warehouse was ever asked.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

TABLE = re.compile(r"`[^`]+`\.\w+\.(\w+)")
"""A table of a catalog whose own name has to be quoted, as that of the tests."""
KINDS = re.compile(r"CAST\(NULL AS (?:ARRAY|MAP|STRUCT)<.*?>+\) AS")
"""Types that DataFusion has no names for."""

Execute = Callable[[str], pa.Table]


class ServerOperationError(Exception):
    """Named as the connector's; its message begins with the error's condition."""


class FakeCursor:
    def __init__(self, execute: Execute, statements: list[str]) -> None:
        self._execute, self._statements = execute, statements
        self._answer: pa.Table | None = None

    def execute(self, operation: str) -> None:
        self._statements.append(operation)
        self._answer = self._execute(operation)

    def fetchall_arrow(self) -> pa.Table:
        assert self._answer is not None
        return self._answer

    def close(self) -> None:
        self._answer = None


class FakeConnection:
    """A session; `statements` are all that it executed."""

    def __init__(self, execute: Execute, statements: list[str]) -> None:
        self._execute, self._statements = execute, statements
        self.is_closed = False

    def cursor(self) -> FakeCursor:
        if self.is_closed:
            raise ConnectionError("Invalid SessionHandle")
        return FakeCursor(self._execute, self._statements)

    def close(self) -> None:
        self.is_closed = True


def of_files(lake: Path) -> Execute:
    """Answers by DataFusion over the Delta files of a folder, whatever catalog is named."""

    def execute(sql: str) -> pa.Table:
        builder = QueryBuilder()
        for name in set(TABLE.findall(sql)):
            if not (lake / name).is_dir():
                raise ServerOperationError(f"[TABLE_OR_VIEW_NOT_FOUND] `{name}` SQLSTATE: 42P01")
            builder.register(name, DeltaTable(str(lake / name)))
        translated = KINDS.sub("NULL AS", TABLE.sub(r"\1", sql)).replace("AS STRING", "AS VARCHAR")
        return pa.RecordBatchReader.from_stream(builder.execute(translated)).read_all()

    return execute


def of_spark(spark: SparkSession) -> Execute:
    """Answers by Spark over its catalog, in the very SQL that a warehouse executes."""

    def execute(sql: str) -> pa.Table:
        try:
            return spark.sql(sql).toArrow()
        except PySparkException as error:
            raise ServerOperationError(f"[{error.getCondition()}] {error}") from None

    return execute
