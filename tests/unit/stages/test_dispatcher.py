"""Slots pull: which deployment each asks, which chunk it takes, what one that ended gives back."""

from collections import Counter
from dataclasses import replace

from medhelm_spark.stages.infer.dispatcher import Chunk, Dispatcher, shares


def chunks(name: str, count: int, requests: int = 64) -> list[Chunk]:
    return [
        Chunk(
            file=f"{name}.parquet",
            number=number,
            rows=range(requests),
            model_deployment=name,
            tokens=10.0 * requests,
        )
        for number in range(count)
    ]


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def drained(dispatcher: Dispatcher, slots: int) -> list[Chunk]:
    """All chunks, as slots take them one after the other, round by round."""
    taken: list[Chunk] = []
    while any(dispatcher.deployment(slot) for slot in range(slots)):
        for slot in range(slots):
            if chunk := dispatcher.chunk(slot):
                taken.append(chunk)
                dispatcher.done(slot, chunk.key)
    return taken


def test_slots_are_shared_out_in_proportion_and_every_deployment_has_one() -> None:
    work = {"large": 900.0, "middle": 90.0, "small": 1.0}
    assert Counter(shares(work, 12)) == {"large": 10, "middle": 1, "small": 1}
    assert shares(work, 2) == ["large", "middle"]
    assert shares({}, 3) == []


def test_every_request_is_taken_once_and_in_order() -> None:
    dispatcher = Dispatcher([*chunks("a", 7), *chunks("b", 3)], 4)
    taken = drained(dispatcher, 4)
    rows = Counter((each.file, each.number, row) for each in taken for row in each.rows)
    assert len(rows) == 10 * 64
    assert set(rows.values()) == {1}
    of_a = [each.number for each in taken if each.model_deployment == "a"]
    assert of_a == sorted(of_a)
    assert dispatcher.deployment(0) is None


def test_deployments_stand_side_by_side_and_a_slot_that_is_dry_joins_another() -> None:
    dispatcher = Dispatcher([*chunks("a", 8), *chunks("b", 1, 4)], 2)
    assert [dispatcher.deployment(slot) for slot in (0, 1)] == ["a", "b"]
    only = dispatcher.chunk(1)
    assert only
    assert only.model_deployment == "b"
    dispatcher.done(1, only.key)
    assert dispatcher.chunk(1) is None
    assert dispatcher.deployment(1) == "a"
    joined = dispatcher.chunk(1)
    assert joined
    assert joined.model_deployment == "a"


def test_near_the_end_chunks_are_divided_so_that_slots_end_together() -> None:
    dispatcher = Dispatcher(chunks("a", 1, 64), 2)
    sizes = [len(chunk.rows) for chunk in drained(dispatcher, 2)]
    assert sum(sizes) == 64
    assert sizes[0] < 64
    assert min(sizes[:-1]) >= 8


def test_an_engine_is_started_for_what_takes_longer_than_its_start() -> None:
    clock = Clock()
    dispatcher = Dispatcher([*chunks("a", 40), *chunks("b", 2)], 2, clock)
    assert dispatcher.deployment(0) == "a"
    assert dispatcher.deployment(1) == "b"
    clock.now = 60.0  # both engines took a minute to start
    for slot, most in ((0, 10), (1, 99)):
        chunk = dispatcher.chunk(slot)
        while chunk:
            clock.now += 1.0
            dispatcher.done(slot, chunk.key)
            most -= 1
            chunk = dispatcher.chunk(slot) if most else None
    assert dispatcher.requests == {"a": 30 * 64, "b": 0}
    assert dispatcher.deployment(1) is None, "30 s of work are not worth a start of 60 s"


def test_what_a_slot_had_taken_comes_back_first_without_what_was_answered() -> None:
    dispatcher = Dispatcher(chunks("a", 3), 1)
    assert dispatcher.deployment(0) == "a"
    first = dispatcher.chunk(0)
    assert first
    rest = first.without(set(first.rows[:10]))
    assert dispatcher.lost(0) == [first]
    assert rest
    dispatcher.return_first([rest])
    assert dispatcher.deployment(0) == "a"
    again = dispatcher.chunk(0)
    assert again
    assert (again.number, next(iter(again.rows))) == (first.number, first.rows[10])
    assert first.without(set(first.rows)) is None


def test_nothing_more_of_a_deployment_that_is_out_is_handed_out() -> None:
    dispatcher = Dispatcher([*chunks("a", 3), *chunks("b", 1)], 1)
    assert dispatcher.deployment(0) == "a"
    assert dispatcher.chunk(0)
    dispatcher.give_up("a")
    assert dispatcher.chunk(0) is None
    assert dispatcher.deployment(0) == "b"
    dispatcher.return_first(chunks("a", 1))
    assert dispatcher.requests["a"] == 0, "nor what a slot that ended had taken"


def test_a_slot_beyond_those_of_a_dispatcher_has_nothing_to_do() -> None:
    """Slots of one job pull from several dispatchers, which have different numbers of slots."""
    dispatcher = Dispatcher(chunks("a", 3), 1)
    assert dispatcher.deployment(1) is None
    assert dispatcher.chunk(1) is None
    assert dispatcher.lost(1) == []


def test_what_answers_bring_has_slots_from_the_beginning_which_stay_for_it() -> None:
    clock = Clock()
    dispatcher = Dispatcher(chunks("model", 2), 2, clock, expected={"judge": 640.0})
    assert [dispatcher.deployment(slot) for slot in (0, 1)] == ["model", "judge"]
    clock.now = 60.0
    assert dispatcher.chunk(1) is None
    assert dispatcher.is_idle(1), "its engine has started before its work is there"
    taken = dispatcher.chunk(0)
    assert taken
    assert dispatcher.brings_more([0])
    dispatcher.done(0, taken.key)
    follow_up = replace(chunks("judge", 1)[0], is_follow_up=True)
    dispatcher.add([follow_up])
    joined = dispatcher.chunk(1)
    assert joined
    assert (joined.model_deployment, joined.is_follow_up) == ("judge", True)
    assert not dispatcher.is_idle(1), "answers of its own are to come"
    dispatcher.end()
    assert not dispatcher.is_fed(1)


def test_a_model_that_is_a_judge_too_is_asked_last_where_slots_are_few() -> None:
    models = [*chunks("a", 3), *chunks("b", 1)]
    dispatcher = Dispatcher(models, 1, expected={"a": 640.0})
    taken = drained(dispatcher, 1)
    names = [each.model_deployment for each in taken]
    assert names == sorted(names, reverse=True)
    assert not dispatcher.brings_more([0])
    dispatcher.add([replace(chunks("a", 1)[0], is_follow_up=True)])
    assert not dispatcher.brings_more([0]), "answers of judges bring nothing"
    assert dispatcher.deployment(0) == "a", "its engine is there"


def test_a_slot_leaves_a_judge_for_work_of_several_starts() -> None:
    clock = Clock()
    dispatcher = Dispatcher(chunks("model", 40), 2, clock, expected={"judge": 25_600.0})
    assert [dispatcher.deployment(slot) for slot in (0, 1)] == ["model", "judge"]
    clock.now = 10.0  # both engines took ten seconds to start
    assert dispatcher.chunk(1) is None
    for _ in range(2):
        chunk = dispatcher.chunk(0)
        assert chunk
        clock.now += 5.0
        dispatcher.done(0, chunk.key)
    assert not dispatcher.is_idle(1)
    assert dispatcher.deployment(1) == "model", "190 s are left, and a start takes 10"


def test_a_deployment_that_is_out_takes_no_more() -> None:
    dispatcher = Dispatcher(chunks("model", 1), 1, expected={"judge": 1.0})
    dispatcher.give_up("judge")
    dispatcher.add(chunks("judge", 1))
    assert dispatcher.requests["judge"] == 0
    dispatcher.give_up("model")
    assert not dispatcher.brings_more([0])
