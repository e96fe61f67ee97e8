"""Whether a server refuses one request or all of them, judged by its other answers: pure.

A firewall answers 403 to one text, a server without a right to it answers 403 to all. So such a
refusal waits: an answer to a request that was sent later shows that the server takes requests, and
many refusals without one that it does not. Then no further request is taken up, and what is open
is waited for: it may be answered and paid.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from medhelm_spark.domain.request import FailureKind, Request, RequestResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """About one refusal: `many` of such in a row show that all requests are refused.

    Before the first answer it takes `at_first`. `hint` says what to check then.
    """

    many: int
    at_first: int
    hint: str = ""


class Source:
    """Requests that are taken up until somebody stops it."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests = iter(requests)
        self.is_stopped = False

    def __iter__(self) -> Iterator[Request]:
        while not self.is_stopped and (request := next(self._requests, None)) is not None:
            yield request


def with_rejections(
    results: Iterable[RequestResult],
    source: Source,
    doubts: Mapping[str, Doubt],
    *,
    is_serving: bool = False,
) -> Iterator[RequestResult]:
    """The results; refusals as they are, or rejected where all requests are refused.

    `doubts` are by the ids of the refused requests. `is_serving`: the server has answered before.
    """
    refusals: list[tuple[RequestResult, Doubt]] = []
    for result in results:
        doubt = doubts.get(result.request_id)
        if doubt and not result.is_answer:
            refusals.append((result, doubt))
            enough = min(each.many if is_serving else each.at_first for _, each in refusals)
            source.is_stopped |= len(refusals) >= enough
            continue
        if result.is_answer:
            is_serving = True
            yield from (refused for refused, _ in refusals if _is_before(refused, result))
            refusals = [pair for pair in refusals if not _is_before(pair[0], result)]
        yield result
    for refused, doubt in refusals:
        is_rejected = refused.failure is FailureKind.REJECTED
        is_all = source.is_stopped or not is_serving or is_rejected
        yield _rejected(refused, doubt.hint) if is_all else refused


def _is_before(refused: RequestResult, answer: RequestResult) -> bool:
    """Whether the request of an answer was sent after another one was refused."""
    sent_at = answer.completed_at - timedelta(seconds=answer.request_time or 0.0)
    return refused.completed_at <= sent_at


def _rejected(refused: RequestResult, hint: str) -> RequestResult:
    reason = "; ".join(filter(None, (refused.reason, hint)))
    return replace(refused, failure=FailureKind.REJECTED, reason=reason)
