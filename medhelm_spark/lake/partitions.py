"""Numbers that Spark's hash partitioning sends where one wants them.

`repartition(n, column)` puts a row into the partition that the column's Murmur3 hash (32 bits,
seed 42) is modulo n. To choose the partition oneself, one gives a number that has this hash. Spark
has a function for it only since 4.1 (`repartitionById`).
"""

from functools import cache
from itertools import count

SEED = 42
_MASK = 0xFFFFFFFF


@cache
def numbers_for(partitions: int) -> tuple[int, ...]:
    """For each partition, in their order, a 32-bit integer that is hashed to it."""
    found: dict[int, int] = {}
    numbers = count()
    while len(found) < partitions:
        number = next(numbers)
        found.setdefault(spark_hash(number) % partitions, number)
    return tuple(number for _, number in sorted(found.items()))


def spark_hash(number: int) -> int:
    """Spark's `hash` of one INT from 0 up: MurmurHash3_x86_32 (Appleby, 2011) of its four bytes."""
    mixed = _rotated(number * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    found = (_rotated(SEED ^ mixed, 13) * 5 + 0xE6546B64) & _MASK ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = (found ^ found >> shift) * factor & _MASK
    found ^= found >> 16
    return found - (1 << 32) if found >> 31 else found


def _rotated(bits: int, by: int) -> int:
    return (bits << by | bits >> (32 - by)) & _MASK
