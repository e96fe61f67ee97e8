"""What to do when an engine does not answer: pure policy, no clock and no network.

One request is asked again, later, or given up; after too many failures in a row nobody is asked.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from platform import node

from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.engines.outcome import failed
from medhelm_spark.errors import MedhelmSparkError, SetupError

TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error"}
TOO_LONG_WORDS = re.compile(
    r"context (?:size|length|window|limit)"
    r"|maximum (?:model |sequence |prompt |input )?length"
    r"|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:maximum|limit)[^.]{0,40}tokens"
    # text-generation-inference, gateways before Gemini and OpenAI, TensorRT-LLM
    r"|`?max_new_tokens`? must be <=|must have less than \d+ tokens"
    r"|token count (?:is )?\d+ (?:cannot exceed|must not exceed|but model only supports)"
    r"|prompt length \S+, query length \S+ should not exceed"
    r"|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
CONTENT_FILTER_CODES = {
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
}
# Azure's and OpenAI's sentences, in which MedHELM looks too, and LiteLLM's name beside code 400.
CONTENT_FILTER_WORDS = re.compile(
    r"content management policy|your prompt was flagged|ContentPolicyViolation", re.IGNORECASE
)
QUOTA_CODE = "insufficient_quota"
REJECTING_CODES = {QUOTA_CODE, "model_not_found", "invalid_api_key", "DeploymentNotFound"}
PAYMENT_STATUS = 402
KEY_STATUS = 401
REJECTING_STATUS = {KEY_STATUS, PAYMENT_STATUS}
DOUBTED_STATUS = {301, 302, 303, 307, 308, 403, 404, 405}
"""Of a server that takes no request, or of a firewall that does not let one text pass."""
RETRIED_STATUS = {408, 409, 425, 429}
TIMEOUT_STATUS = {408, 504}
NO_REPLY = "timeout"
NO_KEY = "no key"
NOT_SET_UP = "not set up on host"
KNOWN_CODES = (
    TOO_LONG_CODES
    | CONTENT_FILTER_CODES
    | REJECTING_CODES
    | {
        "BadRequestError",
        "InternalServerError",
        "NotFoundError",
        "RateLimitError",
        "api_error",
        "authentication_error",
        "engine_overloaded",
        "internal_error",
        "internal_server_error",
        "invalid_request_error",
        "invalid_value",
        "model_not_loaded",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "requests",
        "server_error",
        "service_unavailable",
        "timeout",
        "tokens",
        "unavailable_error",
        "unsupported_parameter",
        "unsupported_value",
    }
)
"""The only words of a server that reach a log: any other could quote what it was sent."""


class Action(Enum):
    """What a failed try leads to.

    RETRY within the budget; GIVE_UP on this request; ANSWER it as a refusal; REJECT: the server
    says that it takes no request; DOUBT: it refuses this one, or all (`engines.rejection`).
    """

    RETRY = "retry"
    GIVE_UP = "give_up"
    ANSWER = "answer"
    REJECT = "reject"
    DOUBT = "doubt"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """A failed try; `label` is a status or a known error code, never a server's own sentence.

    It is `NO_REPLY` where nothing came back in time, and begins with `NO_KEY` where there was no
    key to send. `parameters` are those of ours that the server refuses. `sentence` is the server's
    own, which may quote what it was sent. `refused_key` is the number of a key that may have
    ended.
    """

    action: Action
    label: str
    kind: FailureKind = FailureKind.ENGINE_ERROR
    retry_after: float | None = None
    is_quota: bool = False
    parameters: tuple[str, ...] = ()
    sentence: str = ""
    refused_key: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently to ask again; delays in seconds.

    A server may ask for more patience than `longest_delay`, up to `longest_retry_after`. A failure
    of a kind in `not_retried` is not tried again.
    """

    max_attempts: int
    not_retried: frozenset[FailureKind] = frozenset()
    first_delay: float = 1.0
    longest_delay: float = 60.0
    longest_retry_after: float = 300.0


def is_of_all(label: str) -> bool:
    """Whether a refusal with this label says by itself that no request is taken.

    >>> is_of_all("429 insufficient_quota"), is_of_all("403 another code")
    (True, False)
    """
    if label.startswith((NO_KEY, NOT_SET_UP)):
        return True
    status, *codes = label.replace(";", " ").split()
    return bool(REJECTING_CODES.intersection(codes)) or status in map(str, REJECTING_STATUS)


def tries_left(policy: RetryPolicy, attempts: int) -> int:
    """Tries for a request that was already asked `attempts` times; a reopened one has one."""
    return max(1, policy.max_attempts - attempts)


def is_settled(policy: RetryPolicy, trouble: CallError, tries: int, budget: int) -> bool:
    """Whether a failed try was a request's last in this run."""
    return (
        trouble.action is not Action.RETRY or trouble.kind in policy.not_retried or tries >= budget
    )


def delay(policy: RetryPolicy, tries: int, retry_after: float | None, seed: str) -> float:
    """Seconds to wait after the `tries`-th failed try: exponential, jittered by half, seeded.

    Retry-After comes on top of it, so that what waited for the same moment is spread out.
    """
    ceiling = min(policy.longest_delay, policy.first_delay * 2.0 ** (tries - 1))
    backoff = ceiling * random.Random(f"{seed}:{tries}").uniform(0.5, 1.0)
    if retry_after is None:
        return backoff
    return min(policy.longest_retry_after, retry_after) + backoff


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a server asks for, in any of the forms in use; None where it asks for none."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def classify(status: int, codes: set[str], message: str, headers: Mapping[str, str]) -> CallError:
    """What an error reply means. `message` is only looked at, never kept.

    `codes` are the error's code and type. Servers word "too long" differently: OpenAI and Azure by
    code, llama.cpp by type, vLLM and others only in the sentence. So it is with content filters.
    """
    named = sorted(codes & KNOWN_CODES)
    is_other = not codes <= {*KNOWN_CODES, str(status)}
    label = " ".join([str(status), *named, *(["another code"] if is_other else [])])
    if codes & CONTENT_FILTER_CODES or CONTENT_FILTER_WORDS.search(message):
        return CallError(action=Action.ANSWER, label=label)
    if codes & REJECTING_CODES or status in REJECTING_STATUS:
        is_quota = QUOTA_CODE in codes or status == PAYMENT_STATUS
        return CallError(
            action=Action.REJECT, label=label, kind=FailureKind.REJECTED, is_quota=is_quota
        )
    if status in DOUBTED_STATUS:
        return CallError(action=Action.DOUBT, label=label, kind=FailureKind.INVALID_REQUEST)
    says_too_long = status in (400, 422, 500) and TOO_LONG_WORDS.search(message)
    if status == 413 or codes & TOO_LONG_CODES or says_too_long:
        return CallError(action=Action.GIVE_UP, label=label, kind=FailureKind.TOO_LONG)
    if status in RETRIED_STATUS or status >= 500:
        kind = FailureKind.TIMEOUT if status in TIMEOUT_STATUS else FailureKind.ENGINE_ERROR
        after = parse_retry_after(headers)
        return CallError(action=Action.RETRY, label=label, kind=kind, retry_after=after)
    return CallError(action=Action.GIVE_UP, label=label, kind=FailureKind.INVALID_REQUEST)


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

    A refused request shows that the engine lives, as an answer does; a denied one was never sent,
    and a rejected one counts in `engines.rejection`.
    """
    if failure in (FailureKind.DENIED, FailureKind.REJECTED):
        return in_a_row
    return in_a_row + 1 if failure is not None and failure.is_infrastructure else 0


class Asked:
    """The requests that an engine has taken up, and those of them that have no result yet."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests = requests
        self.open: dict[str, Request] = {}

    def __iter__(self) -> Iterator[Request]:
        for request in self._requests:
            self.open[request.request_id] = request
            yield request


def until_fault(
    results: Iterator[RequestResult], asked: Asked, fingerprint: str
) -> Iterator[RequestResult]:
    """An engine's results; where it breaks after the first, a rejected one in place of an error.

    An error would end the task, and Spark would ask again what was answered and paid. A broken
    engine that has given no result raises: there is nothing to lose.
    """
    has_results = False
    try:
        for result in results:
            has_results = True
            asked.open.pop(result.request_id, None)
            yield result
    except Exception as error:
        if not has_results or not asked.open:
            raise
        # What other exceptions say may quote a request.
        reason = str(error) if isinstance(error, MedhelmSparkError) else type(error).__name__
        request = next(iter(asked.open.values()))
        yield failed(request, FailureKind.REJECTED, fingerprint, reason=reason)
    finally:
        if close := getattr(results, "close", None):
            close()


def not_set_up(request: Request, error: SetupError, engine: str) -> RequestResult:
    """The result of a request where this machine lacks what its engine needs; nothing was sent."""
    reason = f"{NOT_SET_UP} {node()}: {str(error).rstrip('.')}"
    fingerprint = canonical_json({"engine": engine})
    return failed(request, FailureKind.REJECTED, fingerprint, tries=0, reason=reason)
