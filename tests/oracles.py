"""What Spark SQL computes, written in Python: the expected values of tests on either side."""

import hashlib


def sample_key(seed: int, instance_id: str) -> str:
    """The sort key of an instance in a draw by hash, as `SAMPLE_KEY_SQL` gives it."""
    return hashlib.md5(f"{seed}|{instance_id}".encode(), usedforsecurity=False).hexdigest()
