"""The seam: what runs through Spark equals what runs without it, and errors carry no text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Completion, FinishReason, RequestState
from medhelm_spark.domain.scenario import Instance, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import DataError, LakeError, MedhelmSparkError, StageError
from medhelm_spark.lake.columnar import ddl
from medhelm_spark.lake.rows import arrow_of, map_rows, rows_of

pytestmark = pytest.mark.core

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


def hands_on_text_for_a_number(rows: Iterable[Instance]) -> Iterator[Length]:
    for row in rows:
        yield Length(instance_id="i", length=row.input, level=row.access_level)  # type: ignore[arg-type]


def the_first(rows: Iterable[Instance]) -> Iterator[Instance]:
    """Leaves the rest of its input unread."""
    for row in rows:
        yield row
        return


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


def test_text_of_the_wrong_type_is_not_quoted(spark: SparkSession) -> None:
    """Arrow's own message quotes the value that it cannot take."""
    error = failure(spark, hands_on_text_for_a_number)
    assert isinstance(error, StageError)
    assert "hands_on_text_for_a_number failed with Arrow" in str(error)
    assert PLANTED not in str(error)


def test_a_value_that_no_enum_has_is_not_quoted(spark: SparkSession) -> None:
    rows = spark.createDataFrame(arrow_of(instances(["a"]), Instance), ddl(Instance))
    df = rows.drop("split").selectExpr("*", f"'{PLANTED}' AS split")
    with pytest.raises(LakeError) as caught:
        rows_of(map_rows(df, same, Instance, Instance), Instance)
    assert "has a Split that is unknown to this version" in str(caught.value)
    assert PLANTED not in str(caught.value)


def test_no_rows_and_unread_rows(spark: SparkSession) -> None:
    rows = instances(f"{i}" for i in range(3000))
    df = spark.createDataFrame(arrow_of(rows, Instance), ddl(Instance)).coalesce(1)
    assert rows_of(map_rows(df, the_first, Instance, Instance), Instance) == rows[:1]
    none = map_rows(df.where("instance_id = 'none'"), lengths, Instance, Length)
    assert rows_of(none, Length) == []
