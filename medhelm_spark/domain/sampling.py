"""Sampling: a written rule that takes the same instances of a scenario on every machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SPLIT, SUB_SPLIT, CHARACTERS, EXTRA = "split", "sub_split", "characters", "extra."
"""The columns that a filter may name; `extra.NAME` is a key of `extra_data`."""


class SamplingOrder(StrEnum):
    """The order of a scenario's instances, of which the first `max_eval_instances` are evaluated.

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
    `characters`, the length of the input), in `order`, the first `max_eval_instances`. Where the
    order is drawn it depends on `seed`. A run's adapter takes `max_eval_instances` over, unless a
    flag or its entry gives another; in a RunSpec it is in the adapter alone.
    """

    order: SamplingOrder = SamplingOrder.HASH
    seed: int = 0
    max_eval_instances: int | None = None
    filter: Mapping[str, Condition] = field(default_factory=dict)


EVERY_INSTANCE = Sampling()
