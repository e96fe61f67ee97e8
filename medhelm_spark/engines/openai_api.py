"""Any OpenAI-compatible server: vLLM, Ollama, Azure, Databricks serving, a vendor.

Synchronous callers see an Engine; behind it one event loop in a thread keeps up to
`max_in_flight` calls open and does its own retries within the deployment's budget.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import LEAST_FAILURES_IN_A_ROW, Deployment
from medhelm_spark.domain.ids import canonical_json, content_id
from medhelm_spark.domain.key_source import MOST_RENEWALS
from medhelm_spark.domain.network import Reach
from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.domain.run import AnswerForm
from medhelm_spark.engines import wire
from medhelm_spark.engines.engine import Args, EngineFactory, Gate, reach_of, read_settings
from medhelm_spark.engines.loop_thread import LoopThread
from medhelm_spark.engines.openai_client import (
    Connection,
    OpenAISettings,
    check_keys,
    destinations,
    locality_of,
)
from medhelm_spark.engines.outcome import answered, completion, denied, failed
from medhelm_spark.engines.parameters import cure
from medhelm_spark.engines.rejection import Doubt, Source, with_rejections
from medhelm_spark.engines.retry import (
    NO_KEY,
    NO_REPLY,
    Action,
    CallError,
    RetryPolicy,
    delay,
    is_settled,
    tries_left,
)
from medhelm_spark.engines.stream import stream

logger = logging.getLogger(__name__)

MANY_AT_FIRST = 2 * LEAST_FAILURES_IN_A_ROW
QUOTA_HINT = "the quota or credit of the account is used up"


class OpenAIEngine:
    """The engine `openai`."""

    def __init__(
        self,
        deployment: Deployment,
        settings: OpenAISettings,
        *,
        max_in_flight: int,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._name = deployment.name
        self._settings = settings
        self._policy = policy or RetryPolicy(
            max_attempts=deployment.max_attempts, not_retried=deployment.not_retried
        )
        self._limit = max_in_flight
        self._identity = _identity(deployment, settings)
        self.fingerprint = canonical_json(self._identity)
        self._served = lru_cache(maxsize=64)(self._fingerprint_of)
        self._seen_errors: set[str] = set()
        self._is_silent = self._is_serving = False
        self._many = deployment.failures_in_a_row
        self._doubts: dict[str, Doubt] = {}
        self._connection = Connection(deployment, settings)
        self._loop = LoopThread("openai-engine")

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine; a server that takes no request is asked no more."""
        self._is_silent = False
        self._connection.begin()
        source = Source(requests)
        results = stream(
            source,
            gate,
            lambda request: self._start(request, reach_of(request, gate(request))),
            limit=self._limit,
            fingerprint=self.fingerprint,
        )
        return with_rejections(results, source, self._doubts, is_serving=self._is_serving)

    def close(self) -> None:
        """Cancels open calls, closes connections and ends the thread."""
        if self._loop.is_open:
            self._loop.submit(self._connection.close()).result()
            self._loop.close()

    def _start(self, request: Request, reach: Reach | None) -> "Future[RequestResult]":
        return self._loop.submit(self._ask(request, self._settings.body(request), reach))

    async def _ask(
        self, request: Request, body: dict[str, Any], reach: Reach | None
    ) -> RequestResult:
        self._doubts.pop(request.request_id, None)  # those of an earlier call
        budget = tries_left(self._policy, request.attempts)
        tries = renewals = 0
        while True:
            tries += 1
            started = time.perf_counter()
            outcome = await self._connection.post(body, reach)
            seconds = time.perf_counter() - started
            if isinstance(outcome, wire.WireReply):
                return self._answered(request, outcome, tries, seconds)
            if outcome.label.startswith(NO_KEY):  # nothing was sent
                tries -= 1
            trouble = await self._connection.after(outcome) if renewals < MOST_RENEWALS else outcome
            if trouble is None:
                renewals += 1
                continue
            if self._is_last(trouble, tries - renewals, budget):
                return self._settled(request, trouble, tries, seconds)
            await asyncio.sleep(delay(self._policy, tries, trouble.retry_after, request.request_id))

    def _is_last(self, trouble: CallError, tries: int, budget: int) -> bool:
        """Whether a request is not tried again.

        A time-out has cost its whole time already: it is tried again only if something came back
        from the server, for any request, since the time-out before it.
        """
        was_silent, self._is_silent = self._is_silent, trouble.label == NO_REPLY
        if was_silent and self._is_silent:
            return True
        return is_settled(self._policy, trouble, tries, budget)

    def _answered(
        self, request: Request, reply: wire.WireReply, tries: int, seconds: float
    ) -> RequestResult:
        self._is_silent, self._is_serving = False, True
        return answered(
            request,
            reply.completions,
            self._served(reply.served_model, reply.system_fingerprint),
            tries=tries,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens,
            request_time=seconds,
        )

    def _settled(
        self, request: Request, trouble: CallError, tries: int, seconds: float
    ) -> RequestResult:
        if trouble.action is Action.ANSWER:
            refusal = completion("", "content_filter")
            return answered(
                request, (refusal,), self.fingerprint, tries=tries, request_time=seconds
            )
        self._note(trouble)
        if trouble.kind is FailureKind.DENIED:
            return denied(request, self.fingerprint)
        if trouble.action in (Action.DOUBT, Action.REJECT):
            self._doubts[request.request_id] = self._doubt(trouble)
        return failed(
            request,
            trouble.kind,
            self.fingerprint,
            tries=tries,
            request_time=seconds,
            reason=self._reason(trouble, request),
        )

    def _reason(self, trouble: CallError, request: Request) -> str:
        """Why a request failed; the server's own sentence only of a public request."""
        parts = [trouble.label]
        if names := trouble.parameters:
            parts.append(f"it refuses {' and '.join(names)} ({cure(names)})")
        if trouble.sentence and request.access_level is AccessLevel.PUBLIC:
            parts.append(f"it says: {trouble.sentence}")
        return "; ".join(parts)

    def _doubt(self, trouble: CallError) -> Doubt:
        """How many refusals show that all are refused; fewer at first if the server says so."""
        if trouble.label.startswith(NO_KEY):
            return Doubt(many=1, at_first=1, hint="")
        says_it = trouble.action is Action.REJECT or bool(trouble.parameters)
        api_key = self._settings.api_key
        key = api_key if api_key and isinstance(api_key, str) else "args.api_key"
        hint = f"check args.base_url, args.model and the key given by {key}"
        if trouble.is_quota or trouble.parameters:
            hint = QUOTA_HINT if trouble.is_quota else ""
        at_first = min(MANY_AT_FIRST, self._many) if says_it else self._many
        return Doubt(many=self._many, at_first=at_first, hint=hint)

    def _note(self, trouble: CallError) -> None:
        """Logs each new label once."""
        if trouble.label not in self._seen_errors:
            self._seen_errors.add(trouble.label)
            where = f"deployment {self._name!r} at {self._settings.host}"
            logger.warning("%s failed a request: %s", where, trouble.label)

    def _fingerprint_of(self, model: str, system_fingerprint: str) -> str:
        served = {"served_model": model[:100], "system_fingerprint": system_fingerprint[:100]}
        return canonical_json(self._identity | {key: text for key, text in served.items() if text})


def _identity(deployment: Deployment, settings: OpenAISettings) -> dict[str, Any]:
    """The identity on every row: no address, no key and no header."""
    deciding = (settings.api, settings.reasoning, settings.structured_output, settings.extra_body)
    omitted = (settings.omit,) if settings.omit else ()
    return {
        "engine": "openai",
        "version": version("aiohttp"),
        "model": settings.model_of(deployment),
        "settings": content_id(deciding, settings.chat_template, *omitted)[:8],
    }


def check(deployment: Deployment) -> None:
    """Refuses wrong arguments and missing keys."""
    check_keys(deployment, read_settings(OpenAISettings, deployment))


def build(deployment: Deployment, max_in_flight: int) -> OpenAIEngine:
    """Connects to nothing yet; keys are looked up here, on the machine that sends."""
    settings = read_settings(OpenAISettings, deployment)
    return OpenAIEngine(deployment, settings, max_in_flight=max_in_flight)


def answer_forms(args: Args) -> frozenset[AnswerForm]:
    """The forms that a server with these arguments keeps answers to."""
    if args.get("structured_output") is False:
        return frozenset({AnswerForm.FREE})
    choice = {AnswerForm.CHOICE} if args.get("choices_by") else set()
    return frozenset({AnswerForm.FREE, AnswerForm.JSON, *choice})


ENGINE = EngineFactory(
    answer_forms=answer_forms,
    build=build,
    check=check,
    destinations=destinations,
    locality=locality_of,
    serving=frozenset(
        {"api_key", "azure", "base_url", "ca_bundle", "headers", "max_reply_bytes"}
        | {"organization", "proxy", "proxy_login", "timeout"}
    ),
    imports=("aiohttp",),
)

ENGINES = {"openai": ENGINE}
