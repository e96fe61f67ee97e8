"""A loop in a thread: its calls go in groups, and a call that is cancelled ends."""

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest

from medhelm_spark.engines.loop_thread import LoopThread


@pytest.fixture
def loop():
    loop = LoopThread("test")
    yield loop
    loop.close()


async def value_of(number):
    return number


def test_what_is_given_while_the_loop_is_busy_wakes_it_once(loop, monkeypatch):
    busy, freed, calls = threading.Event(), threading.Event(), []
    real = loop._loop.call_soon_threadsafe

    async def block():
        busy.set()
        assert freed.wait(10)

    blocked = loop.submit(block())
    assert busy.wait(10)
    monkeypatch.setattr(
        loop._loop, "call_soon_threadsafe", lambda *args: calls.append(args) or real(*args)
    )
    futures = [loop.submit(value_of(number)) for number in range(100)]
    assert len(calls) == 1
    freed.set()
    assert [future.result(10) for future in futures] == list(range(100))
    assert blocked.result(10) is None
    assert loop.submit(value_of(7)).result(10) == 7
    assert len(calls) == 2


def test_what_ends_in_one_turn_is_handed_back_together(loop):
    open_when_done = []
    gate = loop.submit(asyncio.sleep(0, asyncio.Event())).result(10)

    async def wait():
        await gate.wait()

    futures = [loop.submit(wait()) for _ in range(10)]
    for future in futures:
        future.add_done_callback(
            lambda _: open_when_done.append(sum(not task.done() for task in asyncio.all_tasks()))
        )

    async def release():
        gate.set()

    loop.submit(release()).result(10)
    assert [future.result(10) for future in futures] == [None] * 10
    assert open_when_done == [0] * 10, "each came back when all had ended"


def test_an_error_is_the_futures(loop):
    async def fail():
        raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        loop.submit(fail()).result(10)


@pytest.mark.parametrize("is_begun", [True, False])
def test_who_cancels_a_future_cancels_its_coroutine(loop, is_begun):
    begun, ended = threading.Event(), threading.Event()

    async def wait():
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    future = loop.submit(wait())
    if is_begun:
        assert begun.wait(10)
    assert future.cancel()
    with pytest.raises(CancelledError):
        future.result(10)
    assert ended.wait(10) or not begun.is_set()


def test_closing_cancels_what_runs(loop):
    future = loop.submit(asyncio.sleep(60))
    loop.close()
    with pytest.raises(CancelledError):
        future.result(10)
    assert not loop.is_open


def test_what_nobody_waits_for_is_not_logged(loop, caplog):
    async def lose():
        error = asyncio.get_running_loop().create_future()
        error.set_exception(ValueError("PLANTED"))

    loop.submit(lose()).result(10)
    loop.submit(asyncio.sleep(0)).result(10)
    assert "PLANTED" not in caplog.text
