"""What a share of scores leaves out, and attackers who compute what was left out."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from medhelm_spark.sharing.left_out import Number, Scored, alone, shared_of

A, B = ("ward:model=a", "exact_match"), ("ward:model=b", "exact_match")
MINIMUM = 11


def scored(
    values: Sequence[Mapping[Number, float | None]], per_patient: int = 1
) -> dict[str, Scored]:
    """Instances with these values; so many after each other are of one patient."""
    return {
        f"i{index:03}": Scored(
            patient=f"p{index // per_patient}",
            order=f"{index * 7919 % 1000:03}",
            values=tuple(numbers.items()),
        )
        for index, numbers in enumerate(values)
    }


def vectors(items: Mapping[str, Scored], decimals: int) -> Counter[object]:
    return Counter(each.rounded(decimals).known for each in items.values())


def num_patients(items: Mapping[str, Scored]) -> int:
    return len({each.patient for each in items.values()})


def data(kind: str) -> dict[str, Scored]:
    random = np.random.default_rng(5)
    right = [{A: float(index % 3 > 0), B: float(index % 2)} for index in range(60)]
    if kind == "one alone":
        return scored([*right, {A: 0.5, B: 0.25}])
    if kind == "alone in a finer rounding":
        return scored([{A: each[A] + 0.01 * (index == 7)} for index, each in enumerate(right)])
    if kind == "two of one patient":
        return scored([*right, {A: 0.5, B: 0.25}, {A: 0.5, B: 0.25}], per_patient=2)
    if kind == "measures":
        return scored([{A: x, B: y} for x, y in random.normal(size=(200, 2))])
    if kind == "a metric of few":
        return scored(
            [{**each, B: each[B] if index % 9 == 0 else None} for index, each in enumerate(right)]
        )
    return scored(right)


KINDS = ("one alone", "alone in a finer rounding", "two of one patient", "measures", "nobody alone")


@pytest.mark.attack("sharing", "a left-out instance computed from a mean over all and scores")
@pytest.mark.parametrize("kind", [*KINDS, "a metric of few"])
def test_no_number_and_no_difference_of_two_rests_on_few_patients(kind: str) -> None:
    whole = data(kind)
    made = shared_of(whole, (1, 2), MINIMUM)
    for items in (made.retained, made.left_out):
        assert num_patients(items) == 0 or num_patients(items) >= MINIMUM
    assert made.retained.keys() | made.left_out.keys() == whole.keys()
    for number in {A, B} - made.hidden if made.retained else ():
        for items in (made.retained, made.left_out):
            patients = {each.patient for each in items.values() if number in each.numbers}
            assert not 0 < len(patients) < MINIMUM


@pytest.mark.attack("sharing", "an instance alone with its scores, by two roundings of two shares")
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_alone_in_any_rounding_and_all_shares_have_the_same_instances(kind: str) -> None:
    whole = data(kind)
    made = shared_of(whole, (1, 2), MINIMUM)
    patients = {item: each.patient for item, each in made.retained.items()}
    for decimals in (1, 2):
        rows = [
            (item, value)
            for item, each in made.retained.items()
            for value in each.rounded(decimals).known
        ]
        assert not alone(rows, patients)
    again = {item: whole[item] for item in reversed(whole)}
    assert shared_of(again, (2, 1), MINIMUM).retained.keys() == made.retained.keys()


def test_where_nobody_is_alone_nobody_is_left_out() -> None:
    made = shared_of(data("nobody alone"), (1,), MINIMUM)
    assert (len(made.retained), len(made.left_out), made.hidden) == (60, 0, frozenset())


def test_what_is_left_out_beside_who_is_alone_follows_from_no_score() -> None:
    """If all others had one value, a difference of means would give the score of the one alone."""
    gone = shared_of(data("one alone"), (1,), MINIMUM).left_out
    assert len(gone) >= MINIMUM
    assert len(vectors(gone, 1)) > 2


def test_a_metric_of_few_patients_is_in_no_share() -> None:
    made = shared_of(data("a metric of few"), (1,), MINIMUM)
    assert made.hidden == {B}
    assert {number for each in made.retained.values() for number in each.numbers} == {A}


def test_rows_of_one_patient_are_alone_together() -> None:
    rows = [("i1", 1.0), ("i2", 1.0), ("i3", 0.0), ("i4", 0.0)]
    patients = {"i1": "p1", "i2": "p1", "i3": "p2", "i4": "p3"}
    assert alone(rows, patients) == {"i1", "i2"}
    one = scored([{A: float(index % 2)} for index in range(24)], per_patient=24)
    assert not shared_of(one, (1,), MINIMUM).retained
