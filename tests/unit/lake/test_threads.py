"""Threads give the results in order, few at a time, and pass errors on."""

import threading
from collections.abc import Iterator

import pytest

from medhelm_spark.lake.threads import AHEAD, in_threads, made_ahead


@pytest.mark.parametrize("threads", [1, 4])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    assert list(in_threads(str, range(100), threads)) == list(map(str, range(100)))
    assert not list(in_threads(str, [], threads))


def test_few_items_are_taken_ahead() -> None:
    taken = list[int]()

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = in_threads(str, items(), 2)
    next(results)
    assert len(taken) == 1 + AHEAD * 2


@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_of_the_function_is_raised(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda item: 1 // item, [1, 0, 1], threads))


def test_items_are_made_by_one_other_thread() -> None:
    makers = list(made_ahead(threading.get_ident() for _ in range(10)))
    assert len(makers) == 10
    assert len(set(makers)) == 1
    assert threading.get_ident() not in makers


def test_an_error_of_the_maker_is_raised_after_what_came_before() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError

    made = made_ahead(items())
    assert next(made) == 1
    with pytest.raises(KeyError):
        next(made)
