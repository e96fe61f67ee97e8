"""Answers without a model, for tests and for measuring everything but the model.

A token is a word or a mark with the white space before it. The engine can also fail, wait and die
on purpose, so that tests can see what the rest makes of that.
"""

import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from medhelm_spark.domain.answer_form import choices_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import canonical_json, content_id
from medhelm_spark.domain.request import (
    Completion,
    FailureKind,
    Request,
    RequestResult,
    TokenLogprob,
)
from medhelm_spark.engines.engine import (
    Destinations,
    EngineFactory,
    Gate,
    any_form,
    in_this_job,
    read_settings,
)
from medhelm_spark.engines.outcome import answered, completion, denied, failed

CHARACTERS_PER_TOKEN = 4
LOGPROB = -0.1
_TOKEN = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CannedSettings:
    """How to answer, and which faults to simulate.

    `mode` is a key of `MODES`. Every `fail_every`-th call of a process fails with `failure`,
    unless its request was asked `fail_attempts` times before. `delay` is seconds per call. A line
    with the request_id is appended to `log_file` per call. After `die_after` calls the process
    ends at once, like a killed worker; with `die_marker` only if that file does not exist yet.
    """

    mode: str = "constant"
    text: str = "A"
    choices: tuple[str, ...] = ("A", "B", "C", "D")
    score: float = 3
    replies: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    fail_every: int = 0
    failure: str = FailureKind.ENGINE_ERROR.value
    fail_attempts: int = 1_000_000
    delay: float = 0.0
    log_file: str = ""
    die_after: int = 0
    die_marker: str = ""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"args.mode is {self.mode!r}; allowed: {', '.join(MODES)}.")
        if self.failure not in set(FailureKind):
            kinds = ", ".join(FailureKind)
            raise ValueError(f"args.failure is {self.failure!r}; allowed: {kinds}.")
        if self.mode == "choice" and not self.choices:
            raise ValueError("args.choices is empty; allowed: one text or more.")


def _last_turn(request: Request) -> str:
    turns = [turn.content for turn in request.messages if turn.role == "user"]
    return turns[-1] if turns else request.text


def _choice(settings: CannedSettings, request: Request) -> str:
    return settings.choices[zlib.crc32(request.request_id.encode()) % len(settings.choices)]


def _judge(settings: CannedSettings, request: Request) -> str:
    if choices := choices_of(request.decoding.response_schema):
        return choices[0]
    return _verdict(request.decoding.response_schema or "{}", settings.score, settings.text)


def _script(settings: CannedSettings, request: Request) -> str:
    prompt = request.text + "\n".join(turn.content for turn in request.messages)
    return next((text for key, text in settings.replies.items() if key in prompt), settings.text)


MODES: Mapping[str, Callable[[CannedSettings, Request], str]] = {
    "constant": lambda settings, request: settings.text,
    "echo": lambda settings, request: _last_turn(request),
    "choice": _choice,
    "judge": _judge,
    "script": _script,
}


@lru_cache(maxsize=256)
def _verdict(schema: str, score: float, text: str) -> str:
    return json.dumps(_fill(json.loads(schema), score, text))


def _fill(schema: Mapping[str, Any], score: float, text: str) -> Any:
    """A value that follows a JSON schema, each number being `score`."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {key: _fill(part, score, text) for key, part in schema.get("properties", {}).items()}
    values = {"integer": round(score), "number": score, "boolean": True, "array": [], "null": None}
    return values.get(kind, text)


class CannedEngine:
    """The engine `canned`."""

    def __init__(self, settings: CannedSettings) -> None:
        identity = {"engine": "canned", "mode": settings.mode, "settings": content_id(settings)[:8]}
        self.fingerprint = canonical_json(identity)
        self._settings = settings
        self._calls = 0

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine; one request at a time, in order."""
        for request in requests:
            if gate(request).allowed:
                yield self._ask(request)
            else:
                yield denied(request, self.fingerprint)

    def close(self) -> None:
        """Does nothing."""

    def _ask(self, request: Request) -> RequestResult:
        settings = self._settings
        self._calls += 1
        if settings.log_file:
            _append(settings.log_file, request.request_id)
        if settings.delay:
            time.sleep(settings.delay)
        if settings.die_after and self._calls > settings.die_after:
            _die(settings.die_marker)
        if self._fails(request):
            return failed(request, FailureKind(settings.failure), self.fingerprint)
        return self._reply(request)

    def _fails(self, request: Request) -> bool:
        every = self._settings.fail_every
        return bool(every) and (
            self._calls % every == 0 and request.attempts < self._settings.fail_attempts
        )

    def _reply(self, request: Request) -> RequestResult:
        text = MODES[self._settings.mode](self._settings, request)
        length = len(request.text) + sum(len(turn.content) for turn in request.messages)
        reply = self._completion(text, request.decoding.logprobs)
        return answered(
            request,
            (reply,) * request.decoding.num_completions,
            self.fingerprint,
            prompt_tokens=length // CHARACTERS_PER_TOKEN + 1,
            completion_tokens=len(text) // CHARACTERS_PER_TOKEN + 1,
            request_time=self._settings.delay,
        )

    def _completion(self, text: str, logprobs: int) -> Completion:
        pieces = _TOKEN.findall(text) if logprobs else ()
        tokens = [TokenLogprob(text=piece, logprob=LOGPROB) for piece in pieces]
        return completion(text, self._settings.finish_reason, tokens=tokens)


def _append(path: str, line: str) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _die(marker: str) -> None:
    if not marker:
        os._exit(1)
    if not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)


def check(deployment: Deployment) -> None:
    """Refuses wrong arguments."""
    read_settings(CannedSettings, deployment)


def build(deployment: Deployment, max_in_flight: int) -> CannedEngine:
    """The engine; it answers at once, so it needs nothing in flight."""
    return CannedEngine(read_settings(CannedSettings, deployment))


ENGINE = EngineFactory(
    answer_forms=any_form,
    build=build,
    check=check,
    locality=in_this_job,
    destinations=Destinations.IN_PROCESS,
    serving=frozenset(
        {
            "delay",
            "die_after",
            "die_marker",
            "fail_attempts",
            "fail_every",
            "failure",
            "log_file",
        }
    ),
)

ENGINES = {"canned": ENGINE}
