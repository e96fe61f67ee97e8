"""The bounded stream: order, memory, denial, early end."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.outcome import answered
from medhelm_spark.engines.stream import stream
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import ALLOWED, REFUSED, allow, request


def instant(asked):
    future = Future()
    future.set_result(answered(asked, [], "{}"))
    return future


def run(requests, ask=instant, gate=allow, limit=4):
    return stream(requests, gate, ask, limit=limit, fingerprint="{}")


def test_every_request_gives_one_result():
    names = [f"r{i}" for i in range(100)]
    results = run(request(name=name) for name in names)
    assert sorted(r.request_id for r in results) == sorted(names)
    assert list(run([])) == []


def test_results_come_as_they_finish_not_in_order():
    release = threading.Event()

    def ask(asked):
        return pool.submit(slow if asked.request_id == "slow" else quick, asked)

    def slow(asked):
        assert release.wait(10)
        return answered(asked, [], "{}")

    def quick(asked):
        return answered(asked, [], "{}")

    with ThreadPoolExecutor(4) as pool:
        results = run([request(name=name) for name in ("slow", "a", "b", "c", "d", "e")], ask)
        early = [next(results).request_id for _ in range(5)]
        release.set()
        assert sorted(early) == ["a", "b", "c", "d", "e"]
        assert [r.request_id for r in results] == ["slow"]


def test_no_more_than_the_limit_is_pulled_ahead_or_in_flight():
    pulled, yielded, open_now, peak = 0, 0, 0, 0
    lock = threading.Lock()

    def source():
        nonlocal pulled
        for i in range(200):
            pulled += 1
            assert pulled - yielded <= 8
            yield request(name=str(i))

    def work(asked):
        nonlocal open_now, peak
        with lock:
            open_now += 1
            peak = max(peak, open_now)
        time.sleep(0.0005)
        with lock:
            open_now -= 1
        return answered(asked, [], "{}")

    with ThreadPoolExecutor(32) as pool:
        for _ in run(source(), lambda asked: pool.submit(work, asked), limit=8):
            yielded += 1
    assert yielded == 200
    assert peak <= 8


def test_requests_are_pulled_and_the_gate_is_asked_in_the_callers_thread():
    threads = set()

    def source():
        for i in range(5):
            threads.add(threading.get_ident())
            yield request(name=str(i))

    def gate(asked):
        threads.add(threading.get_ident())
        return ALLOWED

    assert len(list(run(source(), gate=gate))) == 5
    assert threads == {threading.get_ident()}


def test_a_denied_request_is_never_asked():
    asked = []

    def ask(one):
        asked.append(one.request_id)
        return instant(one)

    def gate(one):
        return REFUSED if one.request_id == "b" else ALLOWED

    results = {r.request_id: r for r in run([request(name=n) for n in "abc"], ask, gate)}
    assert asked == ["a", "c"]
    assert results["b"].failure is FailureKind.DENIED
    assert results["a"].is_answer


def test_a_caller_who_stops_early_cancels_what_is_in_flight():
    futures = []

    def ask(asked):
        future = instant(asked) if not futures else Future()
        futures.append(future)
        return future

    results = run((request(name=str(i)) for i in range(100)), ask, limit=3)
    assert next(results).request_id == "0"
    results.close()
    assert 1 <= len(futures) <= 4
    assert all(future.cancelled() for future in futures[1:])


def test_a_dead_engine_raises_and_cancels_the_rest():
    futures = []

    def ask(asked):
        future = Future()
        futures.append(future)
        if len(futures) == 3:
            future.set_exception(EngineError("dead"))
        return future

    with pytest.raises(EngineError, match="dead"):
        list(run((request(name=str(i)) for i in range(10)), ask, limit=8))
    assert futures[0].cancelled()
    assert futures[1].cancelled()
