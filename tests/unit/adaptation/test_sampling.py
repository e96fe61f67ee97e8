"""The draw is a hash, nested, seeded, and the same in SQL."""

from medhelm_spark.adaptation.sampling import SAMPLE_KEY_SQL, sample_key

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
