"""Numbers that Spark hashes to chosen partitions."""

from functools import cache
from itertools import count

SEED = 42
_MASK = 0xFFFFFFFF


@cache
def numbers_for(partitions: int) -> tuple[int, ...]:
    """For each partition, in order, a BIGINT that Spark hashes to it.

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
    """Spark's `hash` of a BIGINT from 0 up: MurmurHash3_x86_32 (Appleby, 2011) of its 8 bytes."""
    hashed = SEED
    for word in (number & _MASK, number >> 32 & _MASK):
        mixed = _rotated(word * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
        hashed = (_rotated(hashed ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    hashed ^= 8
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed = (hashed ^ hashed >> shift) * factor & _MASK
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _rotated(bits: int, by: int) -> int:
    return (bits << by | bits >> (32 - by)) & _MASK
