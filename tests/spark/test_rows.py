"""The seam: what runs through Spark equals what runs without it, and errors carry no text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.request import Completion, FinishReason, RequestState
from medhelm_spark.domain.scenario import AccessLevel, Instance, Reference, Split
from medhelm_spark.errors import DataError, MedhelmSparkError, StageError
from medhelm_spark.lake.columnar import ddl
from medhelm_spark.lake.rows import arrow_of, map_rows, rows_of

HOSTILE = ("plain", "", "nul\x00", "emoji \U0001f9ec", "\u05e9\u05dc\u05d5\u05dd", "x" * 200_000)
PLANTED = "PLANTED-42"


def instances(texts: Iterable[str]) -> list[Instance]:
    return [
        Instance(
            instance_id=f"id{i}",
            scenario_name="s",
            data_version="v",
            source_id=text[:20],
            source_index=i,
            split=Split.TEST,
            input=text,
            references=(Reference(text=text, tags=("correct",)), Reference(text="no"))[: i % 3],
            access_level=AccessLevel.GATED,
            sub_split=None if i % 2 else "sub",
            extra_data={"key": text} if i % 2 else {},
        )
        for i, text in enumerate(texts)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """An output type of a test."""

    instance_id: str
    length: int | None
    level: AccessLevel


def same(rows: Iterable[Instance]) -> Iterator[Instance]:
    yield from rows


def lengths(rows: Iterable[Instance]) -> Iterator[Length]:
    """Pulls everything ahead before it yields, as a streaming engine may."""
    for row in list(rows):
        length = len(row.input) or None
        yield Length(instance_id=row.instance_id, length=length, level=row.access_level)


def states(rows: Iterable[Instance]) -> Iterator[RequestState]:
    for row in rows:
        answer = (Completion(text=row.input, finish_reason=FinishReason.STOP),)
        yield RequestState(
            run_spec_id="r",
            instance_id=row.instance_id,
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split=row.split,
            completions=answer if row.input else None,
        )


def raises_with_text(rows: Iterable[Instance]) -> Iterator[Length]:
    for row in rows:
        raise ValueError(f"cannot digest {row.input}")
    yield from ()


def refuses(rows: Iterable[Instance]) -> Iterator[Length]:
    for _ in rows:
        raise DataError("file.csv: no usable record.")
    yield from ()


@pytest.mark.parametrize(
    ("fn", "out"), [(same, Instance), (lengths, Length), (states, RequestState)]
)
def test_spark_equals_plain_python(spark: SparkSession, fn: object, out: type) -> None:
    rows = instances(HOSTILE * 3)
    df = spark.createDataFrame(arrow_of(rows, Instance), ddl(Instance))
    through = rows_of(map_rows(df, fn, Instance, out), out)  # type: ignore[arg-type]
    plain = list(fn(rows))  # type: ignore[operator]
    assert sorted(through, key=lambda row: row.instance_id) == sorted(
        plain, key=lambda row: row.instance_id
    )


def failure(spark: SparkSession, fn: object) -> MedhelmSparkError:
    rows = instances([PLANTED])
    df = spark.createDataFrame(arrow_of(rows, Instance), ddl(Instance))
    with pytest.raises(MedhelmSparkError) as caught:
        rows_of(map_rows(df, fn, Instance, Length), Length)  # type: ignore[arg-type]
    return caught.value


def test_an_error_names_function_place_and_row_without_text(spark: SparkSession) -> None:
    error = failure(spark, raises_with_text)
    assert isinstance(error, StageError)
    for part in ("raises_with_text", "ValueError", "test_rows.py:", "instance_id=id0"):
        assert part in str(error)
    assert PLANTED not in str(error)
    assert error.__cause__ is None


def test_an_error_of_ours_keeps_its_class_and_sentence(spark: SparkSession) -> None:
    error = failure(spark, refuses)
    assert type(error) is DataError
    assert str(error) == "file.csv: no usable record."
