"""A refusal is of one request or of all: the answers beside it decide."""

from datetime import UTC, datetime, timedelta

import pytest

from medhelm_spark.domain.request import FailureKind, RequestResult
from medhelm_spark.engines.outcome import completion
from medhelm_spark.engines.rejection import Doubt, Source, with_rejections
from medhelm_spark.engines.retry import Asked, until_fault
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import request

START = datetime(2026, 1, 1, tzinfo=UTC)
OWN, ALL = FailureKind.INVALID_REQUEST, FailureKind.REJECTED


def result(
    name: str, sent: float, back: float, failure: FailureKind | None = None
) -> RequestResult:
    """A request that was sent and came back so many seconds after the start."""
    return RequestResult(
        request_id=name,
        model_deployment="m",
        access_level=request().access_level,
        completed_at=START + timedelta(seconds=back),
        engine_fingerprint="{}",
        completions=() if failure else (completion("A", "stop"),),
        failure=failure,
        request_time=back - sent,
        reason="403" if failure else None,
    )


def kinds(*results: RequestResult, many: int = 3, is_serving: bool = False, at_first: int = 3):
    doubt = Doubt(many=many, at_first=at_first, hint="check it")
    doubts = {each.request_id: doubt for each in results if each.failure in (OWN, ALL)}
    source = Source([])
    rows = list(with_rejections(results, source, doubts, is_serving=is_serving))
    assert len(rows) == len(results)
    return {row.request_id: row.failure for row in rows}, source.is_stopped


def test_an_answer_to_a_later_request_shows_that_one_text_was_refused() -> None:
    found = kinds(result("bad", 0, 1, OWN), result("good", 2, 3))
    assert found == ({"bad": OWN, "good": None}, False)


def test_answers_to_earlier_requests_show_nothing() -> None:
    """A key that expired: what was sent before is still answered."""
    refused = [result(f"bad {at}", 4, 5 + at, OWN) for at in range(3)]
    early = [result(f"good {at}", 3, 6 + at) for at in range(2)]
    found, is_stopped = kinds(refused[0], early[0], refused[1], early[1], refused[2])
    assert is_stopped
    assert [found[f"bad {at}"] for at in range(3)] == [ALL] * 3
    assert [found[f"good {at}"] for at in range(2)] == [None] * 2


@pytest.mark.parametrize(("is_serving", "kind"), [(True, OWN), (False, ALL)])
def test_the_last_request_is_judged_by_whether_the_server_ever_answered(
    is_serving: bool, kind: FailureKind
) -> None:
    assert kinds(result("bad", 0, 1, OWN), is_serving=is_serving) == ({"bad": kind}, False)


def test_what_the_server_says_of_all_is_never_settled_and_stops_nothing_while_it_answers() -> None:
    refused = [result(f"bad {at}", at, at + 0.5, ALL) for at in range(6)]
    good = [result(f"good {at}", at + 0.6, at + 0.9) for at in range(6)]
    found, is_stopped = kinds(*(each for pair in zip(refused, good, strict=True) for each in pair))
    assert not is_stopped
    assert [found[f"bad {at}"] for at in range(6)] == [ALL] * 6


def test_before_the_first_answer_fewer_refusals_are_enough() -> None:
    refused = [result(f"bad {at}", 0, 1, OWN) for at in range(3)]
    assert kinds(*refused, many=9, at_first=3)[1]
    assert not kinds(*refused, many=9, at_first=3, is_serving=True)[1]


def test_a_source_that_is_stopped_gives_no_further_request() -> None:
    source = Source(request(name) for name in "abc")
    names = []
    for each in source:
        names.append(each.request_id)
        source.is_stopped = len(names) == 2
    assert names == ["a", "b"]


def broken(after: int, error: Exception):
    started_requests = Asked(request(name) for name in "abcd")

    def results():
        for number, each in enumerate(started_requests):
            if number == after:
                raise error
            yield result(each.request_id, 0, 1)

    return list(until_fault(results(), started_requests, "{}"))


def test_an_engine_that_breaks_keeps_what_it_answered() -> None:
    rows = broken(2, EngineError("the library failed"))
    assert [(row.request_id, row.failure) for row in rows] == [("a", None), ("b", None), ("c", ALL)]
    assert rows[-1].reason == "the library failed"


def test_what_another_error_says_is_not_kept() -> None:
    assert broken(1, ValueError("Roe, 54"))[-1].reason == "ValueError"


def test_an_engine_that_breaks_at_once_raises() -> None:
    with pytest.raises(EngineError):
        broken(0, EngineError("the library failed"))
