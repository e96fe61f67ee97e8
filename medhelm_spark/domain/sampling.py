"""Sampling: a written rule that makes the same instances of a scenario anywhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SPLIT, SUB_SPLIT, CHARACTERS, EXTRA = "split", "sub_split", "characters", "extra."
"""What a filter may speak of; `extra.NAME` is a key of `extra_data`."""


class SamplingOrder(StrEnum):
    """In which order a scenario's instances are taken; the first `count` are evaluated.

    HASH: by a hash of seed and instance, whatever order and size the source has. SOURCE: as the
    source has them. MEDHELM: MedHELM's permutation of the source's order.
    """

    HASH = "hash"
    SOURCE = "source"
    MEDHELM = "medhelm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a column of an instance must be: one of `values`, or a number within bounds."""

    values: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which instances of a scenario's evaluation splits are evaluated.

    Those that meet every condition of `filter` (by column: `split`, `sub_split`, `extra.NAME`, or
    `characters`, the length of the input), in `order`, the first `count`. Where the order is drawn
    it depends on `seed`. `count` is where the adapter's `max_eval_instances` starts from; a RunSpec
    has it there.
    """

    order: SamplingOrder = SamplingOrder.HASH
    seed: int = 0
    count: int | None = None
    filter: Mapping[str, Condition] = field(default_factory=dict)


EVERY_INSTANCE = Sampling()
