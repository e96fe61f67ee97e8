"""Instances are drawn by hash or as NumPy does, train rows as HELM does where its draw ends."""

import itertools
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from medhelm_spark.adaptation.sampling import (
    SAMPLE_KEY_SQL,
    TrainRow,
    medhelm_indices,
    select_train,
)
from tests.oracles import sample_key
from tests.unit.adaptation.sql import evaluated


@pytest.mark.parametrize(
    ("seed", "instance_id", "key"),
    [
        (7, "i001", "d56f6817707355f0b52e3d4c02cc309c"),
        (0, "abc", "a61ce77e20bcc9518f291a9a15aca534"),
    ],
)
def test_the_sample_key_is_an_md5(tmp_path: Path, seed: int, instance_id: str, key: str) -> None:
    """The expected values are coreutils' `printf '7|i001' | md5sum`, and of `0|abc`."""
    assert evaluated(tmp_path, SAMPLE_KEY_SQL, seed=seed, instance_id=instance_id) == key
    assert sample_key(seed, instance_id) == key


def test_medhelms_places_are_the_beginning_of_numpys_permutation() -> None:
    """The ten numbers are NumPy's published `seed(0)` permutation of range(10)."""
    assert medhelm_indices(0, 10, 9) == [2, 8, 4, 9, 1, 6, 7, 3, 0]
    assert medhelm_indices(0, 10, 3) == [2, 8, 4]


@pytest.mark.parametrize(("size", "count"), [(2, 1), (120, 100), (1273, 1000), (5000, 17)])
@pytest.mark.parametrize("seed", [0, 7])
def test_medhelms_places_are_what_choice_gives(seed: int, size: int, count: int) -> None:
    """MedHELM's own two calls, over things that are no numbers."""
    things = np.array([object() for _ in range(size)])
    np.random.seed(seed)
    theirs = list(np.random.choice(things, count, replace=False))
    assert [things[index] for index in medhelm_indices(seed, size, count)] == theirs


def test_medhelm_takes_a_small_scenario_whole_and_in_order() -> None:
    assert medhelm_indices(0, 3, 3) == [0, 1, 2]
    assert medhelm_indices(0, 3, 1000) == [0, 1, 2]
    assert medhelm_indices(0, 0, 10) == []


def test_drawing_leaves_numpys_own_state_alone() -> None:
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    medhelm_indices(0, 100, 10)
    assert np.random.random() == expected


def pool_of(labels: str) -> list[TrainRow]:
    return [
        TrainRow(
            instance_id=f"i{index}", source_index=index, label=None if name == "-" else ord(name)
        )
        for index, name in enumerate(labels)
    ]


def label_of(row: TrainRow) -> str:
    return "-" if row.label is None else chr(row.label)


def described(pool: list[TrainRow], k: int, seed: int) -> list[TrainRow]:
    """The description in MedHELM's facts, followed word by word; loops for ever in its bad case."""
    rng = random.Random(seed)
    groups: dict[str, list[TrainRow]] = {}
    for instance in pool:
        groups.setdefault(label_of(instance), []).append(instance)
    loose = groups.pop("-", [])
    order: list[str] = []
    for size in sorted({len(rows) for rows in groups.values()}, reverse=True):
        tied = sorted(label for label, rows in groups.items() if len(rows) == size)
        rng.shuffle(tied)
        order += tied
    chosen: list[TrainRow] = []
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
