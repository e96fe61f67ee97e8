"""The requests of a wave, assigned to the slots that will ask them.

All slots begin together and none takes over another's requests, so each gets the same share of a
deployment's estimated tokens: otherwise most would wait for the one that got most.
"""

from functools import cache
from itertools import count

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.lake.lake import Lake

SLOT = "slot"
SEED = 42
_MASK = 0xFFFFFFFF

# What is kept `together` goes whole to the slot in whose share it ends. With ORDER BY, `sum` goes
# up to the last row of equal `together`.
ASSIGNED = """
SELECT *, element_at(array({numbers}), CAST(greatest(1, ceil({slots} * upto / total)) AS INT))
          AS slot
FROM (SELECT *,
        sum(estimated_tokens) OVER (PARTITION BY model_deployment ORDER BY together) AS upto,
        greatest(1, sum(estimated_tokens) OVER (PARTITION BY model_deployment)) AS total
    FROM {wave})
"""


def assign_slots(lake: Lake, wave: DataFrame, slots: int) -> DataFrame:
    """The wave with a column `SLOT`; `repartition(slots, SLOT)` makes one partition per slot."""
    if slots == 1:
        return wave.withColumn(SLOT, F.lit(0))
    numbers = ", ".join(str(number) for number in numbers_for(slots))
    sql = ASSIGNED.replace("{slots}", str(slots)).replace("{numbers}", numbers)
    return lake.query(sql, wave=wave)


@cache
def numbers_for(partitions: int) -> tuple[int, ...]:
    """For each partition, in their order, a 32-bit integer that Spark hashes to it.

    `repartition(n, column)` puts a row into the partition that is the column's Murmur3 hash (32
    bits, seed 42) modulo n. Spark has a function that takes the partition itself only since 4.1
    (`repartitionById`).
    """
    number_of: dict[int, int] = {}
    numbers = count()
    while len(number_of) < partitions:
        number = next(numbers)
        number_of.setdefault(spark_hash(number) % partitions, number)
    return tuple(number for _, number in sorted(number_of.items()))


def spark_hash(number: int) -> int:
    """Spark's `hash` of one INT from 0 up: MurmurHash3_x86_32 (Appleby, 2011) of its four bytes."""
    mixed = _rotated(number * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    hashed = (_rotated(SEED ^ mixed, 13) * 5 + 0xE6546B64) & _MASK ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed = (hashed ^ hashed >> shift) * factor & _MASK
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _rotated(bits: int, by: int) -> int:
    return (bits << by | bits >> (32 - by)) & _MASK
