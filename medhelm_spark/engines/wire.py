"""The OpenAI wire format, spoken by servers and by llama.cpp in process: pure functions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from medhelm_spark.domain.request import Completion, Request, TokenLogprob
from medhelm_spark.engines.outcome import completion
from medhelm_spark.errors import EngineError

CHAT, COMPLETIONS = "chat", "completions"
APIS = (CHAT, COMPLETIONS)


class MalformedReplyError(ValueError):
    """A reply that is not of the promised form; its message never quotes the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a reply says: its texts, its token counts and who says to have served it."""

    completions: tuple[Completion, ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    served_model: str
    system_fingerprint: str


def request_body(request: Request, api: str) -> dict[str, Any]:
    """The JSON body of a request, every decoding parameter explicit.

    Raises:
        EngineError: a conversation for a completions API, which has no chat template.
    """
    decoding = request.decoding
    body: dict[str, Any] = {
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
    }
    if decoding.seed is not None:
        body["seed"] = decoding.seed
    if decoding.stop_sequences:
        body["stop"] = list(decoding.stop_sequences)
    if decoding.num_completions > 1:
        body["n"] = decoding.num_completions
    if decoding.response_schema is not None:
        body["response_format"] = response_format(decoding.response_schema)
    return body | (_chat_part(request) if api == CHAT else _completions_part(request))


def _chat_part(request: Request) -> dict[str, Any]:
    turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
    part: dict[str, Any] = {"messages": turns or [{"role": "user", "content": request.text}]}
    if request.decoding.logprobs:
        part |= {"logprobs": True, "top_logprobs": request.decoding.logprobs}
    return part


def _completions_part(request: Request) -> dict[str, Any]:
    if request.messages:
        raise EngineError(
            f"deployment {request.model_deployment!r} has args.api 'completions', which takes "
            "plain text, but was sent a conversation; set args.api to 'chat'."
        )
    part: dict[str, Any] = {"prompt": request.text}
    if request.decoding.logprobs:
        part["logprobs"] = request.decoding.logprobs
    return part


@lru_cache(maxsize=64)
def response_format(schema: str) -> dict[str, Any]:
    """The constraint that makes a reply follow a JSON schema."""
    named = {"name": "reply", "strict": True, "schema": json.loads(schema)}
    return {"type": "json_schema", "json_schema": named}


def parse_reply(body: Any) -> Reply:
    """Reads the body of a successful reply, of either API.

    Raises:
        MalformedReplyError: no choices, or a choice without text.
    """
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, list) or not choices:
        raise MalformedReplyError("a reply without choices")
    try:
        completions = tuple(_parse_choice(choice) for choice in choices)
        usage = body.get("usage") or {}
        return Reply(
            completions=completions,
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens"),
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
            served_model=str(body.get("model") or ""),
            system_fingerprint=str(body.get("system_fingerprint") or ""),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise MalformedReplyError("a reply of unknown form") from None


def _parse_choice(choice: Mapping[str, Any]) -> Completion:
    message = choice.get("message")
    tokens = _parse_tokens(choice.get("logprobs"))
    if message is None:
        return completion(_text(choice["text"]), choice.get("finish_reason"), tokens=tokens)
    return completion(
        _text(message.get("content")),
        choice.get("finish_reason"),
        thinking=message.get("reasoning_content") or message.get("reasoning") or None,
        refusal=message.get("refusal") or None,
        tokens=tokens,
    )


def _text(content: Any) -> str:
    """The text of a message, which some servers give as a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise MalformedReplyError("content that is no text")
    return content or ""


def _parse_tokens(logprobs: Mapping[str, Any] | None) -> tuple[TokenLogprob, ...]:
    if not logprobs:
        return ()
    if logprobs.get("content") is not None:
        pairs = [(entry["token"], entry["logprob"]) for entry in logprobs["content"]]
    else:
        pairs = list(zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True))
    return tuple(TokenLogprob(text=text, logprob=float(value)) for text, value in pairs)
