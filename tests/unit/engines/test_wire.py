"""The OpenAI wire format: bodies sent, replies read."""

import pytest

from medhelm_spark.domain.request import FinishReason, TokenLogprob
from medhelm_spark.engines.wire import CHAT, COMPLETIONS, MalformedReplyError, parse_reply
from medhelm_spark.engines.wire import request_body as body_of
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import SCHEMA, conversation, request

HOSTILE = 'a\x00b "quoted" {braces} $5 \\1 😀 שלום\r\n' * 3


def test_text_is_one_user_message():
    assert body_of(request(HOSTILE), CHAT) == {
        "messages": [{"role": "user", "content": HOSTILE}],
        "max_tokens": 8,
        "temperature": 0.0,
        "top_p": 1.0,
    }


def test_a_conversation_keeps_its_turns():
    body = body_of(conversation(("system", "S"), ("user", "U"), ("assistant", "A")), CHAT)
    assert [(turn["role"], turn["content"]) for turn in body["messages"]] == [
        ("system", "S"),
        ("user", "U"),
        ("assistant", "A"),
    ]


def test_every_decoding_parameter_is_sent():
    decoding = {
        "max_tokens": 64,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop_sequences": ("\n", "END"),
        "num_completions": 3,
        "seed": 0,
        "logprobs": 5,
        "response_schema": SCHEMA,
    }
    body = body_of(request("Q", decoding=decoding), CHAT)
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["score"]
    assert body["response_format"]["type"] == "json_schema"
    del body["messages"], body["response_format"]
    assert body == {
        "max_tokens": 64,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop": ["\n", "END"],
        "n": 3,
        "seed": 0,
        "logprobs": True,
        "top_logprobs": 5,
    }


def test_the_completions_api_takes_the_raw_text():
    body = body_of(request("Q", decoding={"logprobs": 2}), COMPLETIONS)
    assert body["prompt"] == "Q"
    assert body["logprobs"] == 2
    assert "messages" not in body
    with pytest.raises(EngineError, match=r"set args\.api to 'chat'"):
        body_of(conversation(("user", "U")), COMPLETIONS)


def chat_reply(message, reason="stop", **choice):
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason, **choice}]}


def test_a_chat_reply_is_read():
    tokens = {"content": [{"token": "No", "logprob": -1.5}, {"token": ".", "logprob": -0.5}]}
    body = chat_reply({"role": "assistant", "content": "No."}, logprobs=tokens) | {
        "usage": {
            "prompt_tokens": 41,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 32},
        },
        "model": "m-2026",
        "system_fingerprint": "fp",
    }
    reply = parse_reply(body)
    (one,) = reply.completions
    assert (one.text, one.finish_reason, one.logprob) == ("No.", FinishReason.STOP, -2.0)
    assert one.tokens[1] == TokenLogprob(text=".", logprob=-0.5)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (41, 2, 32)
    assert (reply.served_model, reply.system_fingerprint) == ("m-2026", "fp")


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_content_is_thinking(key):
    (one,) = parse_reply(chat_reply({"content": "Yes", key: "Dose?"})).completions
    assert (one.text, one.thinking) == ("Yes", "Dose?")


def test_refusals_and_missing_content_are_answers():
    (refused,) = parse_reply(chat_reply({"content": None, "refusal": "No."})).completions
    assert (refused.text, refused.finish_reason) == ("No.", FinishReason.REFUSAL)
    (empty,) = parse_reply(chat_reply({"content": None})).completions
    assert (empty.text, empty.finish_reason) == ("", FinishReason.STOP)


def test_content_in_parts_is_joined():
    parts = [{"type": "text", "text": "Y"}, {"type": "image"}, {"type": "text", "text": "es"}]
    assert parse_reply(chat_reply({"content": parts})).completions[0].text == "Yes"


@pytest.mark.parametrize(
    "logprobs",
    [
        {"tokens": ["Pa", "ris"], "token_logprobs": [-0.5, -0.25]},
        {"content": [{"token": "Pa", "logprob": -0.5}, {"token": "ris", "logprob": -0.25}]},
    ],
)
def test_a_completions_reply_is_read_in_both_forms(logprobs):
    choice = {"text": "Paris", "finish_reason": "length", "logprobs": logprobs}
    (one,) = parse_reply({"choices": [choice]}).completions
    assert (one.text, one.finish_reason, one.logprob) == ("Paris", FinishReason.LENGTH, -0.75)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "SECRET",
        {},
        {"choices": []},
        {"choices": {}},
        {"choices": ["SECRET"]},
        {"choices": [{"finish_reason": "SECRET"}]},
        chat_reply({"content": 7}),
        chat_reply("SECRET"),
        chat_reply({"content": "SECRET"}, logprobs={"content": [{"token": "SECRET"}]}),
        chat_reply({"content": "x"}) | {"usage": "SECRET"},
    ],
)
def test_a_malformed_reply_is_refused_without_being_quoted(body):
    with pytest.raises(MalformedReplyError) as told:
        parse_reply(body)
    assert "SECRET" not in str(told.value)
    assert told.value.__cause__ is None
