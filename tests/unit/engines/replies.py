"""Forty kinds of reply that servers, gateways and firewalls give, each of our own making."""

import gzip
import json
from typing import Any

from tests.unit.engines.fault_server import error, reply

Reply = tuple[int, dict[str, str], Any]


def chosen(**fields: Any) -> dict[str, Any]:
    """A reply whose one choice has other fields."""
    whole = reply()
    return {**whole, "choices": [{**whole["choices"][0], **fields}]}


def used(usage: Any) -> dict[str, Any]:
    """A reply with another usage."""
    return {**reply(), "usage": usage}


def _html(status: int) -> Reply:
    return status, {}, "<html><body>Request blocked, incident 0042</body></html>"


_PIECE = {"choices": [{"index": 0, "delta": {"content": "A"}}]}
_LAST = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
_STREAM = "".join(f"data: {json.dumps(event)}\n\n" for event in (_PIECE, _LAST))
_HALF = json.dumps(reply("A \\half")).replace("\\\\half", "\\ud83d")

ANSWERED: dict[str, Reply] = {
    "marked": (200, {}, "\ufeff" + json.dumps(reply())),
    "streamed": (200, {}, _STREAM + "data: [DONE]\n\n"),
    "packed": (200, {"Content-Encoding": "gzip"}, gzip.compress(json.dumps(reply()).encode())),
    "misnamed": (200, {"Content-Encoding": "UTF-8"}, json.dumps(reply())),
    "half-character": (200, {}, _HALF),
    "text-usage": (200, {}, used({"prompt_tokens": "5"})),
    "list-usage": (200, {}, used([5])),
    "object-thinking": (200, {}, reply(reasoning={"summary": "s"})),
    "list-thinking": (200, {}, reply(reasoning_content=[{"text": "t"}])),
    "true-refusal": (200, {}, reply(None, refusal=True)),
    "null-tokens": (200, {}, chosen(logprobs={"content": None})),
    "infinite-token": (
        200,
        {},
        chosen(logprobs={"content": [{"token": "A", "logprob": float("-inf")}]}),
    ),
    "other-parts": (200, {}, reply([{"type": "output_text", "text": "A"}])),  # type: ignore[arg-type]
    "safety": (200, {}, reply(None, "SAFETY")),
    "capitals": (200, {}, reply("A", "MAX_TOKENS")),
    "filtered": (400, {}, error(code="content_filter")),
    "object-model": (200, {}, {**reply(), "model": {"name": [1]}}),
}
"""Each is an answer."""

OWN: dict[str, Reply] = {
    "odd-parts": (200, {}, reply([{"type": "image"}])),  # type: ignore[arg-type]
    "number": (200, {}, reply(7)),  # type: ignore[arg-type]
    "choiceless": (200, {}, {"choices": [], "usage": {"prompt_tokens": 5}}),
    "deep": (200, {}, "[" * 100_000),
    "huge": (200, {}, reply("A" * 300_000)),
    "bomb": (200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 30_000_000)),
    "flood": (200, {}, ""),
    "parameter": (400, {}, error(param="seed", code="unsupported_parameter")),
    "refused": (400, {}, error("no", code="invalid_value")),
    "unprocessable": (422, {}, {"detail": [{"loc": ["body"]}]}),
    "too-long": (422, {}, {"error": "`inputs` must have less than 8 tokens. Given: 9"}),
    "too-large": (413, {}, ""),
    "firewall": _html(403),
    "not-found": _html(404),
    "not-allowed": _html(405),
    "elsewhere": (302, {"Location": "/blocked"}, ""),
}
"""Each is a failure of the request, which no other try cures."""

AGAIN: dict[str, Reply] = {
    "failed-choice": (200, {}, chosen(finish_reason="error")),
    "error-in-200": (200, {}, error("upstream", code=429)),
    "page": _html(200),
    "cut-stream": (200, {}, f"data: {json.dumps(_PIECE)}\n\n"),
    "nothing": (200, {}, ""),
    "broken": _html(500),
    "gateway": _html(504),
    "busy": (429, {}, error(code="rate_limit_exceeded")),
    "unauthorised": (401, {}, error(code="invalid_api_key")),
    "unpaid": (402, {}, ""),
    "quota": (429, {}, error(code="insufficient_quota")),
}
"""Each is a failure of infrastructure: the next run asks again."""

KINDS = ANSWERED | OWN | AGAIN
