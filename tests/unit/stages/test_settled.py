"""Which requests had a result when an order began, where nothing can be looked up while it runs."""

import hashlib

import pyarrow as pa
import pytest

from medhelm_spark.stages.infer.follow_ups import DIGITS, SettledBefore


def names(first: int, last: int) -> list[str]:
    return [hashlib.md5(str(n).encode()).hexdigest() for n in range(first, last)]


@pytest.mark.parametrize("chunks", [1, 3])
def test_what_had_a_result_is_known_by_the_beginning_of_its_id(chunks: int) -> None:
    beginnings = [name[:DIGITS] for name in names(0, 300)]
    parts = [beginnings[at::chunks] for at in range(chunks)]
    settled = SettledBefore(pa.chunked_array(parts, pa.string()))
    assert settled(names(200, 500)) == set(names(200, 300))
    assert settled([]) == set()


def test_of_no_results_none_is_known() -> None:
    settled = SettledBefore(pa.chunked_array([], pa.string()))
    assert settled(names(0, 3)) == set()
