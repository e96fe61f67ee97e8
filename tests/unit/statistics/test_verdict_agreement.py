"""Macro F1 of verdicts against several people's."""

import pytest

from medhelm_spark.statistics.verdict_agreement import (
    macro_f1,
    macro_f1_of,
    pairs_among,
    pairs_of,
)


def test_each_person_is_a_pair() -> None:
    assert pairs_of("c", True, [True, False, True]).counts == (2, 1, 0, 0)
    assert pairs_of("c", False, [True, False]).counts == (0, 0, 1, 1)
    assert pairs_among("c", [True, True, False]).counts == (2, 2, 2, 0)


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ((5, 0, 0, 5), 1.0),
        ((0, 5, 5, 0), 0.0),
        ((3, 1, 0, 4), (6 / 7 + 8 / 9) / 2),
        ((0, 0, 3, 7), (0 + 14 / 17) / 2),
        ((0, 0, 0, 7), None),
        ((0, 0, 0, 0), None),
    ],
    ids=["all", "none", "some", "never-met", "one-class", "nothing"],
)
def test_macro_f1_is_the_mean_of_both_classes(counts, value) -> None:
    found = macro_f1_of(counts)
    assert found == (None if value is None else pytest.approx(value))


def test_it_agrees_with_scikit_learn() -> None:
    from sklearn.metrics import f1_score

    judge = [True, True, False, False, True, False, False]
    person = [True, False, False, True, True, False, True]
    pairs = [
        pairs_of(str(i), one, [two]) for i, (one, two) in enumerate(zip(judge, person, strict=True))
    ]
    found = macro_f1(pairs)
    assert found is not None
    assert found.value == pytest.approx(f1_score(person, judge, average="macro"))
    assert found.low is not None
    assert found.low < found.value < found.high


def test_items_of_one_conversation_are_resampled_as_one() -> None:
    alike = [pairs_of("one", True, [True]), pairs_of("one", False, [False])]
    assert macro_f1(alike) is not None
    assert macro_f1(alike).low is None
    assert macro_f1([]) is None
