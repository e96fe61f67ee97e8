"""The numbers that are hashed to a partition."""

import pytest

from medhelm_spark.stages.infer.partitions import numbers_for, spark_hash


def test_the_hash_is_the_one_that_spark_documents() -> None:
    assert [spark_hash(number) for number in (0, 1, 2, 42)] == [
        -1670924195,
        -1712319331,
        -797927272,
        1316951768,
    ]


@pytest.mark.parametrize("partitions", [1, 2, 3, 8, 100, 1000])
def test_every_partition_has_a_number_of_its_own(partitions: int) -> None:
    numbers = numbers_for(partitions)
    assert [spark_hash(number) % partitions for number in numbers] == list(range(partitions))
