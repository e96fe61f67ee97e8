"""Kinds of reply, twenty rows each, beside twenty good rows: every case keeps the good rows."""

import json
from collections import Counter

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.network import Network, Reach
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import FailureKind, RequestResult
from medhelm_spark.engines.engine import read_settings
from medhelm_spark.engines.openai_api import OpenAIEngine
from medhelm_spark.engines.openai_client import OpenAISettings
from medhelm_spark.engines.retry import Asked, RetryPolicy, until_fault, until_outage
from medhelm_spark.lake.columnar import decode_batch, encode_batch
from tests.unit.engines.fault_server import FaultServer, error
from tests.unit.engines.nouns import allow, deployment, request
from tests.unit.engines.replies import AGAIN, ANSWERED, KINDS, OWN

ROWS, TRIES, LIMIT = 20, 2, 100_000


@pytest.fixture(scope="module")
def server():
    server = FaultServer()
    server.replies = dict(KINDS)
    yield server
    server.close()


@pytest.fixture
def engine_at():
    engines = []

    def build(server, **args):
        target = deployment("openai", base_url=server.url, max_reply_bytes=LIMIT, **args)
        policy = RetryPolicy(max_attempts=TRIES, first_delay=0.001, longest_delay=0.002)
        settings = read_settings(OpenAISettings, target)
        engines.append(OpenAIEngine(target, settings, max_in_flight=8, policy=policy))
        return engines[-1]

    yield build
    for engine in engines:
        engine.close()


def allow_here(model_request):
    reach = Reach(networks=(Network(cidr="127.0.0.0/8"),), own_machine=True)
    return Decision(allowed=True, rule="all", reach=reach)


def stored_results(engine, requests, limit=16):
    """The rows that a task gives, as a table has them."""
    started_requests = Asked(requests)
    results = until_fault(
        engine.answer(started_requests, allow), started_requests, engine.fingerprint
    )
    rows = list(until_outage(results, limit))
    return decode_batch(RequestResult, encode_batch(RequestResult, rows))


def beside_good_ones(kind, **fields):
    for row in range(ROWS):
        yield request(f"{kind} {row} seed", decoding={"seed": 1}, **fields)
        yield request(f"good {row}")


def test_there_are_forty_kinds():
    assert len(KINDS) == len(ANSWERED) + len(OWN) + len(AGAIN) >= 40


@pytest.mark.parametrize("kind", KINDS)
def test_every_good_row_is_kept_beside_any_kind_of_reply(server, engine_at, kind):
    server.calls.clear()
    rows = {
        row.request_id: row for row in stored_results(engine_at(server), beside_good_ones(kind))
    }
    good = [rows[f"good {row}"] for row in range(ROWS)]
    assert all(row.is_answer and row.attempts == 1 for row in good)
    odd = [row for name, row in rows.items() if name.startswith(kind)]
    assert len(odd) == ROWS
    if kind in ANSWERED:
        assert all(row.is_answer for row in odd)
    else:
        again = {row.failure.is_infrastructure for row in odd}
        assert again == {kind in AGAIN}, Counter(row.failure for row in odd)
        assert all(row.reason for row in odd)
    calls = {name: many for name, many in server.calls.items() if name.startswith(kind)}
    assert max(calls.values(), default=1) <= TRIES
    if kind in ANSWERED | OWN:
        assert max(calls.values(), default=1) == 1, "what another try does not cure is asked once"


@pytest.mark.parametrize("kind", ["firewall", "not-found", "elsewhere"])
def test_a_server_that_refuses_all_is_not_taken_for_a_firewall(server, engine_at, kind):
    server.calls.clear()
    rows = stored_results(engine_at(server), (request(f"{kind} {row}") for row in range(500)))
    assert {row.failure for row in rows} == {FailureKind.REJECTED}
    assert server.calls.total() <= 2 * 16 + 8


def test_what_was_answered_before_the_quota_ended_is_kept_and_the_rest_is_asked_again(
    server, engine_at
):
    engine = engine_at(server)
    texts = [*(f"good {row}" for row in range(20)), *(f"quota {row}" for row in range(400))]
    rows = stored_results(engine, map(request, texts))
    failures = Counter(row.failure for row in rows)
    assert failures[None] == 20
    assert failures.keys() == {None, FailureKind.REJECTED}
    assert failures[FailureKind.REJECTED] < 400
    assert "the quota or credit of the account is used up" in rows[-1].reason


def test_a_flood_is_left_at_the_limit(server, engine_at):
    server.flooded = 0
    (row,) = stored_results(engine_at(server), [request("flood")])
    assert (row.failure, row.attempts) == (FailureKind.INVALID_REPLY, 1)
    assert row.reason == "a reply of more than 100000 bytes (args.max_reply_bytes)"
    assert server.flooded < 100 * LIMIT, "no more than what was on its way"


@pytest.mark.parametrize("kind", ["huge", "bomb", "odd-parts", "choiceless"])
def test_replies_that_hold_no_answer_are_no_outage(server, engine_at, kind):
    rows = stored_results(engine_at(server), (request(f"{kind} {row}") for row in range(60)))
    assert [row.failure for row in rows] == [FailureKind.INVALID_REPLY] * 60


@pytest.mark.parametrize(
    ("level", "reason"),
    [
        (AccessLevel.PUBLIC, "400 invalid_value; it says: Roe, 54, is no *** value"),
        (AccessLevel.PRIVATE, "400 invalid_value"),
    ],
)
def test_the_servers_sentence_is_told_of_public_text_alone(
    server, engine_at, monkeypatch, level, reason
):
    monkeypatch.setenv("A_KEY", "sk-planted-0123")
    sentence = "Roe, 54,\x1b is no sk-planted-0123\n value"
    server.replies["said"] = (400, {}, error(sentence, code="invalid_value"))
    engine = engine_at(server, api_key="env:A_KEY")
    (row,) = engine.answer([request("said", access_level=level)], allow_here)
    assert row.reason == reason


@pytest.mark.parametrize("level", [AccessLevel.PUBLIC, AccessLevel.PRIVATE])
@pytest.mark.parametrize(
    ("sentence", "name", "cure"),
    [
        (
            "`temperature` and `top_p` cannot both be given",
            "temperature and top_p",
            "args.omit: [top_p]",
        ),
        ("Unsupported parameter: 'max_tokens'", "max_tokens", "args.reasoning: true"),
        ("Unknown parameter: seed", "seed", "args.omit: [seed]"),
    ],
)
def test_a_parameter_that_is_refused_is_named_after_few_calls(
    server, engine_at, level, sentence, name, cure
):
    server.replies["named"] = (400, {}, json.dumps(error(sentence)))
    server.calls.clear()
    fields = {"decoding": {"seed": 1}, "access_level": level}
    engine = engine_at(server)
    requests = (request(f"named {row} PLANTED", **fields) for row in range(500))
    rows = list(engine.answer(requests, allow_here))
    assert {row.failure for row in rows} == {FailureKind.REJECTED}
    assert server.calls.total() <= 8 + 8
    assert f"it refuses {name} ({cure}" in rows[0].reason
    assert (sentence in rows[0].reason) is (level is AccessLevel.PUBLIC)


def test_a_parameter_that_is_left_out_is_not_sent(server, engine_at):
    server.bodies.clear()
    engine = engine_at(server, omit=["seed", "top_p"])
    (row,) = stored_results(engine, [request("plain", decoding={"seed": 1})])
    assert row.is_answer
    assert {"seed", "top_p"}.isdisjoint(server.bodies[0])
