"""The openai engine against a server that fails in every way the issue trackers list."""

import json
import logging
import socket
import threading
import time

import pytest

from medhelm_spark.domain.answer_form import answer_schema
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import FailureKind, FinishReason, Request
from medhelm_spark.domain.run import AnswerForm
from medhelm_spark.engines import build_engine
from medhelm_spark.engines.engine import read_settings
from medhelm_spark.engines.openai_api import OpenAIEngine
from medhelm_spark.engines.openai_client import OpenAISettings
from medhelm_spark.engines.retry import RetryPolicy, until_outage
from tests.unit.engines.fault_server import FaultServer
from tests.unit.engines.nouns import (
    ALLOWED,
    REFUSED,
    SCHEMA,
    allow,
    conversation,
    deployment,
    request,
)

KEY = "sk-planted-0123456789"


@pytest.fixture(scope="module")
def shared_server():
    server = FaultServer()
    yield server
    server.close()


@pytest.fixture
def server(shared_server):
    for record in (shared_server.bodies, shared_server.headers, shared_server.paths):
        record.clear()
    shared_server.calls.clear()
    shared_server.replies.clear()
    shared_server.slow.clear()
    shared_server.peak, shared_server.pause, shared_server.recovers_after = 0, 0.0, 10**9
    return shared_server


@pytest.fixture
def engine_at(monkeypatch):
    """Builds engines whose retries are quick, and closes them."""
    monkeypatch.setenv("A_KEY", KEY)
    engines = []

    def build(server, *, max_in_flight=8, max_attempts=3, **args):
        base = {"base_url": server.url, "api_key": "env:A_KEY"}
        target = deployment("openai", **base | args)
        policy = RetryPolicy(max_attempts=max_attempts, first_delay=0.01)
        settings = read_settings(OpenAISettings, target)
        engine = OpenAIEngine(target, settings, max_in_flight=max_in_flight, policy=policy)
        engines.append(engine)
        return engine

    yield build
    for engine in engines:
        engine.close()


def ask(engine, *texts, **fields):
    requests = [request(text, name=text, **fields) for text in texts]
    return {result.request_id: result for result in engine.answer(requests, allow)}


def test_an_answer_carries_text_tokens_time_and_who_served_it(server, engine_at):
    result = ask(engine_at(server), "hello")["hello"]
    assert result.completions[0].text == "A"
    assert (result.prompt_tokens, result.completion_tokens, result.attempts) == (5, 1, 1)
    assert 0 < result.request_time < 5
    identity = json.loads(result.engine_fingerprint)
    assert (identity["engine"], identity["model"]) == ("openai", "model")
    assert (identity["served_model"], identity["system_fingerprint"]) == ("served-1", "fp")


def test_a_prompt_that_the_server_cut_is_an_answer_with_the_servers_count(server, engine_at):
    prompt = "word " * 20_000
    result = ask(engine_at(server), prompt)[prompt]
    assert (result.is_answer, result.prompt_tokens) == (True, 5)


def test_the_body_is_explicit_and_the_key_travels_in_its_header_only(server, engine_at):
    engine = engine_at(server, model="org/m", extra_body={"top_k": 20}, headers={"x-unit": "7"})
    turns = conversation(("system", "S"), ("user", "U"), decoding={"seed": 3, "logprobs": 2})
    assert all(r.is_answer for r in engine.answer([turns], allow))
    (body,) = server.bodies
    assert body == {
        "model": "org/m",
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "max_tokens": 8,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 2,
        "top_k": 20,
    }
    assert server.headers[0]["authorization"] == f"bearer {KEY}"
    assert server.headers[0]["x-unit"] == "7"
    assert server.paths == ["/v1/chat/completions"]
    assert KEY not in engine.fingerprint + repr(engine) + repr(engine.__dict__)


def test_the_completions_api_is_another_path(server, engine_at):
    assert ask(engine_at(server, api="completions"), "raw")["raw"].is_answer
    assert server.paths == ["/v1/completions"]
    assert server.bodies[0]["prompt"] == "raw"


@pytest.mark.parametrize(
    ("by", "sent"),
    [
        ("structured_outputs", {"structured_outputs": {"choice": ["A", "B"]}}),
        ("guided_choice", {"guided_choice": ["A", "B"]}),
        ("grammar", {"grammar": 'root ::= "A" | "B"'}),
        ("", {}),
    ],
)
def test_a_server_is_asked_for_one_of_some_texts_by_the_parameter_that_it_has(
    server, engine_at, by, sent
):
    schema = answer_schema(AnswerForm.CHOICE, ["A", "B"])
    ask(engine_at(server, choices_by=by), "plain", decoding={"response_schema": schema})
    (body,) = server.bodies
    named = ("structured_outputs", "guided_choice", "grammar", "response_format", "choices")
    assert {name: body[name] for name in named if name in body} == sent


def test_reasoning_models_get_what_they_accept(server, engine_at):
    decoding = {"stop_sequences": ("\n",), "response_schema": SCHEMA}
    ask(engine_at(server, reasoning=True), "think", decoding=decoding)
    ask(engine_at(server, structured_output=False), "plain", decoding=decoding)
    thinking, plain = server.bodies
    assert thinking["max_completion_tokens"] == 8
    assert {"temperature", "top_p", "stop", "max_tokens"}.isdisjoint(thinking)
    assert thinking["response_format"]["json_schema"]["strict"] is True
    assert "response_format" not in plain
    assert plain["stop"] == ["\n"]


def test_servers_that_refuse_log_probabilities_are_not_asked_for_them(server, engine_at):
    decoding = {"logprobs": 1}
    ask(engine_at(server), "told", decoding=decoding)
    ask(engine_at(server, logprobs=False), "plain", decoding=decoding)
    with_logprobs, plain = server.bodies
    assert (with_logprobs["logprobs"], with_logprobs["top_logprobs"]) == (True, 1)
    assert {"logprobs", "top_logprobs"}.isdisjoint(plain)


def test_azure_puts_deployment_and_version_into_the_address(server, engine_at):
    endpoint = server.url.removesuffix("/v1")
    azure = {"endpoint": endpoint, "api_version": "2026-01-01"}
    assert ask(engine_at(server, base_url="", azure=azure, model="gpt"), "hello")["hello"].is_answer
    path = "/openai/deployments/gpt/chat/completions?api-version=2026-01-01"
    assert server.paths == [path]
    assert server.headers[0]["api-key"] == KEY


@pytest.mark.parametrize(
    ("prompt", "reason", "text"),
    [
        ("filtered", FinishReason.REFUSAL, ""),
        ("cut-filtered", FinishReason.REFUSAL, "Half"),
        ("refused", FinishReason.REFUSAL, "I cannot help."),
        ("empty", FinishReason.STOP, ""),
        ("long", FinishReason.LENGTH, "x"),
    ],
)
def test_what_counts_as_an_answer(server, engine_at, prompt, reason, text):
    result = ask(engine_at(server), prompt)[prompt]
    assert (result.completions[0].finish_reason, result.completions[0].text) == (reason, text)
    assert (result.is_answer, result.attempts, server.calls[prompt]) == (True, 1, 1)


@pytest.mark.parametrize(
    ("prompt", "kind", "calls"),
    [
        ("too-long-code", FailureKind.TOO_LONG, 1),
        ("too-long-type", FailureKind.TOO_LONG, 1),
        ("too-long-words", FailureKind.TOO_LONG, 1),
        ("bad-request", FailureKind.INVALID_REQUEST, 1),
        ("broken", FailureKind.ENGINE_ERROR, 3),
        ("gateway", FailureKind.TIMEOUT, 3),
        ("malformed", FailureKind.ENGINE_ERROR, 3),
        ("choiceless", FailureKind.ENGINE_ERROR, 3),
        ("hang-up", FailureKind.UNREACHABLE, 3),
    ],
)
def test_failures_are_classified_and_tried_within_the_budget(
    server, engine_at, prompt, kind, calls, caplog
):
    caplog.set_level(logging.DEBUG)
    planted = f"{prompt} PLANTED"
    results = ask(engine_at(server), planted, "hello")
    failure = results[planted]
    assert (failure.failure, failure.attempts, failure.completions) == (kind, calls, ())
    assert server.calls[planted] == calls
    assert results["hello"].is_answer
    assert "PLANTED" not in caplog.text
    assert KEY not in caplog.text


def test_a_failure_that_passes_becomes_an_answer(server, engine_at):
    server.recovers_after = 2
    result = ask(engine_at(server), "broken")["broken"]
    assert (result.is_answer, result.attempts) == (True, 3)


def test_retry_after_is_honoured(server, engine_at):
    server.recovers_after = 1
    started = time.perf_counter()
    result = ask(engine_at(server), "throttled")["throttled"]
    assert time.perf_counter() - started >= 0.2
    assert (result.is_answer, result.attempts) == (True, 2)


def test_earlier_attempts_count_against_the_budget(server, engine_at):
    result = ask(engine_at(server), "broken", attempts=2)["broken"]
    assert (result.attempts, server.calls["broken"]) == (3, 1)


def test_a_slow_server_is_a_timeout(server, engine_at):
    engine = engine_at(server, timeout=0.2, max_attempts=2)
    result = ask(engine, "slow")["slow"]
    assert (result.failure, result.attempts) == (FailureKind.TIMEOUT, 2)
    assert result.request_time < 5


def test_text_that_cannot_be_sent_fails_alone(server, engine_at):
    results = ask(engine_at(server), "half \ud83d", "hello")
    assert results["half \ud83d"].failure is FailureKind.INVALID_REQUEST
    assert results["half \ud83d"].attempts == 1
    assert results["hello"].is_answer


def test_hostile_text_arrives_unchanged(server, engine_at):
    hostile = 'a\x00b "quoted" {braces} $5 \\1 😀 שלום\r\n' + "note " * 40_000
    ask(engine_at(server), hostile)
    assert server.bodies[0]["messages"][0]["content"] == hostile


@pytest.mark.parametrize(
    ("prompt", "label"),
    [
        ("unauthorised", "401 invalid_api_key"),
        ("no-model", "404 model_not_found"),
        ("moved", "307"),
    ],
)
def test_a_server_that_takes_no_request_is_asked_no_more(server, engine_at, prompt, label):
    engine = engine_at(server)
    results = list(engine.answer((request(f"{prompt} {i}") for i in range(1000)), allow))
    assert {result.failure for result in results} == {FailureKind.REJECTED}
    reason = f"{label}; check args.base_url, args.model and the key given by env:A_KEY"
    assert {result.reason for result in results} == {reason}
    assert len(results) == len(server.bodies) <= 2 * 16 + 8, "twice what may be open, and what is"
    assert "/v1/elsewhere" not in server.paths


def test_a_server_that_is_away_is_asked_no_more_after_some_failures(engine_at, server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = free.getsockname()[1]
    engine = engine_at(server, base_url=f"http://127.0.0.1:{away}/v1", max_attempts=1)
    requests = (request(f"{i}") for i in range(10_000))
    rows = list(until_outage(engine.answer(requests, allow), 16))
    assert {row.failure for row in rows} == {FailureKind.UNREACHABLE}
    assert len(rows) == 16
    assert int(next(requests).request_id) <= 16 + 8, "no more was pulled than was in flight"


def test_a_hanging_server_is_waited_for_twice_at_most(server, engine_at):
    """With ten tries each, 40 requests at 4 at once would wait for a hundred time-outs."""
    engine = engine_at(server, timeout=0.2, max_attempts=10, max_in_flight=4)
    rows = list(engine.answer([request(f"slow {i}") for i in range(40)], allow))
    assert {row.failure for row in rows} == {FailureKind.TIMEOUT}
    assert sum(row.attempts for row in rows) <= 40 + 1


def test_one_slow_request_among_answers_keeps_its_tries(server, engine_at):
    server.pause = 0.02
    engine = engine_at(server, timeout=0.2, max_attempts=3, max_in_flight=2)
    rows = ask(engine, "slow", *[f"q{i}" for i in range(60)])
    assert (rows["slow"].failure, rows["slow"].attempts) == (FailureKind.TIMEOUT, 3)
    assert sum(row.is_answer for row in rows.values()) == 60


def test_concurrency_is_used_and_bounded(server, engine_at):
    server.pause = 0.05
    engine = engine_at(server, max_in_flight=16)
    results = list(engine.answer((request(f"q{i}") for i in range(96)), allow))
    assert len(results) == 96
    assert server.peak == 16


def test_the_gate_is_asked_before_each_request(server, engine_at):
    def gate(item: Request) -> Decision:
        return REFUSED if item.text == "private" else ALLOWED

    engine = engine_at(server)
    results = {
        r.request_id: r
        for r in engine.answer([request(text) for text in ("public", "private")], gate)
    }
    assert results["private"].failure is FailureKind.DENIED
    assert results["public"].is_answer
    assert set(server.calls) == {"public"}


def test_stopping_early_hangs_up_and_leaves_the_engine_usable(server, engine_at):
    engine = engine_at(server)
    before = server.dropped
    results = engine.answer([request("slow 1"), request("slow 2"), request("hello")], allow)
    assert next(results).request_id == "hello"
    deadline = time.monotonic() + 10
    while not {"slow 1", "slow 2"} <= set(server.calls) and time.monotonic() < deadline:
        time.sleep(0.01)  # a call that never reached the server is not dropped there
    results.close()
    deadline = time.monotonic() + 10
    while server.dropped - before < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.dropped - before == 2
    assert ask(engine, "again")["again"].is_answer


def test_closing_cancels_open_calls_and_ends_the_thread(server, engine_at):
    threads = threading.active_count()
    engine = engine_at(server)
    results = engine.answer([request("slow 3"), request("hello")], allow)
    next(results)
    assert server.slow.wait(5)
    engine.close()
    engine.close()
    assert threading.active_count() == threads
    results.close()


def test_an_address_in_the_environment_changes_nothing(server, engine_at, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert ask(engine_at(server), "hello")["hello"].is_answer


def test_what_is_in_flight_is_the_deployments_concurrency_unless_given(server, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    server.pause = 0.05
    target = deployment("openai", base_url=server.url, api_key="env:A_KEY", max_concurrency=6)
    for limit, peak in [(None, 6), (2, 2)]:
        server.peak = 0
        engine = build_engine(target, max_in_flight=limit)
        assert len(list(engine.answer((request(f"q{i}") for i in range(12)), allow))) == 12
        engine.close()
        assert server.peak == peak
