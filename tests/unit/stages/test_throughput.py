"""The result of one job, and of several jobs together."""

from datetime import UTC, datetime, timedelta

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER
from medhelm_spark.stages.infer.throughput import (
    EXECUTORS,
    AskedOutcome,
    Throughput,
    by_executor,
    counts_by_executor,
    counts_of,
    throughput,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def outcome(
    failure: str | None,
    requests: int,
    first: float,
    last: float,
    executor: str = "e1",
    start: float | None = None,
) -> AskedOutcome:
    return AskedOutcome(
        model_deployment="acme/m",
        executor=executor,
        failure=failure,
        requests=requests,
        prompt_tokens=0 if failure else 100 * requests,
        cached_tokens=0 if failure else 25 * requests,
        completion_tokens=0 if failure else 10 * requests,
        first_at=START + timedelta(seconds=first),
        last_at=START + timedelta(seconds=last),
        first_time=0.0 if failure else 0.5,
        starts=0 if start is None else 1,
        start_time=start or 0.0,
    )


def record(unit: str, suite: str, stage: str = INFER.name, **counts: int) -> RunRecord:
    return RunRecord(
        stage=stage,
        unit_id=unit,
        write_id="w",
        fingerprint="f",
        suite=suite,
        started_at=START,
        finished_at=START,
        counts=counts,
        code_version="0",
        spark_version="0",
    )


def test_a_job_lasts_from_its_first_request_to_its_last_result() -> None:
    """The first answer came at 1 s and took 0.5 s; failures came from 3 s to 11 s."""
    counts = counts_of([outcome(None, 8, 1, 9), outcome("timeout", 2, 3, 11)])
    assert counts == {
        "requests": 10,
        "failed:timeout": 2,
        "prompt_tokens": 800,
        "cached_tokens": 200,
        "completion_tokens": 80,
        "milliseconds": 10_500,
        "starts": 0,
        "start_milliseconds": 0,
    }


def test_a_job_records_what_each_executor_did_and_how_long_its_slots_waited() -> None:
    """Two executors of three slots, in a job of 20 s: one worked 8.5 s, the other 4.5 s."""
    rows = [
        outcome(None, 8, 1, 9, start=3.0),
        outcome(None, 4, 2, 6, executor="e2"),
        outcome("timeout", 1, 6, 6, executor="e2"),
    ]
    counts = counts_by_executor(rows, slots={"acme/m": 3}, seconds={"acme/m": 20.0})
    assert list(counts) == [("acme/m", "e1"), ("acme/m", "e2"), ("acme/m", "")]
    busy = {
        name: (one["busy_milliseconds"], one["slot_milliseconds"]) for name, one in counts.items()
    }
    assert busy["acme/m", "e1"] == (8_500, 20_000)
    assert busy["acme/m", "e2"] == (4_500, 20_000)
    assert busy["acme/m", ""] == (13_000, 60_000)
    assert counts["acme/m", "e2"]["failed:timeout"] == counts["acme/m", ""]["failed:timeout"] == 1
    assert counts["acme/m", "e1"]["start_milliseconds"] == 3_000
    records = [
        record(f"acme/m|w|{executor}", "s", EXECUTORS.name, **one)
        for (_, executor), one in counts.items()
        if executor
    ]
    first, second = by_executor(records, "acme/m", "s")
    assert (first.requests, first.busy_share, first.mean_start) == (8, 0.425, 3.0)
    assert (second.failures, second.prefix_hit_rate, second.mean_start) == (
        {"timeout": 1},
        0.25,
        None,
    )
    assert by_executor(records, "acme", "s") == by_executor(records, "acme/m", "other") == []


def test_jobs_of_a_deployment_are_summed_within_a_suite() -> None:
    jobs = [
        record("acme/m|w1", "s", requests=4, prompt_tokens=40, milliseconds=500),
        record(
            "acme/m|w2", "s", requests=2, completion_tokens=60, milliseconds=500, **{"failed:x": 1}
        ),
        record("acme/m|w3", "other", requests=9, prompt_tokens=900, milliseconds=1000),
        record("b|c|w4", "s", requests=1),
        record("acme/m|w5", "s", stage="score", requests=7),
    ]
    sums = throughput(jobs, "s")
    assert sums["acme/m"] == Throughput(
        requests=6, failures={"x": 1}, prompt_tokens=40, completion_tokens=60, seconds=1.0
    )
    assert sums["acme/m"].tokens_per_second == 100.0
    assert sums["b|c"].tokens_per_second is None
    assert throughput(jobs)["acme/m"].requests == 15
