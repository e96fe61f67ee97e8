"""How much a wave holds: by what was declared at first, then by what was seen."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.stages.infer.speeds import FIRST_WAVE, Speeds, speeds_of

WAVE = 600.0
AT = datetime(2026, 1, 1, tzinfo=UTC)


def waves(rows: int, tokens: int, declared: float, served: float, slots: int = 1) -> list[int]:
    """The rows of each wave, as `infer` cuts them."""
    speeds, found = Speeds({"m": declared}), []
    while rows:
        speed = slots * speeds.of("m")
        seconds = WAVE * (1.0 if speeds.is_known(["m"]) else FIRST_WAVE)
        fits = rows * tokens / speed <= WAVE
        now = rows if fits else min(rows, max(1, int(seconds * speed / tokens)))
        found.append(now)
        rows -= now
        speeds.see("m", now * tokens, now * tokens / served)
    return found


@pytest.mark.parametrize(
    ("declared", "served", "expected"),
    [
        (1_500, 15_000, [18, 982]),
        (15_000, 15_000, [1_000]),
        (150, 15_000, [1, 288, 711]),
        (5_000, 1_500, [60, 180, 180, 180, 180, 180, 40]),
    ],
)
def test_a_thousand_long_rows(declared: float, served: float, expected: list[int]) -> None:
    """Of 5,000 tokens: 3,333 s at 1,500 a second, 333 s at 15,000."""
    assert waves(1_000, 5_000, declared, served) == expected


def test_slots_make_waves_larger_and_not_shorter() -> None:
    assert waves(128_000, 5_000, 1_500, 1_500)[1] == 180
    assert waves(128_000, 5_000, 1_500, 1_500, slots=128)[1] == 128 * 180


def test_a_wave_without_an_answer_is_no_measure_and_is_not_small_twice() -> None:
    speeds = Speeds({"m": 100.0})
    speeds.see("m", 0, 60.0)
    assert speeds.is_known(["m"])
    assert speeds.of("m") == 100.0


def deployment(**keys: object) -> Deployment:
    fixed = {"name": "m", "model": "m", "engine": "vllm", "locality": Locality.LOCAL}
    return Deployment(**{**fixed, **keys})


def record(minutes: int, **counts: int) -> RunRecord:
    at = AT + timedelta(minutes=minutes)
    return RunRecord(
        stage="infer",
        unit_id=f"m|write{minutes}",
        write_id=f"write{minutes}",
        fingerprint="",
        suite="s",
        started_at=at,
        finished_at=at,
        counts=counts,
        code_version="",
        spark_version="",
        schema_version=1,
    )


def test_the_last_measured_wave_goes_before_what_is_declared() -> None:
    assert speeds_of([deployment()], []).of("m") == 1_500.0, "the engine's guess"
    assert speeds_of([deployment(tokens_per_second=5.0)], []).of("m") == 5.0
    assert speeds_of([deployment(engine="canned")], []).of("m") == math.inf
    records = [
        record(2, estimated_tokens=3_000, asking_milliseconds=1_000),
        record(1, estimated_tokens=9_000, asking_milliseconds=1_000),
        record(3, requests=7),
    ]
    assert speeds_of([deployment(tokens_per_second=5.0)], records).of("m") == 3_000.0
