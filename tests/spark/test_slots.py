"""How a wave is assign_slots: equal shares of the estimated tokens, what belongs together whole."""

from collections import Counter
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from medhelm_spark.stages.infer.slots import SLOT, assign_slots, spark_hash
from tests.spark.conftest import Site

COLUMNS = "model_deployment STRING, together STRING, request_id STRING, estimated_tokens BIGINT"
Row = tuple[str, str, str, int]


def tokens(site: Site, wave: Sequence[Row], slots: int) -> list[dict[str, int]]:
    """Per partition: the tokens of each deployment."""
    rows = assign_slots(site.lake, site.spark.createDataFrame(wave, COLUMNS), slots)
    placed = rows.repartition(slots, SLOT).withColumn("partition", F.spark_partition_id())
    found = [Counter[str]() for _ in range(slots)]
    for row in placed.collect():
        found[row["partition"]][row["model_deployment"]] += row["estimated_tokens"]
    return [dict(one) for one in found]


def test_the_hash_is_sparks(spark: SparkSession) -> None:
    rows = spark.range(2000).select(F.col("id").cast("int").alias("n")).select("n", F.hash("n"))
    assert all(spark_hash(number) == found for number, found in rows.collect())


@pytest.mark.parametrize("slots", [1, 2, 3, 7])
def test_every_slot_gets_the_same_share_of_each_deployment(site: Site, slots: int) -> None:
    lengths = [2000 if n % 40 == 0 else 20 + n for n in range(400)]
    wave = [
        (model, f"{n:03}", f"{n:03}", length * factor)
        for model, factor in (("acme/a", 1), ("acme/b", 3))
        for n, length in enumerate(lengths)
    ]
    total = sum(lengths)
    for share in tokens(site, wave, slots):
        assert share["acme/a"] == pytest.approx(total / slots, abs=2000)
        assert share["acme/b"] == 3 * share["acme/a"]


def test_requests_about_one_answer_stay_together(site: Site) -> None:
    wave = [("acme/judge", f"{n:02}", f"{n}-{item}", 10) for n in range(40) for item in range(7)]
    shares = tokens(site, wave, 3)
    assert all(share["acme/judge"] % 70 == 0 for share in shares)
    assert sum(share["acme/judge"] for share in shares) == 2800


def test_more_slots_than_requests_leave_some_idle(site: Site) -> None:
    shares = tokens(site, [("acme/a", "0", "0", 5), ("acme/a", "1", "1", 5)], 4)
    assert sorted(map(len, shares)) == [0, 0, 1, 1]
