"""Which instances a share of scores leaves out, so that none can be found or computed.

docs/decisions/0043-nobody-is-left-out-alone.md has the reasons.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

Number = tuple[str, str]
"""The names of a run and of a metric."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """An instance with the scores that all runs have of it."""

    patient: str
    """The patient that it is of, by the card's cluster column, else the instance itself."""
    order: str
    """A hash of its id: an order of all instances that follows from no score."""
    values: tuple[tuple[Number, float | None], ...]
    """A score for each answer; None where the answer has none."""

    @cached_property
    def numbers(self) -> frozenset[Number]:
        """The runs and metrics that have a score of it."""
        return frozenset(number for number, value in self.values if value is not None)

    def rounded(self, decimals: int) -> "Scored":
        """The instance with scores of so many decimals."""
        return replace(
            self,
            values=tuple(
                (number, None if value is None else round(value, decimals))
                for number, value in self.values
            ),
        )

    @property
    def known(self) -> tuple[tuple[Number, float], ...]:
        """What a table of scores has of it, in order."""
        pairs = ((number, value) for number, value in self.values if value is not None)
        return tuple(sorted(pairs))

    def without(self, numbers: Set[Number]) -> "Scored":
        """The instance without the scores of these runs and metrics."""
        return replace(self, values=tuple(each for each in self.values if each[0] not in numbers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What a share has of the instances of a benchmark."""

    retained: Mapping[str, Scored]
    left_out: Mapping[str, Scored]
    hidden: frozenset[Number]
    """The runs and metrics whose scores are in no share: too few patients have one."""


def shared_of(scored: Mapping[str, Scored], decimals: Collection[int], minimum: int) -> Shared:
    """The instances of gated or private data that a share has.

    Whoever is alone with their scores is left out. Where somebody is, further instances are left
    out in an order that has nothing to do with scores, until `minimum` patients are missing: the
    difference to a mean over all is then of so many. A metric of which fewer than `minimum`
    patients among those left out, or among those retained, have a score is hidden.

    Args:
        scored: by id.
        decimals: to how many decimals the shares of this release round: nobody is alone in any.
        minimum: the patients that a number rests on.
    """
    hidden = _of_few(scored.values(), minimum)
    known = {item: each.without(hidden) for item, each in scored.items()}
    kinds = [_kinds(known, digits) for digits in sorted(set(decimals))]
    retained = _in_company(set(known), known, kinds)
    in_order = sorted(known, key=lambda item: known[item].order)
    while retained and 0 < (missing := _num_patients(known, known.keys() - retained)) < minimum:
        further = [item for item in in_order if item in retained][: minimum - missing]
        retained = _in_company(retained.difference(further), known, kinds)
    if _num_patients(known, retained) < minimum:
        retained = set()
    gone = {item: each for item, each in known.items() if item not in retained}
    remaining = {item: each for item, each in known.items() if item in retained}
    more = (
        _of_few(gone.values(), minimum) | _of_few(remaining.values(), minimum)
        if remaining
        else frozenset()
    )
    return Shared(
        retained={item: each.without(more) for item, each in remaining.items()},
        left_out=gone,
        hidden=hidden | more,
    )


def alone(rows: Iterable[tuple[str, Hashable]], patients: Mapping[str, str]) -> frozenset[str]:
    """The items whose rows no item of another patient has.

    Args:
        rows: an item, and what a row has of it beside the item.
        patients: by item, the patient that it is of.
    """
    of_item: dict[str, Counter[Hashable]] = defaultdict(Counter)
    for item, row in rows:
        of_item[item][row] += 1
    kinds = {item: frozenset(counts.items()) for item, counts in of_item.items()}
    return frozenset(_alone(kinds, kinds, patients))


def _of_few(scored: Iterable[Scored], minimum: int) -> frozenset[Number]:
    """The runs and metrics of which some patients, but too few, have a score."""
    patients: dict[Number, set[str]] = defaultdict(set)
    for each in scored:
        for number in each.numbers:
            patients[number].add(each.patient)
    return frozenset(number for number, ids in patients.items() if len(ids) < minimum)


def _kinds(scored: Mapping[str, Scored], decimals: int) -> dict[str, int]:
    """By item the number of its rounded scores: equal ones have one number."""
    numbers: dict[object, int] = {}
    return {
        item: numbers.setdefault(each.rounded(decimals).known, len(numbers))
        for item, each in scored.items()
    }


def _in_company(
    retained: set[str], scored: Mapping[str, Scored], kinds: Sequence[Mapping[str, int]]
) -> set[str]:
    """The instances of which none is alone, in any rounding, among those that are left."""
    patients = {item: each.patient for item, each in scored.items()}
    while gone := {item for kind in kinds for item in _alone(retained, kind, patients)}:
        retained = retained - gone
    return retained


def _alone(
    items: Iterable[str], kinds: Mapping[str, Hashable], patients: Mapping[str, str]
) -> set[str]:
    ids = list(items)
    of_kind: dict[Hashable, set[str]] = defaultdict(set)
    for item in ids:
        of_kind[kinds[item]].add(patients[item])
    return {item for item in ids if len(of_kind[kinds[item]]) == 1}


def _num_patients(scored: Mapping[str, Scored], items: Iterable[str]) -> int:
    return len({scored[item].patient for item in items})
