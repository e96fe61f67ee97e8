"""Messages about requests without an answer, and when asking has to stop: pure functions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.retry import is_of_all
from medhelm_spark.stages.infer.pending import RequestCounts
from medhelm_spark.stages.infer.throughput import AskedOutcome


def cut_short(requests: Mapping[str, int], outcomes: Iterable[AskedOutcome]) -> set[str]:
    """The deployments that a round stopped asking: they have failures, and requests without result.

    `requests` counts the round's requests by deployment. Without any outcome, another driver wrote
    the round, and this driver has no counts of it.
    """
    results: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for outcome in outcomes:
        results[outcome.model_deployment] += outcome.requests
        if outcome.failure and FailureKind(outcome.failure).is_infrastructure:
            failures[outcome.model_deployment] += outcome.requests
    return {name for name, count in requests.items() if failures[name] and results[name] < count}


def is_rejected(tally: RequestCounts) -> bool:
    """Whether a deployment rejects every request, because of its key, quota or model name.

    Any other refusal may concern one text only.
    """
    return is_of_all(tally.reasons.get(FailureKind.REJECTED, "") or "-")


def left_over(tallies: Iterable[RequestCounts]) -> str:
    """What stays without an answer, and which command asks again; empty if all are answered.

    >>> left_over([RequestCounts(answered=1, settled={FailureKind.TOO_LONG: 3})])
    '3 requests stay failed (too_long 3): --retry-failed asks them again'
    >>> seen = {FailureKind.INVALID_REQUEST: "400 invalid_value"}
    >>> left_over([RequestCounts(settled={FailureKind.INVALID_REQUEST: 1}, reasons=seen)])
    '1 request stays failed (invalid_request 1: 400 invalid_value): --retry-failed asks it again'
    """
    tallies = list(tallies)
    settled, failed = _summed(t.settled for t in tallies), _summed(t.failed for t in tallies)
    parts = []
    if failed:
        many = counted(failed.total(), "request")
        parts.append(
            f"{many} failed ({with_reasons(failed, tallies)}): the same command asks again"
        )
    if settled:
        count = settled.total()
        them, stay = ("it", "stays") if count == 1 else ("them", "stay")
        many = counted(count, "request")
        why = with_reasons(settled, tallies)
        parts.append(f"{many} {stay} failed ({why}): --retry-failed asks {them} again")
    return "; ".join(parts)


def not_asked(tallies: Mapping[str, RequestCounts]) -> str:
    """The requests that an order left without a result; empty if there are none.

    >>> not_asked({"acme/m": RequestCounts(answered=1, not_asked=2), "acme/n": RequestCounts()})
    "2 requests to deployment 'acme/m' were not asked: the same command asks them"
    """
    left = {name: tally.not_asked for name, tally in sorted(tallies.items()) if tally.not_asked}
    parts = [f"{counted(count, 'request')} to deployment {name!r}" for name, count in left.items()]
    were, them = ("was", "it") if sum(left.values()) == 1 else ("were", "them")
    return f"{', '.join(parts)} {were} not asked: the same command asks {them}" if parts else ""


def without_answer(tallies: Iterable[RequestCounts]) -> Counter[str]:
    """The number of requests without an answer, by kind of failure or as `not asked`."""
    sums: Counter[str] = Counter()
    for tally in tallies:
        sums.update({kind.value: many for kind, many in tally.settled.items()})
        sums.update({kind.value: many for kind, many in tally.failed.items()})
        sums["not asked"] += tally.not_asked
    return +sums


def outage(names: Mapping[str, str], tallies: Mapping[str, RequestCounts]) -> str:
    """The sentence about deployments that give no answers; `names` describes each of them."""
    parts = [_outage(names[name], tallies.get(name, RequestCounts())) for name in sorted(names)]
    return "; ".join(parts)


def _outage(where: str, tally: RequestCounts) -> str:
    missing = without_answer([tally])
    answers = counted(tally.answered, "answer")
    return (
        f"{where} {_trouble(tally)}: {answers} kept, "
        f"{counted(missing.total(), 'request')} without one ({by_kind(missing)})"
    )


def _trouble(tally: RequestCounts) -> str:
    """Why a deployment gives no answers."""
    reason = tally.reasons.get(FailureKind.REJECTED)
    return f"takes no request ({reason.rstrip('.')})" if reason else "does not answer"


def with_reasons(counts: Mapping[FailureKind, int], tallies: Iterable[RequestCounts]) -> str:
    """Counts by kind, largest first; with the reason where a person can act on it."""
    reasons = {
        kind: why for tally in tallies for kind, why in tally.reasons.items() if kind.needs_reason
    }
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{kind} {many:,}: {why}" if (why := reasons.get(kind)) else f"{kind} {many:,}"
        for kind, many in ordered
    )


def by_kind(counts: Mapping[str, int] | Mapping[FailureKind, int]) -> str:
    """Counts by name, largest first.

    >>> by_kind({"timeout": 1, "engine_error": 1200})
    'engine_error 1,200, timeout 1'
    """
    ordered: Sequence[tuple[str, int]] = sorted(
        counts.items(), key=lambda pair: (-pair[1], pair[0])
    )
    return ", ".join(f"{name} {many:,}" for name, many in ordered)


def _summed(parts: Iterable[Mapping[FailureKind, int]]) -> Counter[FailureKind]:
    sums: Counter[FailureKind] = Counter()
    for part in parts:
        sums.update(part)
    return sums
