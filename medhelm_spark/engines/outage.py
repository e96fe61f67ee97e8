"""When to stop asking an engine that gives no answers: pure policy."""

from collections.abc import Iterator

from medhelm_spark.domain.request import FailureKind, RequestResult


def until_outage(results: Iterator[RequestResult], limit: int) -> Iterator[RequestResult]:
    """An engine's results, up to and with the `limit`-th failure of infrastructure in a row.

    What is still open then is cancelled, and what was not asked has no result: it stays as it was.
    """
    in_a_row = 0
    try:
        for result in results:
            yield result
            in_a_row = failures_after(in_a_row, result.failure)
            if in_a_row >= limit:
                return
    finally:
        if close := getattr(results, "close", None):
            close()


def failures_after(in_a_row: int, failure: FailureKind | None) -> int:
    """The failures of infrastructure in a row after one more result.

    A refused request shows that the engine lives, as an answer does; a denied one was never sent.
    """
    if failure is FailureKind.DENIED:
        return in_a_row
    return in_a_row + 1 if failure is not None and failure.is_infrastructure else 0
