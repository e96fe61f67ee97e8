"""From what an engine gave back to a RequestResult: shared by all engines."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from medhelm_spark.domain.request import (
    Completion,
    FailureKind,
    FinishReason,
    Request,
    RequestResult,
    TokenLogprob,
)
from medhelm_spark.engines.worker import this_executor

FINISH_REASONS = {
    word: reason
    for reason, words in {
        FinishReason.STOP: (
            "stop stop_sequence eos eos_token end_turn endoftext complete completed"
        ),
        FinishReason.LENGTH: (
            "length max_length max_tokens max_new_tokens max_output_tokens token_limit limit"
            " model_length model_context_window_exceeded"
        ),
        FinishReason.REFUSAL: (
            "refusal content_filter content_filtered safety image_safety prohibited_content"
            " blocklist recitation spii sensitive guardrail_intervened error_toxic"
        ),
    }.items()
    for word in words.split()
}
"""How servers say that an answer ended, in small letters."""

FAILED = {
    *("error", "failed", "abort", "aborted", "cancelled", "canceled", "user_cancel"),
    *("network_error", "server_error", "internal_error", "insufficient_system_resource"),
    *("timeout", "time_limit", "overloaded"),
}
"""How servers say that they failed in the middle of an answer."""


def ending(raw_reason: object) -> str:
    """A server's word for how an answer ended, as `FINISH_REASONS` and `FAILED` spell it.

    >>> [ending(raw) for raw in ("FinishReason.MAX_TOKENS", "content_filter: RECITATION", 7)]
    ['max_tokens', 'content_filter', '']
    """
    if not isinstance(raw_reason, str):
        return ""
    word = raw_reason.partition(":")[0].rpartition(".")[2].strip().casefold()
    return word.replace("-", "_").replace(" ", "_").removeprefix("finish_reason_")


def storable(text: str) -> str:
    """The text with half characters (lone surrogates, which have no UTF-8) replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def completion(
    text: str,
    raw_reason: object,
    *,
    thinking: str | None = None,
    refusal: str | None = None,
    tokens: Sequence[TokenLogprob] = (),
) -> Completion:
    """One returned text, stored as it is; `raw_reason` is the engine's own word for how it ended.

    `thinking` and `refusal` are what the engine returned beside the text; a refusal is the text
    where there is no other. `tokens` count only where every log-probability is finite: a sum over
    some would be another number.
    """
    reason = FINISH_REASONS.get(ending(raw_reason), FinishReason.UNKNOWN)
    known = tokens if all(math.isfinite(token.logprob) for token in tokens) else ()
    return Completion(
        text=storable(text or refusal or ""),
        finish_reason=FinishReason.REFUSAL if refusal else reason,
        thinking=storable(thinking) if thinking else None,
        logprob=sum(token.logprob for token in known) if known else None,
        tokens=tuple(known),
    )


def answered(
    request: Request,
    completions: Sequence[Completion],
    fingerprint: str,
    *,
    tries: int = 1,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    cached_tokens: int | None = None,
    request_time: float | None = None,
) -> RequestResult:
    """The row of an answer; `tries` counts this call's own, `request_time` is in seconds."""
    return RequestResult(
        request_id=request.request_id,
        model_deployment=request.model_deployment,
        access_level=request.access_level,
        completed_at=datetime.now(UTC),
        engine_fingerprint=fingerprint,
        completions=tuple(completions),
        attempts=request.attempts + tries,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        request_time=request_time,
        cached_tokens=cached_tokens,
        executor=this_executor(),
        tries=tries,
    )


def failed(
    request: Request,
    kind: FailureKind,
    fingerprint: str,
    *,
    tries: int = 1,
    request_time: float | None = None,
    reason: str | None = None,
) -> RequestResult:
    """The row of a failure; it carries no text, but for the `reason` of a public request."""
    return RequestResult(
        request_id=request.request_id,
        model_deployment=request.model_deployment,
        access_level=request.access_level,
        completed_at=datetime.now(UTC),
        engine_fingerprint=fingerprint,
        failure=kind,
        attempts=request.attempts + tries,
        request_time=request_time,
        executor=this_executor(),
        tries=tries,
        reason=reason,
    )


def denied(request: Request, fingerprint: str) -> RequestResult:
    """The row of a request that the policy denied: it was never sent, so no try is counted."""
    return failed(request, FailureKind.DENIED, fingerprint, tries=0)
