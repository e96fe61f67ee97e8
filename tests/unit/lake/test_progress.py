"""The meter, fed by real datagrams."""

import io
import pickle
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from medhelm_spark.lake import progress
from medhelm_spark.lake.progress import (
    ConnectMeter,
    Display,
    Meter,
    Watched,
    in_log,
    metered,
    on_terminal,
    progress_line,
    unwatched,
)


@dataclass(frozen=True)
class Answer:
    """A row that counts tokens."""

    completion_tokens: int | None


def answers(numbers: Iterable[int]) -> Iterator[Answer]:
    for number in numbers:
        yield Answer(number or None)


@pytest.fixture
def meter() -> Iterator[Meter]:
    made = Meter(on_terminal(io.StringIO()), "infer", 10, "127.0.0.1")
    made.start()
    yield made
    made.stop()


def until(meter: Meter, text: str) -> str:
    """The meter's line once it has some text, or its last one after five seconds."""
    end = time.monotonic() + 5
    while text not in meter.line() and time.monotonic() < end:
        time.sleep(0.02)
    return meter.line()


def test_rows_and_tokens_of_several_tasks_are_added_up(meter: Meter) -> None:
    for numbers in ([3, 4], [0, 5, 6]):
        task = pickle.loads(pickle.dumps(Watched(answers, "127.0.0.1", meter.port, meter.key)))
        assert list(task(numbers)) == [Answer(number or None) for number in numbers]
    line = until(meter, "5 of 10")
    assert line.startswith("infer: 5 of 10, ")
    assert "tokens/s" in line
    assert line.endswith("s left")


def test_batches_count_as_many_rows_as_they_have(meter: Meter) -> None:
    batches = [pa.record_batch({"value": [1, 2, 3]}), pa.record_batch({"value": [4]})]
    assert list(Watched(iter, "127.0.0.1", meter.port, meter.key)(batches)) == batches
    assert until(meter, "4 of 10").startswith("infer: 4 of 10")


def test_a_task_that_goes_on_is_seen_before_it_ends(meter: Meter) -> None:
    rows = Watched(answers, "127.0.0.1", meter.port, meter.key)(range(100))
    next(rows)
    time.sleep(0.6)
    next(rows)
    assert until(meter, "2 of 10").startswith("infer: 2 of 10")


def test_strangers_are_not_counted(meter: Meter) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for message in (b"", b"nokey 1 5 5", f"{meter.key} 1 five 5".encode(), b"\xff" * 300):
            out.sendto(message, ("127.0.0.1", meter.port))
    Watched(answers, "127.0.0.1", meter.port, meter.key)
    list(Watched(answers, "127.0.0.1", meter.port, meter.key)([1]))
    assert until(meter, "1 of 10").startswith("infer: 1 of 10")


def test_the_line_is_drawn_over_itself_and_cleared() -> None:
    terminal = io.StringIO()
    meter = Meter(on_terminal(terminal), "plan: prompts", None, "127.0.0.1")
    meter.start()
    list(Watched(answers, "127.0.0.1", meter.port, meter.key)([1, 2]))
    until(meter, "prompts: 2")
    time.sleep(1.2)
    meter.stop()
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert drawn[-1] == ""
    assert drawn[-2].startswith("plan: prompts: 2, ")
    assert "\n" not in terminal.getvalue()


def test_a_log_gets_lines_of_their_own_and_a_short_job_none() -> None:
    lines: list[str] = []
    assert in_log(lines.append).seconds == 60
    in_log(lines.append).draw("")
    with metered(None, in_log(lines.append), "infer", 2) as watch:
        sent = pickle.loads(pickle.dumps(watch))  # tasks get it as it is
        assert list(sent(answers)([1, 2])) == [Answer(1), Answer(2)]
    assert lines == []
    slow = Meter(Display(in_log(lines.append).draw, 0.1), "infer", 4, "127.0.0.1")
    slow.start()
    list(Watched(answers, "127.0.0.1", slow.port, slow.key)([1, 2]))
    until(slow, "2 of 4")
    time.sleep(1)
    slow.stop()
    assert lines[-1].startswith("infer: 2 of 4, ")
    assert lines[-1].endswith("s left")
    assert all("\r" not in line for line in lines)


def test_a_meter_that_is_stopped_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DRAW_SECONDS", 3600.0)
    meter = Meter(Display(lambda line: None, 3600.0), "infer", None, "127.0.0.1")
    meter.start()
    time.sleep(0.2)  # it waits for a datagram
    meter.stop()
    assert not meter.is_alive()


def test_nobody_listening_does_no_harm() -> None:
    assert list(Watched(answers, "127.0.0.1", 9, "k")([7])) == [Answer(7)]


@pytest.mark.parametrize(
    ("made", "total", "seconds", "line"),
    [
        (0, 10, 3.0, "x: 0 of 10"),
        (12, 10, 3.0, "x: 12 of 12, 4.0/s, 0 s left"),
        (1000, 1_000_000, 100.0, "x: 1,000 of 1,000,000, 10.0/s, 27.8 h left"),
        (10, 100, 60.0, "x: 10 of 100, 0.2/s, 9 min left"),
    ],
)
def test_lines(made: int, total: int, seconds: float, line: str) -> None:
    assert progress_line("x", made, 0, total, seconds) == line


@dataclass(frozen=True)
class Stage:
    """What a Spark Connect server reports of a stage."""

    stage_id: int
    num_tasks: int
    num_completed_tasks: int


def test_over_spark_connect_finished_tasks_are_shown() -> None:
    lines: list[str] = []
    show = ConnectMeter(Display(lines.append, 0), "infer")
    show(stages=None, inflight_tasks=0, operation_id=None, done=False)
    assert lines == [], "nothing is known yet"
    show(stages=[Stage(1, 1, 1), Stage(2, 1200, 3)], inflight_tasks=4, operation_id="x", done=False)
    assert lines == ["infer: 4 of 1,201 tasks"]


def test_over_spark_connect_a_stage_that_spark_skips_is_not_waited_for() -> None:
    lines: list[str] = []
    stages = [Stage(7, 200, 0), Stage(8, 4, 1), Stage(9, 3, 0)]
    ConnectMeter(Display(lines.append, 0), "score")(stages, 3, "x", done=False)
    assert lines == ["score: 1 of 7 tasks"]


def test_a_driver_address_that_is_not_this_machines_shows_nothing() -> None:
    class Conf:
        def get(self, key: str, default: str | None = None) -> str | None:
            return "192.0.2.1" if key == "spark.driver.host" else default

    class Session:
        conf = Conf()

    spark: Any = Session()
    with metered(spark, on_terminal(io.StringIO()), "infer") as watch:
        assert watch is unwatched
