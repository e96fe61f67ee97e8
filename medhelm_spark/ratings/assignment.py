"""Assigns instances to raters, always alike for the same instances and raters."""

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
    instances differ by at most one. Of raters with equally many instances, the next is the one who
    shares the fewest with the chosen raters, so that all pairs of raters share some.

    Args:
        instance_ids: what is rated.
        raters: their pseudonyms; their order does not matter.
        per_item: the raters that each instance gets.
    """
    names = sorted(set(raters))
    by_rater: dict[str, list[str]] = {name: [] for name in names}
    shared: dict[frozenset[str], int] = {}
    for instance in instance_ids:
        chosen: list[str] = []
        for _ in range(min(per_item, len(names))):
            rest = [name for name in names if name not in chosen]
            chosen.append(
                min(rest, key=lambda name: _priority(name, instance, chosen, by_rater, shared))
            )
        for index, name in enumerate(chosen):
            by_rater[name].append(instance)
            for other in chosen[:index]:
                pair = frozenset((name, other))
                shared[pair] = shared.get(pair, 0) + 1
    return {name: tuple(instances) for name, instances in by_rater.items()}


def _priority(
    name: str,
    instance: str,
    chosen: Sequence[str],
    by_rater: Mapping[str, Sequence[str]],
    shared: Mapping[frozenset[str], int],
) -> tuple[int, int, str]:
    """The rater with the smallest priority is the next to rate the instance with `chosen`."""
    pairs = sum(shared.get(frozenset((name, other)), 0) for other in chosen)
    return len(by_rater[name]), pairs, content_id(name, instance)
