"""Requests in flight, as futures and stepped: order, memory, denial, early end."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.outcome import answered
from medhelm_spark.engines.stream import RefusedError, feed, in_flight, stream
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import ALLOWED, REFUSED, allow, request


def instant(model_request):
    future = Future()
    future.set_result(answered(model_request, [], "{}"))
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

    def ask(model_request):
        return pool.submit(slow if model_request.request_id == "slow" else quick, model_request)

    def slow(model_request):
        assert release.wait(10)
        return answered(model_request, [], "{}")

    def quick(model_request):
        return answered(model_request, [], "{}")

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

    def work(model_request):
        nonlocal open_now, peak
        with lock:
            open_now += 1
            peak = max(peak, open_now)
        time.sleep(0.0005)
        with lock:
            open_now -= 1
        return answered(model_request, [], "{}")

    with ThreadPoolExecutor(32) as pool:
        for _ in run(source(), lambda model_request: pool.submit(work, model_request), limit=8):
            yielded += 1
    assert yielded == 200
    assert peak <= 8


def test_requests_are_pulled_and_the_gate_is_asked_in_the_callers_thread():
    threads = set()

    def source():
        for i in range(5):
            threads.add(threading.get_ident())
            yield request(name=str(i))

    def gate(model_request):
        threads.add(threading.get_ident())
        return ALLOWED

    assert len(list(run(source(), gate=gate))) == 5
    assert threads == {threading.get_ident()}


def test_a_denied_request_is_never_asked():
    names = []

    def ask(one):
        names.append(one.request_id)
        return instant(one)

    def gate(one):
        return REFUSED if one.request_id == "b" else ALLOWED

    results = {r.request_id: r for r in run([request(name=n) for n in "abc"], ask, gate)}
    assert names == ["a", "c"]
    assert results["b"].failure is FailureKind.DENIED
    assert results["a"].is_answer


def test_a_caller_who_stops_early_cancels_what_is_in_flight():
    futures = []

    def ask(model_request):
        future = instant(model_request) if not futures else Future()
        futures.append(future)
        return future

    results = run((request(name=str(i)) for i in range(100)), ask, limit=3)
    assert next(results).request_id == "0"
    results.close()
    assert 1 <= len(futures) <= 4
    assert all(future.cancelled() for future in futures[1:])


def test_a_dead_engine_raises_and_cancels_the_rest():
    futures = []

    def ask(model_request):
        future = Future()
        futures.append(future)
        if len(futures) == 3:
            future.set_exception(EngineError("dead"))
        return future

    with pytest.raises(EngineError, match="dead"):
        list(run((request(name=str(i)) for i in range(10)), ask, limit=8))
    assert futures[0].cancelled()
    assert futures[1].cancelled()


class Steps:
    """Each request takes as many steps as its text says; at most `slots` run at once."""

    def __init__(self, slots=4):
        self.slots, self.remaining, self.steps, self.busy, self.aborted = slots, {}, 0, [], []

    def add(self, model_request):
        if model_request.text == "bad":
            raise RefusedError(FailureKind.TOO_LONG)
        self.remaining[model_request.request_id] = int(model_request.text)
        return model_request.request_id

    def step(self):
        self.steps += 1
        running = list(self.remaining)[: self.slots]
        self.busy.append(len(running))
        for key in running:
            self.remaining[key] -= 1
        done = [key for key in running if self.remaining[key] <= 0]
        return [(key, self.remaining.pop(key)) for key in done]

    def abort(self, keys):
        self.aborted = sorted(keys)

    def result(self, model_request, output, seconds):
        assert seconds >= 0
        return answered(model_request, [], "{}")


def steps(*lengths):
    return [request(str(length), name=f"r{n}") for n, length in enumerate(lengths)]


def fed(requests, engine, gate=allow, limit=5):
    return feed(requests, gate, engine, limit=limit, fingerprint="{}")


def test_every_request_fed_gives_one_result_as_it_finishes():
    found = [r.request_id for r in fed(steps(9, 1, 2, 1, 1, 1), Steps())]
    assert sorted(found) == [f"r{n}" for n in range(6)]
    assert found[-1] == "r0"
    assert list(fed([], Steps())) == []


def test_one_long_answer_does_not_hold_up_the_rest():
    engine = Steps(slots=4)
    list(fed(steps(40, *[2] * 60), engine))
    assert engine.steps == 40, "the others pass beside it: 60 x 2 steps over three slots"
    assert engine.busy.count(4) >= 38


def test_no_more_is_pulled_to_feed_than_there_is_room_for():
    pulled = yielded = 0

    def source():
        nonlocal pulled
        for one in steps(*[3] * 500):
            pulled += 1
            assert pulled - yielded <= 6
            yield one

    for _ in fed(source(), Steps()):
        yielded += 1
    assert yielded == 500


def test_an_idle_engine_begins_before_all_are_added():
    engine = Steps(slots=200)
    list(fed(steps(*[3] * 150), engine, limit=150))
    assert engine.busy[:3] == [64, 128, 150]


def test_more_denied_requests_than_are_added_at_once_end_nothing():
    def only_the_last(model_request):
        return ALLOWED if model_request.request_id == "r199" else REFUSED

    found = list(fed(steps(*[1] * 200), Steps(), gate=only_the_last))
    assert len(found) == 200
    assert [one.request_id for one in found if one.is_answer] == ["r199"]


def test_the_gate_is_asked_just_before_a_request_goes_in():
    engine, looks = Steps(), []

    def gate(one):
        looks.append((one.request_id, engine.steps))
        return REFUSED if one.request_id == "r1" else ALLOWED

    found = {r.request_id: r for r in fed(steps(1, 1, 5, 5, 5, 5, 1), engine, gate)}
    assert found["r1"].failure is FailureKind.DENIED
    assert (found["r1"].attempts, found["r0"].is_answer) == (0, True)
    assert dict(looks)["r6"] >= 1


def test_a_refused_request_is_a_row_and_frees_its_place():
    refused = [request("bad", name=f"b{n}") for n in range(20)]
    found = list(fed([*refused, *steps(1, 1)], Steps()))
    assert [r.failure for r in found].count(FailureKind.TOO_LONG) == 20
    assert sum(r.is_answer for r in found) == 2


def test_who_stops_feeding_early_aborts_what_is_unfinished():
    engine = Steps()
    results = fed(steps(1, 9, 9, 9, 9, 9, 9), engine)
    assert next(results).request_id == "r0"
    results.close()
    assert engine.aborted == ["r1", "r2", "r3", "r4"]


def test_a_dead_engine_that_is_fed_raises():
    engine = Steps()
    engine.step = lambda: (_ for _ in ()).throw(EngineError("dead"))
    with pytest.raises(EngineError, match="dead"):
        list(fed(steps(1, 1), engine))


@pytest.mark.parametrize(("sequences", "queued"), [(1, 2), (4, 4), (64, 70), (256, 282)])
def test_a_little_more_is_in_flight_than_runs(sequences, queued):
    assert in_flight(sequences) == queued
