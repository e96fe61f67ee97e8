"""The feeding loop, with an engine whose steps are counted."""

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.outcome import answered
from medhelm_spark.engines.vllm_feed import RefusedError, feed, in_flight
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import ALLOWED, REFUSED, allow, request


class Steps:
    """Each request takes as many steps as its text says; at most `places` run at once."""

    def __init__(self, places=4):
        self.places, self.left, self.steps, self.busy, self.aborted = places, {}, 0, [], []

    def add(self, asked):
        if asked.text == "bad":
            raise RefusedError(FailureKind.TOO_LONG)
        self.left[asked.request_id] = int(asked.text)
        return asked.request_id

    def step(self):
        self.steps += 1
        running = list(self.left)[: self.places]
        self.busy.append(len(running))
        for key in running:
            self.left[key] -= 1
        done = [key for key in running if self.left[key] <= 0]
        return [(key, self.left.pop(key)) for key in done]

    def abort(self, keys):
        self.aborted = sorted(keys)

    def result(self, asked, output, seconds):
        assert seconds >= 0
        return answered(asked, [], "{}")


def of(*lengths):
    return [request(str(length), name=f"r{n}") for n, length in enumerate(lengths)]


def run(requests, engine, gate=allow, limit=5):
    return feed(requests, gate, engine, limit=limit, fingerprint="{}")


def test_every_request_gives_one_result_as_it_finishes():
    found = [r.request_id for r in run(of(9, 1, 2, 1, 1, 1), Steps())]
    assert sorted(found) == [f"r{n}" for n in range(6)]
    assert found[-1] == "r0"
    assert list(run([], Steps())) == []


def test_one_long_answer_does_not_hold_up_the_rest():
    engine = Steps(places=4)
    list(run(of(40, *[2] * 60), engine))
    assert engine.steps == 40, "the others pass beside it: 60 x 2 steps over three places"
    assert engine.busy.count(4) >= 38


def test_no_more_is_pulled_than_there_is_room_for():
    pulled = yielded = 0

    def source():
        nonlocal pulled
        for one in of(*[3] * 500):
            pulled += 1
            assert pulled - yielded <= 6
            yield one

    for _ in run(source(), Steps()):
        yielded += 1
    assert yielded == 500


def test_the_gate_is_asked_just_before_a_request_goes_in():
    engine, asked = Steps(), []

    def gate(one):
        asked.append((one.request_id, engine.steps))
        return REFUSED if one.request_id == "r1" else ALLOWED

    found = {r.request_id: r for r in run(of(1, 1, 5, 5, 5, 5, 1), engine, gate)}
    assert found["r1"].failure is FailureKind.DENIED
    assert (found["r1"].attempts, found["r0"].is_answer) == (0, True)
    assert dict(asked)["r6"] >= 1


def test_a_refused_request_is_a_row_and_frees_its_place():
    asked = [request("bad", name=f"b{n}") for n in range(20)]
    found = list(run([*asked, *of(1, 1)], Steps()))
    assert [r.failure for r in found].count(FailureKind.TOO_LONG) == 20
    assert sum(r.is_answer for r in found) == 2


def test_who_stops_early_aborts_what_is_unfinished():
    engine = Steps()
    results = run(of(1, 9, 9, 9, 9, 9, 9), engine)
    assert next(results).request_id == "r0"
    results.close()
    assert engine.aborted == ["r1", "r2", "r3", "r4"]


def test_a_dead_engine_raises():
    engine = Steps()
    engine.step = lambda: (_ for _ in ()).throw(EngineError("dead"))
    with pytest.raises(EngineError, match="dead"):
        list(run(of(1, 1), engine))


@pytest.mark.parametrize(("sequences", "queued"), [(1, 2), (4, 4), (64, 70), (256, 282)])
def test_a_little_more_is_in_flight_than_runs(sequences, queued):
    assert in_flight(sequences) == queued
