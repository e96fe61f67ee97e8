"""Which instances are drawn when `max_eval_instances` is smaller than the scenario.

Instances are ordered by a keyed hash and the first n are taken: the draw depends neither on the
order of the source nor on its length, runs in SQL on every executor, and grows by adding, so that
answers to a small draw are reused by a larger one. (HELM's draw depends on order and length.)
"""

import hashlib

SAMPLE_KEY_SQL = "md5(concat(cast(seed as string), '|', instance_id))"
"""`sample_key` in Spark SQL, over columns `seed` and `instance_id`."""


def sample_key(seed: int, instance_id: str) -> str:
    """The place of an instance in the draw: 32 hexadecimal characters, compared as text."""
    return hashlib.md5(f"{seed}|{instance_id}".encode(), usedforsecurity=False).hexdigest()
