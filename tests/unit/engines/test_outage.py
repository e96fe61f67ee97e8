"""When failures in a row are an outage."""

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.outage import until_outage
from medhelm_spark.engines.outcome import answered, completion, failed
from tests.unit.engines.nouns import request

OUT, SLOW, BROKEN = FailureKind.UNREACHABLE, FailureKind.TIMEOUT, FailureKind.ENGINE_ERROR
LONG, BAD, DENIED = FailureKind.TOO_LONG, FailureKind.INVALID_REQUEST, FailureKind.DENIED


class Results:
    """What an engine yields, and whether it was closed."""

    def __init__(self, *kinds):
        self.closed = False
        self.given = 0
        self._rows = self._made(kinds)

    def _made(self, kinds):
        try:
            for kind in kinds:
                self.given += 1
                text = completion("A", "stop")
                yield failed(request(), kind, "{}") if kind else answered(request(), (text,), "{}")
        finally:
            self.closed = True

    def until(self, limit):
        return [row.failure for row in until_outage(self._rows, limit)]


@pytest.mark.parametrize(
    ("kinds", "asked"),
    [
        ((OUT, SLOW, BROKEN, None), 3),
        ((OUT, OUT, None, OUT, OUT, None), 6),
        ((OUT, OUT, LONG, OUT, OUT, BAD), 6),
        ((OUT, DENIED, OUT, DENIED, OUT, None), 5),
        ((LONG,) * 9, 9),
        ((DENIED,) * 9, 9),
        ((), 0),
    ],
)
def test_only_failures_of_infrastructure_in_a_row_end_the_asking(kinds, asked):
    results = Results(*kinds)
    assert results.until(3) == list(kinds[:asked])
    assert results.given == asked
    assert results.closed


def test_a_caller_who_stops_early_closes_the_engines_results():
    results = Results(None, None)
    rows = until_outage(results._rows, 3)
    next(rows)
    rows.close()
    assert results.closed
