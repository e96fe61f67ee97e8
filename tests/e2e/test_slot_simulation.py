"""The simulation of slots: waves come out as they were measured by it, and pulling as it must."""

import pytest

from benchmarks.slot_simulation import (
    LOADS,
    MODEL,
    Played,
    before_and_now,
    judges_after,
    load,
    models,
    pulled,
    waves,
)

TODAY = {(LOADS[0], 128): 19, (LOADS[1], 8): 63, (LOADS[2], 128): 60}
"""Percent busy by waves, which a simulation of the earlier code gave."""

LEAST = {(LOADS[0], 128): 44, (LOADS[1], 8): 94, (LOADS[2], 128): 82}
"""By pull; judges join the order of the models."""


@pytest.mark.long
@pytest.mark.parametrize(("name", "slots"), sorted(TODAY))
def test_waves_are_as_idle_as_they_were_and_slots_that_pull_are_not(name: str, slots: int) -> None:
    before, now = before_and_now(name, slots)
    assert before.busy == pytest.approx(TODAY[name, slots], abs=1)
    assert now.busy >= LEAST[name, slots]
    assert now.busy <= now.limit
    num_models = {LOADS[0]: 5, LOADS[1]: 20, LOADS[2]: 1}[name]
    assert now.starts <= slots + num_models - 1


@pytest.mark.parametrize("slots", [8, 128])
def test_judges_that_join_are_done_before_those_that_begin_afterwards(slots: int) -> None:
    joined, after = before_and_now(LOADS[0], slots)[1], judges_after(slots)
    assert joined.work == pytest.approx(after.work)  # added up in another order
    assert joined.seconds < after.seconds


def test_one_slot_does_what_one_gpu_can() -> None:
    """Nothing is lost but one start and the last answers."""
    loads = {"m": load(2_000, 1, MODEL)}
    for played in (waves(loads, 1), pulled(loads, 1)):
        assert isinstance(played, Played)
        assert played.starts == 1
        assert played.work < played.seconds < 2.5 * played.work + 90


def test_more_slots_than_work_are_started_once_each() -> None:
    assert pulled(models(2), 16).starts <= 16 + 2 - 1
