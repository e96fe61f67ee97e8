"""The OpenAI wire format, spoken by servers and by llama.cpp in process: pure functions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from medhelm_spark.domain.answer_form import choices_of
from medhelm_spark.domain.request import Completion, FinishReason, Request, TokenLogprob
from medhelm_spark.engines import server_events
from medhelm_spark.engines.outcome import FAILED, FINISH_REASONS, completion, ending, storable
from medhelm_spark.errors import EngineError

CHAT, COMPLETIONS = "chat", "completions"
APIS = (CHAT, COMPLETIONS)
_TEXT_PARTS = (None, "text", "output_text")
_WITHOUT_TEXT = (FinishReason.REFUSAL, FinishReason.LENGTH)
"""How a choice ends that may have no message: Gemini gives none where it withholds the text."""
_THINKING_PARTS = ("thinking", "redacted_thinking", "reasoning", "reasoning_text")


class MalformedReplyError(ValueError):
    """A reply that is none: another try may give one. Its message never quotes the reply."""


class UnreadableReplyError(MalformedReplyError):
    """A reply whose form is not known: another try would give the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """What a reply says: its texts, its token counts and the model that it names."""

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
    if choices := choices_of(decoding.response_schema):
        body[CHOICES] = list(choices)
    elif decoding.response_schema is not None:
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


CHOICES = "choices"
"""The key of a body under which an engine finds the texts of which a reply is one."""


def grammar(choices: Sequence[str]) -> str:
    """The grammar of one of some texts, as llama.cpp reads it.

    >>> grammar(["A", "B"])
    'root ::= "A" | "B"'
    """
    return "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)


@lru_cache(maxsize=64)
def response_format(schema: str) -> dict[str, Any]:
    """The constraint that makes a reply follow a JSON schema."""
    named = {"name": "reply", "strict": True, "schema": json.loads(schema)}
    return {"type": "json_schema", "json_schema": named}


def body_of(text: str) -> Any:
    """The JSON of a reply's text, whatever bytes precede it; of a stream its joined events.

    Raises:
        MalformedReplyError: it is no JSON.
        UnreadableReplyError: it is nested too deeply.
    """
    text = text.lstrip("\ufeff \t\r\n")
    try:
        return server_events.joined(text) if server_events.is_stream(text) else json.loads(text)
    except RecursionError:
        raise UnreadableReplyError("a reply that is nested too deeply") from None
    except ValueError:
        raise MalformedReplyError("a reply that is no JSON") from None


def error_of(body: Any) -> Any:
    """The error that a body reports instead of an answer; None where it reports none."""
    return body.get("error") or None if isinstance(body, Mapping) and not _choices(body) else None


def parse_reply(body: Any) -> WireReply:
    """Reads the body of a successful reply, of either API.

    Only the choices are needed; other parts in an unknown form are left out.

    Raises:
        MalformedReplyError: no choices, or one that the server failed at; UnreadableReplyError
            where the server answered and the form of its answer is not known.
    """
    choices = _choices(body)
    if not choices:
        if isinstance(body, Mapping) and _mapping(body.get("usage")) and "choices" in body:
            raise UnreadableReplyError("a reply with usage and without choices")
        raise MalformedReplyError("a reply without choices")
    usage = _mapping(body.get("usage"))
    return WireReply(
        completions=tuple(map(_parse_choice, choices)),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        served_model=storable(str(body.get("model") or "")),
        system_fingerprint=storable(str(body.get("system_fingerprint") or "")),
    )


def _choices(body: Any) -> list[Any]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    return choices if isinstance(choices, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    """A count of tokens; None for what is no whole number."""
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if is_whole and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _parse_choice(choice: Any) -> Completion:
    reason = _mapping(choice).get("finish_reason")
    if ending(reason) in FAILED or _mapping(choice).get("error"):
        raise MalformedReplyError("a choice that the server failed at")
    message = _mapping(choice).get("message")
    if message is None and "text" in _mapping(choice):
        message = {"content": choice["text"]}
    if message is None and FINISH_REASONS.get(ending(reason)) in _WITHOUT_TEXT:
        message = {}
    if not isinstance(message, Mapping):
        raise UnreadableReplyError("a choice without text")
    refusal = message.get("refusal")
    return completion(
        _text(message.get("content")),
        FinishReason.REFUSAL.value if refusal else reason,
        thinking=_thinking(message),
        refusal=refusal if isinstance(refusal, str) else None,
        tokens=_parse_tokens(_mapping(choice.get("logprobs"))),
    )


def _thinking(message: Mapping[str, Any]) -> str | None:
    beside = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in beside if text and isinstance(text, str)), None)


def _text(content: Any) -> str:
    """The text of a message, which some servers give as parts; parts of thinking are no text."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = [text for part in parts if (text := _text_of_part(part)) is not None]
    if not texts and not all(_mapping(part).get("type") in _THINKING_PARTS for part in parts):
        raise UnreadableReplyError("content that holds no text")
    return "".join(texts)


def _text_of_part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    text = _mapping(part).get("text")
    text = text.get("value") if isinstance(text, Mapping) else text
    is_text = _mapping(part).get("type") in _TEXT_PARTS
    return text if is_text and isinstance(text, str) else None


def _parse_tokens(logprobs: Mapping[str, Any]) -> tuple[TokenLogprob, ...]:
    """The tokens, if each is a text with a number; none otherwise: the answer counts without."""
    try:
        if logprobs.get("content") is not None:
            pairs = [(entry["token"], entry["logprob"]) for entry in logprobs["content"]]
        else:
            pairs = list(zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True))
        return tuple(
            TokenLogprob(text=storable(text), logprob=float(value)) for text, value in pairs
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return ()
