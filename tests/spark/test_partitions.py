"""The hash by which `repartition` places a row is Spark's own."""

from pathlib import Path

from pyspark.sql import SparkSession, functions as F

from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import by_spark, sorted_rows
from medhelm_spark.stages.infer.partitions import numbers_for, spark_hash
from medhelm_spark.stages.infer.rounds import Dealt


def test_the_hash_is_sparks(spark: SparkSession) -> None:
    rows = spark.range(2000).select("id", F.hash("id"))
    assert all(spark_hash(number) == stored_hash for number, stored_hash in rows.collect())
    large = 2**40 + 7
    (row,) = spark.sql(f"SELECT hash({large}L)").collect()
    assert row[0] == spark_hash(large)


def test_each_slot_of_a_round_has_a_partition_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    slots = 8
    dealt = [
        Dealt(file="f", number=rank, slot=numbers_for(slots)[rank % slots], rank=rank)
        for rank in range(3 * slots)
    ]
    frame = Lake(spark, str(tmp_path / "lake")).frame(dealt, Dealt)
    rows = by_spark(sorted_rows(frame, "rank", partitions=slots, by=("slot",)))
    placed = rows.select(F.spark_partition_id(), "rank").collect()
    assert {(partition, rank % slots) for partition, rank in placed} == {
        (slot, slot) for slot in range(slots)
    }
