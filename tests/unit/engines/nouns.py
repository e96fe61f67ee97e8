"""Requests and deployments that the tests of the engines share."""

from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import Decoding, Request
from medhelm_spark.domain.scenario import Message

ALLOWED = Decision(allowed=True, rule="all")
REFUSED = Decision(allowed=False, rule="none")
SCHEMA = '{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"]}'


def allow(request: Request) -> Decision:
    return ALLOWED


def request(text: str = "Is aspirin an NSAID?", *, name: str = "", **fields: Any) -> Request:
    decoding = fields.pop("decoding", {})
    base: dict[str, Any] = {
        "request_id": name or text[:40],
        "model_deployment": "test/model",
        "messages": (),
        "text": text,
        "decoding": Decoding(**{"max_tokens": 8, **decoding}),
        "access_level": AccessLevel.PUBLIC,
    }
    return Request(**base | fields)


def conversation(*turns: tuple[str, str], **fields: Any) -> Request:
    messages = tuple(Message(role=role, content=content) for role, content in turns)
    return request("", name="conversation", messages=messages, **fields)


def deployment(engine: str, **fields: Any) -> Deployment:
    """A deployment of `engine`; fields that Deployment does not have are the engine's args."""
    own = {"max_attempts", "max_concurrency", "max_sequence_length", "name"}
    args = {key: value for key, value in fields.items() if key not in own}
    base = {"name": "test/model", "model": "test/model", "locality": Locality.LOCAL}
    return Deployment(
        **base | {key: value for key, value in fields.items() if key in own},
        engine=engine,
        args=args,
    )
