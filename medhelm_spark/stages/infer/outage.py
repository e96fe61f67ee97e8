"""What a person is told of requests without an answer, and when asking has to stop: pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.retry import is_of_all
from medhelm_spark.stages.infer.pending import RequestCounts
from medhelm_spark.stages.infer.throughput import AskedOutcome


def cut_short(asked: Mapping[str, int], outcomes: Iterable[AskedOutcome]) -> set[str]:
    """The deployments that a round stopped asking: requests without a result beside failures.

    `asked` are the round's requests by deployment. Without any outcome another driver wrote it,
    and nothing is known of it here.
    """
    results: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for outcome in outcomes:
        results[outcome.model_deployment] += outcome.requests
        if outcome.failure and FailureKind(outcome.failure).is_infrastructure:
            failures[outcome.model_deployment] += outcome.requests
    return {name for name, count in asked.items() if failures[name] and results[name] < count}


def is_rejected(tally: RequestCounts) -> bool:
    """Whether a deployment takes no request: its key, quota or name of a model does not do.

    A refusal that does not say so may be of one text, whose task was answered nothing else.
    """
    return is_of_all(tally.reasons.get(FailureKind.REJECTED, "") or "-")


def left_over(tallies: Iterable[RequestCounts]) -> str:
    """What stays without an answer, and what asks it again; empty where nothing does.

    >>> left_over([Tally(answered=1, settled={FailureKind.TOO_LONG: 3})])
    '3 requests stay failed (too_long 3): --retry-failed asks them again'
    >>> seen = {FailureKind.INVALID_REQUEST: "400 invalid_value"}
    >>> left_over([Tally(settled={FailureKind.INVALID_REQUEST: 1}, reasons=seen)])
    '1 request stays failed (invalid_request 1: 400 invalid_value): --retry-failed asks it again'
    """
    held = list(tallies)
    settled, failed = _summed(t.settled for t in held), _summed(t.failed for t in held)
    parts = []
    if failed:
        many = counted(failed.total(), "request")
        parts.append(f"{many} failed ({told(failed, held)}): the same command asks again")
    if settled:
        count = settled.total()
        them, stay = ("it", "stays") if count == 1 else ("them", "stay")
        many = counted(count, "request")
        why = told(settled, held)
        parts.append(f"{many} {stay} failed ({why}): --retry-failed asks {them} again")
    return "; ".join(parts)


def without_answer(tallies: Iterable[RequestCounts]) -> Counter[str]:
    """The requests without an answer by the kind of their failure, or as `not asked`."""
    sums: Counter[str] = Counter()
    for tally in tallies:
        sums.update({kind.value: many for kind, many in tally.settled.items()})
        sums.update({kind.value: many for kind, many in tally.failed.items()})
        sums["not asked"] += tally.not_asked
    return +sums


def outage(names: Mapping[str, str], tallies: Mapping[str, RequestCounts]) -> str:
    """The sentence about deployments that give no answers; `names` are they with their places."""
    parts = [_outage(names[name], tallies.get(name, RequestCounts())) for name in sorted(names)]
    return "; ".join(parts)


def _outage(where: str, tally: RequestCounts) -> str:
    missing = without_answer([tally])
    kept = counted(tally.answered, "answer")
    return (
        f"{where} {_trouble(tally)}: {kept} kept, "
        f"{counted(missing.total(), 'request')} without one ({by_kind(missing)})"
    )


def _trouble(tally: RequestCounts) -> str:
    """What is the matter with a deployment in an outage."""
    reason = tally.reasons.get(FailureKind.REJECTED)
    return f"takes no request ({reason.rstrip('.')})" if reason else "does not answer"


def told(counts: Mapping[FailureKind, int], tallies: Iterable[RequestCounts]) -> str:
    """Counts by their names, largest first; with a reason where that says what to mend."""
    reasons = {
        kind: why for tally in tallies for kind, why in tally.reasons.items() if kind.needs_reason
    }
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{kind} {many:,}: {why}" if (why := reasons.get(kind)) else f"{kind} {many:,}"
        for kind, many in ordered
    )


def by_kind(counts: Mapping[str, int] | Mapping[FailureKind, int]) -> str:
    """Counts by their names, largest first.

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
