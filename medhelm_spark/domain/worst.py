"""The names of stats that are the expected worst of k repeated answers: `worst_at_4[f1]`."""

import re

_NAME = re.compile(r"worst_at_(\d+)\[(.+)\]", re.DOTALL)


def worst_name(metric: str, k: int) -> str:
    """The name of the expected worst of k answers by a stat.

    >>> worst_name("health_bench_score", 4)
    'worst_at_4[health_bench_score]'
    """
    return f"worst_at_{k}[{metric}]"


def worst_of(name: str) -> tuple[str, int] | None:
    """The stat and k that a name is made of; None of another name.

    >>> worst_of("worst_at_4[health_bench_score]"), worst_of("f1")
    (('health_bench_score', 4), None)
    """
    match = _NAME.fullmatch(name)
    return (match[2], int(match[1])) if match else None
