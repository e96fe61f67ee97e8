"""The OpenAI wire format: bodies sent, replies read."""

from functools import reduce
from operator import getitem

import pytest
from hypothesis import given, settings, strategies as st

from medhelm_spark.domain.request import FinishReason, RequestResult, TokenLogprob
from medhelm_spark.engines.outcome import answered
from medhelm_spark.engines.wire import (
    CHAT,
    COMPLETIONS,
    MalformedReplyError,
    UnreadableReplyError,
    body_of as body_of_text,
    error_of,
    parse_reply,
    request_body as body_of,
)
from medhelm_spark.errors import EngineError
from medhelm_spark.lake.columnar import encode_batch
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


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("content_filter", FinishReason.REFUSAL),
        ("content_filter: RECITATION", FinishReason.REFUSAL),
        ("length", FinishReason.LENGTH),
    ],
)
@pytest.mark.parametrize("message", [{}, {"message": None}])
def test_a_withheld_answer_may_have_no_message(raw, reason, message):
    body = {"choices": [{"index": 0, "finish_reason": raw, **message}]}
    (one,) = parse_reply(body).completions
    assert (one.text, one.finish_reason) == ("", reason)


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
        chat_reply({"content": [{"type": "image_url", "image_url": "SECRET"}]}),
    ],
)
def test_a_malformed_reply_is_refused_without_being_quoted(body):
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(body)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def answer_of(message, **choice):
    (one,) = parse_reply(chat_reply(message, **choice)).completions
    return one


ODD = ["12", 9.75, -1, True, None, [], {}, "x", float("nan"), 2**70]


@pytest.mark.parametrize("value", ODD)
def test_counts_that_are_no_whole_number_are_absent(value):
    usage = {"prompt_tokens": value, "prompt_tokens_details": value, "completion_tokens": 12.0}
    reply = parse_reply(chat_reply({"content": "no"}) | {"usage": usage})
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (None, 12, None)
    assert parse_reply(chat_reply({"content": "no"}) | {"usage": value}).prompt_tokens is None


@pytest.mark.parametrize("value", [{"summary": "s"}, [{"text": "t"}], True, 7])
def test_thinking_and_refusals_of_another_type_do_not_cost_the_answer(value):
    for key in ("reasoning", "reasoning_content"):
        one = answer_of({"content": "no", key: value})
        assert (one.text, one.thinking) == ("no", None)
    refused = answer_of({"content": None, "refusal": value})
    assert (refused.text, refused.finish_reason) == ("", FinishReason.REFUSAL)


def test_half_a_character_is_replaced():
    tokens = {"content": [{"token": "\ud83c", "logprob": -1.0}]}
    one = answer_of({"content": "no \ud83d", "reasoning": "\udc00 hm"}, logprobs=tokens)
    assert (one.text, one.thinking, one.tokens[0].text) == ("no \ufffd", "\ufffd hm", "\ufffd")
    assert answer_of({"content": "\ud83d\ude00"}).text == "😀", "two halves are one character"


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": None, "refusal": None},
        {"content": [{"token": "no", "logprob": None}]},
        {"content": [{"token": "no", "logprob": float("-inf")}]},
        {"content": [{"token": "no", "logprob": -0.1}, {"token": ".", "logprob": float("nan")}]},
        {"content": [{"token": 7, "logprob": -0.1}]},
        {"content": "no"},
        {"tokens": ["no"], "token_logprobs": [None]},
        {"tokens": ["no"], "token_logprobs": []},
        "no",
        [],
    ],
)
def test_an_answer_counts_without_log_probabilities_that_are_no_numbers(logprobs):
    one = answer_of({"content": "no"}, logprobs=logprobs)
    assert (one.text, one.tokens, one.logprob) == ("no", (), None)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("SAFETY", FinishReason.REFUSAL),
        ("content_filter: BLOCKLIST", FinishReason.REFUSAL),
        ("guardrail-intervened", FinishReason.REFUSAL),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("FinishReason.MAX_TOKENS", FinishReason.LENGTH),
        ("model_length", FinishReason.LENGTH),
        ("STOP", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("tool_calls", FinishReason.UNKNOWN),
        (3, FinishReason.UNKNOWN),
        (None, FinishReason.UNKNOWN),
    ],
)
def test_how_an_answer_ended_is_read_in_the_words_of_several_servers(raw, reason):
    assert answer_of({"content": "no"}, reason=raw).finish_reason is reason


@pytest.mark.parametrize(
    "choice",
    [
        {"reason": "error"},
        {"reason": "abort"},
        {"reason": "network_error"},
        {"reason": "insufficient_system_resource"},
        {"reason": None, "error": {"code": 500}},
        {"reason": "stop", "error": "lost"},
    ],
)
def test_a_choice_that_the_server_failed_at_is_no_answer(choice):
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(chat_reply({"content": "half of"}, **choice))
    assert not isinstance(caught.value, UnreadableReplyError), "it is tried again"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (["no"], "no"),
        ([{"type": "output_text", "text": "no"}], "no"),
        ([{"text": "n"}, {"text": "o"}], "no"),
        ([{"type": "text", "text": {"value": "no"}}], "no"),
        ({"type": "text", "text": "no"}, "no"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "no"}], "no"),
        ([{"type": "thinking", "thinking": "hm"}], ""),
        ([], ""),
    ],
)
def test_parts_of_content_are_read_in_all_forms(content, text):
    assert answer_of({"content": content}).text == text


@pytest.mark.parametrize("content", [7, True, {}, [{}], [[]], [{"type": "image", "text": "no"}]])
def test_content_without_text_is_never_an_empty_answer(content):
    with pytest.raises(UnreadableReplyError):
        answer_of({"content": content})


def test_a_reply_that_was_billed_and_has_no_choices_is_not_asked_again():
    billed = {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 0}}
    with pytest.raises(UnreadableReplyError):
        parse_reply(billed)


EVENTS = (
    b'data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "n"}}]}\n\n'
    b": a comment\n\n"
    b'data: {"choices": [{"index": 0, "delta": {"content": "o"}, "finish_reason": "stop"}]}\n\n'
    b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\r\n\r\n'
)


@pytest.mark.parametrize("end", ["data: [DONE]\n\n", ""])
def test_events_that_nobody_asked_for_are_one_reply(end):
    reply = parse_reply(body_of_text("\ufeff\n" + EVENTS.decode() + end))
    (one,) = reply.completions
    assert (one.text, one.finish_reason) == ("no", FinishReason.STOP)
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, 2)


@pytest.mark.parametrize(
    "text",
    ["", "{", "data: {", "data: 7\n\n", 'data: {"choices": [{"delta": {"content": "n"}}]}\n\n'],
)
def test_a_body_that_is_no_json_and_a_stream_that_was_cut_are_no_reply(text):
    with pytest.raises(MalformedReplyError) as caught:
        body_of_text(text)
    assert not isinstance(caught.value, UnreadableReplyError)


@pytest.mark.parametrize("end", ["data: [DONE]\n\n", ""])
def test_an_error_after_pieces_of_an_answer_is_an_error(end):
    piece, _, _ = EVENTS.decode().partition("\n\n")
    body = body_of_text(f'{piece}\n\ndata: {{"error": {{"message": "x", "code": 500}}}}\n\n{end}')
    assert error_of(body) == {"message": "x", "code": 500}
    with pytest.raises(MalformedReplyError):
        parse_reply(body)


def test_a_mark_of_the_byte_order_is_no_part_of_a_reply():
    assert body_of_text('\ufeff {"choices": []}') == {"choices": []}


def test_a_reply_that_is_nested_without_an_end_is_refused():
    with pytest.raises(UnreadableReplyError):
        body_of_text("[" * 200_000)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None) | st.sampled_from("\ud83d\udc00")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def whole_reply():
    entry = {"token": "no", "logprob": -0.5, "bytes": None, "top_logprobs": []}
    message = {
        "role": "assistant",
        "content": "no",
        "refusal": None,
        "reasoning": None,
        "reasoning_content": None,
    }
    return {
        "id": "c",
        "model": "m",
        "system_fingerprint": "fp",
        "error": None,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop",
                "error": None,
                "logprobs": {"content": [entry]},
            }
        ],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }


def field_paths(value, path=()):
    """The path of every field of a JSON value."""
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in members:
        yield (*path, key)
        yield from field_paths(inner, (*path, key))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(path=st.sampled_from(list(field_paths(whole_reply()))), value=JSON)
def test_any_value_in_any_field_of_a_reply_is_an_answer_or_a_failure_that_a_table_holds(
    path, value
):
    body = whole_reply()
    *before, last = path
    reduce(getitem, before, body)[last] = value
    try:
        reply = parse_reply(body)
    except MalformedReplyError:
        return
    row = answered(
        request(),
        reply.completions,
        reply.served_model + reply.system_fingerprint,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cached_tokens=reply.cached_tokens,
    )
    encode_batch(RequestResult, [row])
