"""Whether a deployment answers: one short question of public nature, asked as runs ask theirs."""

import time
from dataclasses import dataclass, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Decoding, FailureKind, Request
from medhelm_spark.engines.engine import Gate
from medhelm_spark.engines.engine_pool import close_engines, engine_for

QUESTION = "What is two plus two? Answer with one number."
MAX_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of the question: its kind of failure, None for an answer; `seconds` in all.

    `reason` is what the engine says of a failure.

    They count the start of an engine that loads a model. Tokens are as the engine counts them.
    """

    failure: FailureKind | None
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reason: str | None = None


def ask_once(deployment: Deployment, gate: Gate) -> Answered:
    """Asks the question once, and frees what was loaded for it.

    Raises:
        SetupError: something is missing on this machine.
        EngineError: the engine cannot be built, or refuses every call.
    """
    started = time.perf_counter()
    request = Request(
        request_id=content_id("question", deployment.name),
        model_deployment=deployment.name,
        messages=(),
        text=QUESTION,
        decoding=Decoding(max_tokens=MAX_TOKENS),
        access_level=AccessLevel.PUBLIC,
    )
    try:
        engine = engine_for(replace(deployment, max_attempts=1), max_in_flight=1)
        (result,) = engine.answer([request], gate)
    finally:
        close_engines()
    return Answered(
        failure=result.failure,
        seconds=time.perf_counter() - started,
        prompt_tokens=result.prompt_tokens,
        completion_tokens=result.completion_tokens,
        reason=result.reason,
    )
