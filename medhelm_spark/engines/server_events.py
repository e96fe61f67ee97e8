"""A reply that comes as server-sent events, though nobody asked for a stream, as one reply."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_FIRST = ("data:", "event:", "id:", "retry:", ":")
_END = "[DONE]"
_LINE_END = re.compile(r"\r\n|\n|\r")
_JOINED = ("content", "reasoning_content", "reasoning", "refusal", "text")
"""Texts of which each event brings a piece."""


def is_stream(text: str) -> bool:
    """Whether a reply's body is a stream of events."""
    return text.startswith(_FIRST)


def joined(text: str) -> dict[str, Any]:
    """The reply that the events make up together, with their texts joined.

    A server that fails in the middle sends an error after pieces of the answer: the reply is that
    error then, for the pieces are no answer.

    Raises:
        ValueError: an event is no JSON object, or the stream was cut: it ends without an end.
    """
    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    is_ended = False
    for data in _events(text):
        if data == _END:
            is_ended = True
            continue
        event = json.loads(data)
        if not isinstance(event, dict):
            raise ValueError("an event that is no object")
        whole |= {key: value for key, value in event.items() if value is not None}
        for choice in _objects(event.get("choices")):
            _add(choices.setdefault(_index(choice), {"message": {}}), choice)
    if whole.get("error"):
        return {**whole, "choices": []}
    if not is_ended and not any(choice.get("finish_reason") for choice in choices.values()):
        raise ValueError("a stream that was cut")
    return {**whole, "choices": [choices[index] for index in sorted(choices)]}


def _events(text: str) -> Iterator[str]:
    for line in _LINE_END.split(text):
        field, _, value = line.partition(":")
        if field == "data" and value.strip():
            yield value.strip()


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _add(whole: dict[str, Any], choice: Mapping[str, Any]) -> None:
    """Add an event's piece of a choice to what came of it before."""
    for name, value in choice.items():
        if name in ("delta", "message"):
            _join(whole["message"], value if isinstance(value, dict) else {})
        elif name == "text":
            _join(whole["message"], {"content": value})
        elif name == "logprobs":
            tokens = value.get("content") if isinstance(value, dict) else None
            known = whole.setdefault("logprobs", {"content": []})
            known["content"] += tokens if isinstance(tokens, list) else []
        elif value is not None:
            whole[name] = value


def _join(message: dict[str, Any], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        before = message.get(name)
        if name in _JOINED and isinstance(before, str) and isinstance(value, str):
            message[name] = before + value
        elif value is not None:
            message[name] = value
