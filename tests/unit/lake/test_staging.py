"""Staged rows where Spark Connect shows no folders."""

from typing import Any

import pytest
from pyspark.errors import AnalysisException

from medhelm_spark.lake.location import Location
from medhelm_spark.lake.staging import Staging


class Absent:
    """A session whose every path raises an error of this kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    @property
    def read(self) -> Any:
        return self

    def parquet(self, path: str) -> Any:
        raise AnalysisException(f"[{self.kind}] {path}")


def staging(kind: str) -> Staging:
    session: Any = Absent(kind)
    return Staging(Location.of("s3a://bucket/lake"), None, lambda: session)


def test_rows_that_were_never_staged_are_removed_without_an_error() -> None:
    staging("PATH_NOT_FOUND").remove("staged_a_b_c")


def test_another_error_is_raised() -> None:
    with pytest.raises(AnalysisException):
        staging("PERMISSION_DENIED").remove("staged_a_b_c")
