"""Which requests are settled, which are asked again, and the message of an outage."""

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.errors import EngineError
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.outage import (
    cut_short,
    is_rejected,
    left_over,
    outage,
    without_answer,
)
from medhelm_spark.stages.infer.pending import (
    BITS,
    InferenceTargets,
    RequestCounts,
    RequestStates,
    tallies,
)
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.infer.throughput import AskedOutcome
from tests.unit.engines.nouns import deployment
from tests.unit.stages.test_commits import never
from tests.unit.stages.test_pulling import POLICY

OUT, SLOW, LONG = FailureKind.UNREACHABLE, FailureKind.TIMEOUT, FailureKind.TOO_LONG
FINAL_FAILURES = frozenset({LONG, FailureKind.DENIED, FailureKind.INVALID_REQUEST})


def standing(
    requests: int, *kinds: FailureKind, answered: bool = False, reason: str | None = None
) -> RequestStates:
    return RequestStates(
        model_deployment="m",
        answered=answered,
        failures=sum({BITS[kind] for kind in kinds}),
        last_failure=kinds[-1] if kinds else None,
        requests=requests,
        reason=reason,
    )


def outcome(name: str, requests: int, failure: FailureKind | None = None) -> AskedOutcome:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    return AskedOutcome(
        model_deployment=name,
        executor="",
        failure=failure,
        requests=requests,
        prompt_tokens=0,
        cached_tokens=0,
        completion_tokens=0,
        first_at=now,
        last_at=now,
        first_time=0.0,
        starts=0,
        start_time=0.0,
    )


@pytest.mark.parametrize(
    ("left", "sentence"), [(2, "2 requests to deployment 'm' were not asked"), (0, "")]
)
def test_an_order_that_left_requests_unasked_without_an_outage_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int, sentence: str
) -> None:
    lake = Lake(Session(never, "local"), str(tmp_path / "lake")).in_process()
    counts = iter([RequestCounts(not_asked=3), RequestCounts(answered=3 - left, not_asked=left)])
    stage = "medhelm_spark.stages.infer.stage"
    monkeypatch.setattr(f"{stage}.tallies_of", lambda *_: {"m": next(counts)})
    monkeypatch.setattr(f"{stage}._send", lambda *_: (3, set()))
    targets = InferenceTargets(deployments={"m": deployment("canned", name="m")}, policy=POLICY)
    with pytest.raises(EngineError, match=sentence) if left else nullcontext():
        assert infer(Context(lake=lake, suite="s"), ["u"], targets) == 3


def test_requests_are_counted_by_the_failure_that_decides() -> None:
    rows = [
        standing(5, answered=True),
        standing(4, OUT, answered=True),
        standing(3),
        standing(2, OUT, SLOW),
        standing(1, OUT, LONG),
        standing(1, LONG, OUT),
    ]
    tally = tallies(rows, {"m": FINAL_FAILURES})["m"]
    assert tally == RequestCounts(answered=9, not_asked=3, settled={LONG: 2}, failed={SLOW: 2})
    assert (tally.requests, tally.coverage) == (16, 9 / 16)
    settled = tallies(rows, {"m": FINAL_FAILURES | {SLOW}})["m"]
    assert settled.settled == {LONG: 2, SLOW: 2}
    assert without_answer([tally, tally]) == {"too_long": 4, "timeout": 4, "not asked": 6}


@pytest.mark.parametrize(
    ("tally", "is_silent"),
    [
        (RequestCounts(failed={OUT: 4}), True),
        (RequestCounts(failed={OUT: 4}, settled={FailureKind.DENIED: 1}), True),
        (RequestCounts(failed={OUT: 4}, answered=1), False),
        (RequestCounts(failed={OUT: 4}, settled={LONG: 1}), False),
        (RequestCounts(settled={LONG: 4}), False),
        (RequestCounts(), False),
    ],
)
def test_an_engine_that_never_replied_is_out_however_few_it_was_asked(
    tally: RequestCounts, is_silent: bool
) -> None:
    assert tally.is_silent is is_silent


def test_what_was_left_unasked_beside_failures_is_an_outage() -> None:
    requests = {"up": 9, "down": 9, "late": 9}
    rows = [outcome("up", 8), outcome("up", 1, OUT), outcome("down", 4), outcome("down", 4, OUT)]
    assert cut_short(requests, [*rows, outcome("late", 9, SLOW)]) == {"down"}
    assert cut_short(requests, []) == set(), "another driver wrote the round"


def test_failed_requests_are_printed_with_the_command_that_asks_again() -> None:
    assert left_over([RequestCounts(answered=3)]) == ""
    assert left_over([RequestCounts(settled={LONG: 1})]) == (
        "1 request stays failed (too_long 1): --retry-failed asks it again"
    )
    assert left_over(
        [RequestCounts(failed={SLOW: 2}), RequestCounts(failed={OUT: 1}, settled={LONG: 3})]
    ) == (
        "3 requests failed (timeout 2, unreachable 1): the same command asks again; "
        "3 requests stay failed (too_long 3): --retry-failed asks them again"
    )


def test_an_outage_is_one_sentence() -> None:
    names = {"m": "deployment 'm' at gpu:8000"}
    tally = RequestCounts(answered=1, not_asked=1200, failed={OUT: 32})
    assert outage(names, {"m": tally}) == (
        "deployment 'm' at gpu:8000 does not answer: 1 answer kept, "
        "1232 requests without one (not asked 1,200, unreachable 32)"
    )


def test_a_deployment_that_takes_no_request_says_what_to_check() -> None:
    rejected = FailureKind.REJECTED
    rows = [
        standing(20, answered=True),
        standing(12, rejected, reason="429 insufficient_quota; the quota is used up"),
        standing(2, FailureKind.INVALID_REQUEST, reason="403"),
        standing(6),
    ]
    tally = tallies(rows, {"m": FINAL_FAILURES})["m"]
    assert outage({"m": "deployment 'm' at gpu:8000"}, {"m": tally}) == (
        "deployment 'm' at gpu:8000 takes no request (429 insufficient_quota; the quota is used "
        "up): 20 answers kept, 20 requests without one (rejected 12, not asked 6, "
        "invalid_request 2)"
    )
    assert left_over([tally]) == (
        "12 requests failed (rejected 12: 429 insufficient_quota; the quota is used up): the same "
        "command asks again; 2 requests stay failed (invalid_request 2: 403): --retry-failed asks "
        "them again"
    )


@pytest.mark.parametrize(
    ("reason", "is_of_all"),
    [("401", True), ("402", True), ("404 model_not_found; check it", True), ("403", False)],
)
def test_a_refusal_that_may_be_of_one_text_stops_no_run(reason: str, is_of_all: bool) -> None:
    """The only request of its task; sent again alone by every run, it would always be refused."""
    rows = [standing(9, answered=True), standing(1, FailureKind.REJECTED, reason=reason)]
    tally = tallies(rows, {"m": FINAL_FAILURES})["m"]
    assert is_rejected(tally) is is_of_all
    assert not is_rejected(RequestCounts(answered=3))
