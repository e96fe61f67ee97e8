"""Which instances are drawn when a run asks for fewer than its scenario has.

By default instances are ordered by a keyed hash and the first n are taken: the draw depends neither
on the order of the source nor on its length, runs in SQL on every executor, and grows by adding, so
that answers to a small draw are reused by a larger one. (HELM's draw depends on order and length;
`medhelm_places` gives it where it is asked for.)
"""

import hashlib

from medhelm_spark.domain.sampling import CHARACTERS, EXTRA, SPLIT, SUB_SPLIT, SamplingOrder

SAMPLE_KEY_SQL = "md5(concat(cast(seed as string), '|', instance_id))"
"""`sample_key` in Spark SQL, over columns `seed` and `instance_id`."""

ORDER_KEY_SQL = f"""
CASE WHEN d.sampling_order = '{SamplingOrder.HASH}' THEN {SAMPLE_KEY_SQL}
     ELSE lpad(CAST(i.source_index AS STRING), 20, '0') END
"""
"""The place of instance `i` in the order of draw `d`, as text that sorts so."""

_VALUE_SQL = f"""
CASE c.key WHEN '{SPLIT}' THEN i.split
           WHEN '{SUB_SPLIT}' THEN i.sub_split
           ELSE try_element_at(i.extra_data, substr(c.key, {len(EXTRA) + 1})) END
"""

MEETS_FILTER_SQL = f"""
forall(map_entries(d.conditions), c -> CASE
  WHEN c.key = '{CHARACTERS}' THEN length(i.input) >= coalesce(c.value.minimum, 0)
                               AND length(i.input) <= coalesce(c.value.maximum, length(i.input))
  ELSE coalesce(array_contains(c.value.values, {_VALUE_SQL}), false) END)
"""
"""Whether instance `i` meets every condition of draw `d`; an absent value meets none."""


def sample_key(seed: int, instance_id: str) -> str:
    """The place of an instance in the draw: 32 hexadecimal characters, compared as text."""
    return hashlib.md5(f"{seed}|{instance_id}".encode(), usedforsecurity=False).hexdigest()


def medhelm_places(seed: int, size: int, count: int) -> list[int]:
    """The places, from 0, that MedHELM 0.8.0 takes of `size` instances for a `count`.

    It seeds NumPy's legacy generator and calls `choice` without replacement, which takes the first
    `count` of a permutation; up to `count` instances are taken whole, in order. NumPy keeps this
    generator's stream the same for ever (NEP 19).
    """
    from numpy.random import RandomState

    if size <= count:
        return list(range(size))
    places: list[int] = RandomState(seed).permutation(size)[:count].tolist()
    return places
