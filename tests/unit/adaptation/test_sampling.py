"""The draw is a hash, nested, seeded, and the same in SQL; MedHELM's is NumPy's."""

import numpy as np
import pytest

from medhelm_spark.adaptation.sampling import SAMPLE_KEY_SQL, medhelm_places, sample_key

IDS = [f"{i:032x}" for i in range(500)]


def draw(seed: int, n: int, ids: list[str]) -> set[str]:
    return set(sorted(ids, key=lambda instance_id: sample_key(seed, instance_id))[:n])


def test_key_is_the_md5_that_the_sql_states() -> None:
    """The expected values are coreutils' `printf '7|i001' | md5sum`, and of `0|abc`."""
    assert sample_key(7, "i001") == "d56f6817707355f0b52e3d4c02cc309c"
    assert sample_key(0, "abc") == "a61ce77e20bcc9518f291a9a15aca534"
    assert SAMPLE_KEY_SQL == "md5(concat(cast(seed as string), '|', instance_id))"


def test_a_larger_draw_contains_the_smaller_in_any_source_order() -> None:
    small, large = draw(0, 10, IDS), draw(0, 100, IDS[::-1])
    assert len(small) == 10
    assert small < large


def test_adding_rows_moves_few_and_seeds_differ() -> None:
    before, after = draw(0, 100, IDS[:490]), draw(0, 100, IDS)
    assert len(before & after) >= 90
    assert draw(1, 100, IDS) != after


def test_medhelms_places_are_the_beginning_of_numpys_permutation() -> None:
    """The ten numbers are NumPy's published `seed(0)` permutation of range(10)."""
    assert medhelm_places(0, 10, 9) == [2, 8, 4, 9, 1, 6, 7, 3, 0]
    assert medhelm_places(0, 10, 3) == [2, 8, 4]


@pytest.mark.parametrize(("size", "count"), [(2, 1), (120, 100), (1273, 1000), (5000, 17)])
@pytest.mark.parametrize("seed", [0, 7])
def test_medhelms_places_are_what_choice_gives(seed: int, size: int, count: int) -> None:
    """MedHELM's own two calls, over things that are no numbers."""
    things = np.array([object() for _ in range(size)])
    np.random.seed(seed)
    theirs = list(np.random.choice(things, count, replace=False))
    assert [things[place] for place in medhelm_places(seed, size, count)] == theirs


def test_medhelm_takes_a_small_scenario_whole_and_in_order() -> None:
    assert medhelm_places(0, 3, 3) == [0, 1, 2]
    assert medhelm_places(0, 3, 1000) == [0, 1, 2]
    assert medhelm_places(0, 0, 10) == []


def test_drawing_leaves_numpys_own_state_alone() -> None:
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    medhelm_places(0, 100, 10)
    assert np.random.random() == expected
