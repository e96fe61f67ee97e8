"""The few-shot draw is HELM's where HELM's ends, and ends where HELM's does not."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medhelm_spark.adaptation.few_shot import select_train
from medhelm_spark.domain.scenario import Instance, Split
from tests.unit.adaptation.rows import refs, row


def labelled(index: int, label: str | None) -> Instance:
    references = refs("wrong", label or "none", correct=1 if label else ())
    return row(index, f"note {index}", references, split=Split.TRAIN)


def pool_of(labels: str) -> list[Instance]:
    return [labelled(i, None if label == "-" else label) for i, label in enumerate(labels)]


def label_of(instance: Instance) -> str:
    return next((ref.text for ref in instance.references if ref.is_correct), "-")


def described(pool: list[Instance], k: int, seed: int) -> list[Instance]:
    """The description in MedHELM's facts, followed word by word; loops for ever in its bad case."""
    rng = random.Random(seed)
    groups: dict[str, list[Instance]] = {}
    for instance in pool:
        groups.setdefault(label_of(instance), []).append(instance)
    loose = groups.pop("-", [])
    order: list[str] = []
    for size in sorted({len(rows) for rows in groups.values()}, reverse=True):
        tied = sorted(label for label, rows in groups.items() if len(rows) == size)
        rng.shuffle(tied)
        order += tied
    chosen: list[Instance] = []
    for label in itertools.cycle(order):
        if len(chosen) == k:
            break
        if groups[label]:
            chosen.append(groups[label].pop(rng.randrange(len(groups[label]))))
    return chosen + rng.sample(loose, k - len(chosen))


@given(st.text("abc-", max_size=14), st.integers(0, 6), st.integers(0, 4), st.randoms())
def test_draw_is_the_described_one_in_any_order_of_the_pool(
    labels: str, k: int, trial: int, shuffler: random.Random
) -> None:
    pool = pool_of(labels)
    k = min(k, len(labels) - labels.count("-"))
    mixed = list(pool)
    shuffler.shuffle(mixed)
    assert select_train(mixed, k, trial, True) == tuple(described(pool, k, trial))


@given(st.text("abc-", max_size=14), st.integers(-1, 20), st.integers(0, 4))
def test_draw_ends_without_repeats_and_takes_all_it_can(labels: str, k: int, trial: int) -> None:
    drawn = select_train(pool_of(labels), k, trial)
    assert len(drawn) == max(0, min(k, len(labels)))
    assert len({instance.instance_id for instance in drawn}) == len(drawn)


def test_labels_take_turns_from_the_most_frequent() -> None:
    drawn = select_train(pool_of("yyyyynnnm"), 5, 0)
    assert [label_of(instance) for instance in drawn] == ["y", "n", "m", "y", "n"]


def test_unlabelled_rows_only_fill_what_is_left() -> None:
    """HELM never returns here: its label cycle is empty of rows and it waits for one more."""
    drawn = select_train(pool_of("ab---"), 4, 0)
    assert Counter(map(label_of, drawn)) == {"a": 1, "b": 1, "-": 2}
    assert [label_of(instance) for instance in drawn[2:]] == ["-", "-"]


def test_an_empty_pool_and_no_rows_wanted() -> None:
    assert select_train([], 5, 0) == ()
    assert select_train(pool_of("ab"), 0, 0) == ()


def test_trials_differ() -> None:
    pool = pool_of("yn" * 50)
    drawn = [select_train(pool, 4, trial) for trial in range(3)]
    assert len({tuple(instance.instance_id for instance in rows) for rows in drawn}) == 3


@pytest.mark.parametrize(("trial", "expected"), [(0, [0, 1]), (1, [2, 3]), (2, [4]), (3, [])])
def test_without_sampling_a_trial_is_a_slice_of_the_source(trial: int, expected: list[int]) -> None:
    pool = pool_of("abcab")[::-1]
    drawn = select_train(pool, 2, trial, sample_train=False)
    assert [instance.source_index for instance in drawn] == expected
