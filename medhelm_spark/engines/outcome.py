"""From what an engine gave back to a RequestResult: shared by all engines."""

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
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "limit": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSAL,
    "refusal": FinishReason.REFUSAL,
}


def completion(
    text: str,
    raw_reason: str | None,
    *,
    thinking: str | None = None,
    refusal: str | None = None,
    tokens: Sequence[TokenLogprob] = (),
) -> Completion:
    """One returned text, stored as it is; `raw_reason` is the engine's own word for how it ended.

    `thinking` and `refusal` are what the engine returned beside the text; a refusal is the text
    where there is no other.
    """
    reason = FINISH_REASONS.get(raw_reason or "", FinishReason.UNKNOWN)
    return Completion(
        text=text or refusal or "",
        finish_reason=FinishReason.REFUSAL if refusal else reason,
        thinking=thinking,
        logprob=sum(token.logprob for token in tokens) if tokens else None,
        tokens=tuple(tokens),
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
    )


def failed(
    request: Request,
    kind: FailureKind,
    fingerprint: str,
    *,
    tries: int = 1,
    request_time: float | None = None,
) -> RequestResult:
    """The row of a failure; it carries no text."""
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
    )


def denied(request: Request, fingerprint: str) -> RequestResult:
    """The row of a request that policy held back: it was never sent, so no try is counted."""
    return failed(request, FailureKind.DENIED, fingerprint, tries=0)
