"""Which rater rates which instances: the same for the same instances and raters."""

from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.domain.ids import content_id


def in_drawn_order(instance_ids: Iterable[str]) -> list[str]:
    """The instances in the order of a hash, so that the first ones are a random sample."""
    return sorted(set(instance_ids), key=lambda each: (content_id("rated", each), each))


def assigned(
    instance_ids: Sequence[str], raters: Iterable[str], per_item: int
) -> dict[str, tuple[str, ...]]:
    """The instances of each rater, in the given order.

    Each instance gets `per_item` raters, or all where there are fewer. Two raters' numbers of
    instances differ by one at most. Of raters with equally many the one comes next who shares
    the fewest instances with those already chosen, so that all pairs of raters come to share some.

    Args:
        instance_ids: what is rated.
        raters: their pseudonyms; their order does not matter.
        per_item: the raters that each instance gets.
    """
    names = sorted(set(raters))
    given: dict[str, list[str]] = {name: [] for name in names}
    shared: dict[frozenset[str], int] = {}
    for instance in instance_ids:
        chosen: list[str] = []
        for _ in range(min(per_item, len(names))):
            rest = [name for name in names if name not in chosen]
            chosen.append(
                min(rest, key=lambda name: _priority(name, instance, chosen, given, shared))
            )
        for place, name in enumerate(chosen):
            given[name].append(instance)
            for other in chosen[:place]:
                pair = frozenset((name, other))
                shared[pair] = shared.get(pair, 0) + 1
    return {name: tuple(instances) for name, instances in given.items()}


def _priority(
    name: str,
    instance: str,
    chosen: Sequence[str],
    given: Mapping[str, Sequence[str]],
    shared: Mapping[frozenset[str], int],
) -> tuple[int, int, str]:
    """The smaller, the sooner a rater is given an instance that `chosen` are given too."""
    pairs = sum(shared.get(frozenset((name, other)), 0) for other in chosen)
    return len(given[name]), pairs, content_id(name, instance)
