"""The hash by which `repartition` places a row is Spark's own."""

from pyspark.sql import SparkSession, functions as F

from medhelm_spark.stages.infer.partitions import spark_hash


def test_the_hash_is_sparks(spark: SparkSession) -> None:
    rows = spark.range(2000).select(F.col("id").cast("int").alias("n")).select("n", F.hash("n"))
    assert all(spark_hash(number) == stored_hash for number, stored_hash in rows.collect())
