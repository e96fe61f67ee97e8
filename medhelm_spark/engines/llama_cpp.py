"""llama.cpp inside this process (package xllamacpp): the embedded engine for CPUs.

Everything stays in memory: the model's log is off because it may print prompts, the prompt cache
on the host is off because it grows by gigabytes, and the HTTP port that the library always opens
is bound to the loopback address behind a random key. By that port alone it tokenises a text, which
distinguishes markers in data from those of the template (`apart`).
"""

import importlib.util
import json
import logging
import os
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import canonical_json, content_id
from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.engines import wire
from medhelm_spark.engines.apart import apart
from medhelm_spark.engines.engine import (
    Destinations,
    EngineFactory,
    Gate,
    any_form,
    in_this_job,
    read_settings,
)
from medhelm_spark.engines.faults import FAULTS, fault
from medhelm_spark.engines.model_files import file_sha256, model_file
from medhelm_spark.engines.outcome import answered, failed
from medhelm_spark.engines.stream import stream
from medhelm_spark.errors import EngineError, SetupError
from medhelm_spark.operating_system import usable_cpus

logger = logging.getLogger(__name__)

SILENT = -1
DEFAULT_CONTEXT = 4096
REFUSED_CODES = range(400, 500)
UNREADABLE_BODY = "[json.exception.parse_error"
TOO_LONG_TYPE = "exceed_context_size_error"
PLAIN_SAMPLING = {
    # llama.cpp's own defaults would narrow the choice beyond temperature and top_p.
    "top_k": 0,
    "min_p": 0.0,
    "typical_p": 1.0,
    "repeat_penalty": 1.0,
    "cache_prompt": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCppSettings:
    """`path` is a GGUF file, or `smollm2`. `n_ctx` is the context of one request, in tokens.

    `n_parallel` requests are decoded together; more than one makes answers depend on what happens
    to run beside them. `n_threads` 0 means all cores of this process.
    """

    path: str = "smollm2"
    n_ctx: int | None = None
    n_threads: int = 0
    n_parallel: int = 1
    api: str = wire.CHAT
    chat_template: str = ""
    weights_sha256: str = ""
    revision: str = ""
    quantization: str = ""
    dtype: str = ""

    def __post_init__(self) -> None:
        if self.api not in wire.APIS:
            raise ValueError(f"args.api is {self.api!r}; allowed: {', '.join(wire.APIS)}.")
        if self.n_parallel < 1 or self.n_threads < 0 or (self.n_ctx or 1) < 1:
            raise ValueError("args.n_ctx and n_parallel are at least 1, n_threads at least 0.")


class LlamaCppEngine:
    """The engine `llama_cpp`."""

    def __init__(self, deployment: Deployment, settings: LlamaCppSettings) -> None:
        path = model_file(settings.path)
        self.fingerprint = _fingerprint(deployment, settings, path)
        key = secrets.token_hex(16)
        self._server: Any = _load(deployment, settings, path, key)
        self._port = _Port(str(self._server.listening_address), key)
        self._api = settings.api
        self._slots = settings.n_parallel
        self._threads = ThreadPoolExecutor(settings.n_parallel, thread_name_prefix="llama_cpp")
        self._seen_errors: set[str] = set()

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine; one request more than slots is in flight, so that no slot waits for us."""
        return stream(
            requests, gate, self._start, limit=self._slots + 1, fingerprint=self.fingerprint
        )

    def close(self) -> None:
        """Ends the threads and frees the model."""
        self._threads.shutdown(cancel_futures=True)
        self._server = None

    def _start(self, request: Request) -> "Future[RequestResult]":
        body = wire.request_body(request, self._api)
        if choices := body.pop(wire.CHOICES, None):
            body["grammar"] = wire.grammar(choices)
        return self._threads.submit(self._ask, request, body)

    def _ask(self, request: Request, body: dict[str, Any]) -> RequestResult:
        started = time.perf_counter()
        try:
            body, chat = self._without_markers(body)
            replies = [self._reply(single, chat) for single in _single_completions(body)]
        except _RefusedError as error:
            return failed(request, error.kind, self.fingerprint)
        except FAULTS as error:
            raise fault("llama.cpp's Python library", error) from None
        except Exception as error:
            # The library raises bare exceptions whose text quotes the request.
            self._note(type(error).__name__)
            return failed(request, _kind(error), self.fingerprint)
        return answered(
            request,
            [completion for reply in replies for completion in reply.completions],
            self.fingerprint,
            prompt_tokens=replies[0].prompt_tokens,
            completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
            cached_tokens=replies[0].cached_tokens,
            request_time=time.perf_counter() - started,
        )

    def _without_markers(self, body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """The body, and whether it is a conversation: as tokens, where data has a marker."""
        chat = self._api == wire.CHAT
        turns = body["messages"] if chat else [{"content": body["prompt"]}]
        text = "\n".join(turn["content"] for turn in turns)
        if self._port.tokens(text, are_special=True) == self._port.tokens(text):
            return body, chat
        parts = apart(turns, self._port.rendered if chat else lambda named: named[0]["content"])
        tokens = [
            token
            for number, part in enumerate(parts)
            for token in self._port.tokens(
                part.text, are_special=not part.is_data, is_first=number == 0
            )
        ]
        return _completions_body(body, tokens), False

    def _reply(self, body: dict[str, Any], chat: bool) -> wire.WireReply:
        call: Callable[[dict[str, Any]], Any] = (
            self._server.handle_chat_completions if chat else self._server.handle_completions
        )
        reply = call(body)
        error = reply.get("error") if isinstance(reply, dict) else None
        if error is None:
            return wire.parse_reply(reply)
        if error.get("type") == TOO_LONG_TYPE:
            raise _RefusedError(FailureKind.TOO_LONG)
        self._note(f"code {error.get('code')}")
        refused = error.get("code") in REFUSED_CODES
        raise _RefusedError(FailureKind.INVALID_REQUEST if refused else FailureKind.ENGINE_ERROR)

    def _note(self, label: str) -> None:
        """Logs each kind of error once: its type only, for its text may quote the request."""
        if label not in self._seen_errors:
            self._seen_errors.add(label)
            logger.warning("llama.cpp refused a request: %s", label)


@dataclass(frozen=True, slots=True)
class _Port:
    """The library's own port on loopback, asked past any proxy."""

    address: str
    key: str

    def tokens(self, text: str, *, are_special: bool = False, is_first: bool = False) -> list[int]:
        """A text's tokens; `are_special`: markers are read as control tokens.

        `is_first`: the tokens that the model needs before a prompt are added.
        """
        body = {"content": text, "parse_special": are_special, "add_special": is_first}
        tokens: list[int] = self._ask("/tokenize", body)["tokens"]
        return tokens

    def rendered(self, turns: list[dict[str, str]]) -> str:
        """A conversation in the model's template."""
        return str(self._ask("/apply-template", {"messages": turns})["prompt"])

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, headers=headers)
        try:
            with _DIRECT.open(request) as reply:
                return json.load(reply)
        except urllib.error.HTTPError:  # half a character, or turns that the template refuses
            raise _RefusedError(FailureKind.INVALID_REQUEST) from None


_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _completions_body(body: dict[str, Any], tokens: list[int]) -> dict[str, Any]:
    """The body of a conversation or text with its prompt as tokens, for the completions API."""
    chat_only = ("messages", "top_logprobs", "response_format")
    made = {key: value for key, value in body.items() if key not in chat_only}
    if "top_logprobs" in body:
        made["logprobs"] = body["top_logprobs"]
    if "response_format" in body:
        made["json_schema"] = body["response_format"]["json_schema"]["schema"]
    return {**made, "prompt": tokens}


class _RefusedError(Exception):
    """llama.cpp answered one request with an error."""

    def __init__(self, kind: FailureKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


def _kind(error: Exception) -> FailureKind:
    """The library raises ValueError for what it cannot follow, such as a schema."""
    if isinstance(error, wire.UnreadableReplyError):
        return FailureKind.INVALID_REPLY
    refused = isinstance(error, ValueError) and not isinstance(error, wire.MalformedReplyError)
    refused = refused or str(error).startswith(UNREADABLE_BODY)
    return FailureKind.INVALID_REQUEST if refused else FailureKind.ENGINE_ERROR


def _single_completions(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One body per requested completion, with seeds in a row: a slot gives one at a time."""
    count = body.pop("n", 1)
    for offset in range(count):
        seed = {"seed": body["seed"] + offset} if "seed" in body else {}
        yield PLAIN_SAMPLING | body | seed


def _fingerprint(deployment: Deployment, settings: LlamaCppSettings, path: Path) -> str:
    sha256 = file_sha256(path)
    if settings.weights_sha256 and settings.weights_sha256 != sha256:
        raise EngineError(
            f"deployment {deployment.name!r}: the model file {path} has sha256 {sha256}; "
            f"args.weights_sha256 promises {settings.weights_sha256}."
        )
    identity = {
        "engine": "llama_cpp",
        "version": version("xllamacpp"),
        "weights_sha256": sha256,
        "n_parallel": settings.n_parallel,
        "n_ctx": _context(deployment, settings),
    }
    if settings.chat_template:
        identity["chat_template"] = content_id(settings.chat_template)[:8]
    return canonical_json(identity)


def _context(deployment: Deployment, settings: LlamaCppSettings) -> int:
    return settings.n_ctx or deployment.max_sequence_length or DEFAULT_CONTEXT


def _load(deployment: Deployment, settings: LlamaCppSettings, path: Path, key: str) -> Any:
    # Read when the library is loaded. How long its threads spin while they wait for each other:
    # with other work on the same cores the default makes a token 20 times as slow, while no
    # spinning at all halves the speed of a free machine (both seen).
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.verbosity = SILENT
    params.n_parallel = settings.n_parallel
    params.n_ctx = _context(deployment, settings) * settings.n_parallel
    params.fit_params = False
    params.cache_ram_mib = 0
    params.chat_template = settings.chat_template
    threads = settings.n_threads or usable_cpus()
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.api_keys = [key]
    params.endpoint_slots = False
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise EngineError(
            f"deployment {deployment.name!r}: llama.cpp could not load the model file {path} "
            f"({type(error).__name__}); it must be a GGUF file of a supported model."
        ) from None


def check(deployment: Deployment) -> None:
    """Refuses wrong arguments, a missing package and a missing model file."""
    settings = read_settings(LlamaCppSettings, deployment)
    if importlib.util.find_spec("xllamacpp") is None:
        raise SetupError(
            f"deployment {deployment.name!r} needs the package xllamacpp; "
            "install medhelm-spark[local]."
        )
    model_file(settings.path)


def build(deployment: Deployment, max_in_flight: int) -> LlamaCppEngine:
    """Loads the model; how much is in flight follows from `n_parallel` instead."""
    return LlamaCppEngine(deployment, read_settings(LlamaCppSettings, deployment))


ENGINE = EngineFactory(
    answer_forms=any_form,
    build=build,
    check=check,
    exclusive=True,
    locality=in_this_job,
    destinations=Destinations.IN_PROCESS,
    serving=frozenset({"n_parallel", "n_threads"}),
)

ENGINES = {"llama_cpp": ENGINE}
