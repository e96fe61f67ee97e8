"""Keys that expire: read again by a request, once for all that wait, and shown nowhere."""

import asyncio
import logging
import sys
import time

import pytest

from medhelm_spark.config.addresses import check_secrets
from medhelm_spark.domain.key_source import key_source
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import build_engine, key_fetch
from medhelm_spark.engines.keys import Keys
from medhelm_spark.engines.secrets import references_in
from medhelm_spark.errors import ConfigError, PolicyError, SetupError
from medhelm_spark.policy.commands import check_command
from tests.token_server import CLIENT, NOISE, SECRET, TOKEN, TokenServer
from tests.unit.engines.nouns import allow, deployment, request

PLANTED = (TOKEN, SECRET, NOISE, "planted")


@pytest.fixture
def server():
    server = TokenServer()
    yield server
    server.close()


@pytest.fixture
def ask_by(server, monkeypatch):
    """Asks so many requests by a deployment with this key."""
    monkeypatch.setattr(key_fetch, "PAUSES", (0.0, 0.0))
    engines = []

    def ask(api_key, count, *, concurrency=4, **args):
        target = deployment("openai", base_url=f"{server.url}/v1", api_key=api_key, **args)
        if not engines:
            engines.append(build_engine(target, max_in_flight=concurrency))
        requests = (request(f"Is {n}?", name=f"{n}") for n in range(count))
        return list(engines[0].answer(requests, allow))

    yield ask
    for engine in engines:
        engine.close()


def by_command(server, tmp_path, **keys):
    return {"command": server.command(tmp_path), "lifetime": "50m"} | keys


def oauth(server, **keys):
    return {
        "token_url": f"{server.url}/token",
        "client_id": CLIENT,
        "client_secret": "env:CLIENT_SECRET",
        "scope": "all",
    } | keys


def test_a_key_that_ends_is_renewed_once_for_all_that_wait(server, ask_by, tmp_path):
    server.uses = 25
    results = ask_by(by_command(server, tmp_path), 120)
    assert [each.failure for each in results] == [None] * 120
    assert set(server.answered.values()) == {1}, "nothing is asked twice"
    assert server.issued == 5, "120 answers at 25 a key"
    assert sum(each.tries for each in results) == 120 + server.refused


def test_a_refusal_that_arrives_as_a_new_key_does_looks_no_other_one_up():
    looked_up = []

    def look_up():
        looked_up.append(time.sleep(0.002))
        return key_fetch.Key(text=""), {"authorization": f"key {len(looked_up)}"}

    async def refused_at_every_moment():
        keys = Keys(look_up)

        async def refused(moment):
            for _ in range(moment):
                await asyncio.sleep(0)
            return await keys.renewed(1)

        return await asyncio.gather(*map(refused, range(2000)))

    assert all(asyncio.run(refused_at_every_moment()))
    assert len(looked_up) == 2


def test_a_key_is_renewed_before_it_ends(server, ask_by, tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("medhelm_spark.engines.keys.time.monotonic", lambda: now[0])
    key = by_command(server, tmp_path, lifetime="10m")
    ask_by(key, 1)
    now[0] = 530.0
    ask_by(key, 1)
    assert server.issued == 1
    now[0] = 541.0
    ask_by(key, 2)
    assert (server.issued, server.refused) == (2, 0)


def test_a_client_of_oauth_gets_its_key_and_its_end(server, ask_by, monkeypatch):
    monkeypatch.setenv("CLIENT_SECRET", SECRET)
    now = [0.0]
    monkeypatch.setattr("medhelm_spark.engines.keys.time.monotonic", lambda: now[0])
    server.expires_in = 100
    (first,) = ask_by(oauth(server), 1)
    now[0] = 91.0
    (second,) = ask_by(oauth(server), 1)
    assert (first.failure, second.failure, server.issued) == (None, None, 2)


def test_a_key_of_oauth_is_got_where_an_event_loop_runs(server, ask_by, monkeypatch):
    monkeypatch.setenv("CLIENT_SECRET", SECRET)

    async def as_in_a_notebook():
        return ask_by(oauth(server), 1)

    (result,) = asyncio.run(as_in_a_notebook())
    assert result.failure is None


def test_a_server_of_keys_that_is_away_is_one_sentence(ask_by, monkeypatch):
    monkeypatch.setenv("CLIENT_SECRET", SECRET)
    away = {"token_url": "http://127.0.0.1:9/token", "client_id": CLIENT}
    with pytest.raises(SetupError, match=r"token_url cannot be asked \(ClientConnectorError\)"):
        ask_by({**away, "client_secret": "env:CLIENT_SECRET"}, 1)


def test_a_file_is_read_again_after_a_401(server, ask_by, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{server.issue()}\n")
    server.uses = 3
    assert [each.failure for each in ask_by(f"file:{file}", 3, concurrency=1)] == [None] * 3
    file.write_text(f"{server.issue()}\n")
    assert [each.failure for each in ask_by(f"file:{file}", 2, concurrency=1)] == [None] * 2
    assert server.refused == 1


def test_a_key_that_stays_the_same_is_refused_without_a_second_try(server, ask_by, monkeypatch):
    monkeypatch.setenv("MY_KEY", "planted-wrong-key")
    (result,) = ask_by("env:MY_KEY", 1)
    assert (result.failure, result.tries, server.refused) == (FailureKind.REJECTED, 1, 1)


def test_a_new_key_that_is_never_accepted_is_not_renewed_again(server, ask_by, tmp_path):
    server.uses = 0
    results = ask_by(by_command(server, tmp_path), 40, concurrency=4)
    assert {each.failure for each in results} == {FailureKind.REJECTED}
    assert server.issued == 2, "one after the first refusal"
    assert len(results) < 40, "the server is asked no more"


def test_a_command_that_fails_once_is_tried_again(server, ask_by, tmp_path):
    server.uses, server.failing = 10, {2}
    results = ask_by(by_command(server, tmp_path), 20)
    assert [each.failure for each in results] == [None] * 20


def test_a_renewal_that_fails_keeps_what_was_answered(server, ask_by, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    server.uses, server.failing = 10, {2, 3, 4}
    results = ask_by(by_command(server, tmp_path), 200)
    assert sum(each.is_answer for each in results) == 10
    rejected = [each for each in results if not each.is_answer]
    assert {each.failure for each in rejected} == {FailureKind.REJECTED}
    assert len(rejected) <= 8, "no more is taken up"
    (reason,) = {each.reason for each in rejected if each.reason.startswith("no key")}
    assert f"no key: the command '{sys.executable}' ended with exit code 3; run it by" in reason
    output = caplog.text + str(rejected)
    assert not any(word in output for word in PLANTED)
    again = ask_by(by_command(server, tmp_path), 10)
    assert all(each.is_answer for each in again), "the next batch asks the command anew"


def test_what_was_not_sent_counts_no_try(server, ask_by, tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("medhelm_spark.engines.keys.time.monotonic", lambda: now[0])
    server.failing = {2, 3, 4}
    ask_by(by_command(server, tmp_path), 1)
    now[0] = 3600.0
    (result,) = ask_by(by_command(server, tmp_path), 1)
    assert (result.failure, result.tries) == (FailureKind.REJECTED, 0)
    assert len(server.authorization) == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('planted', 'planted')", "gave 2 words, and a key is one word of ASCII"),
        ("pass", "gave 0 words"),
        ("print('planted\\u00e9')", "gave 1 words"),
        ("import sys; sys.exit('planted')", "ended with exit code 1; run it by hand"),
    ],
)
def test_what_is_no_key_is_not_sent_and_not_shown(ask_by, script, why):
    with pytest.raises(SetupError) as raised:
        ask_by({"command": [sys.executable, "-c", script], "lifetime": "1h"}, 1)
    assert why in str(raised.value)
    assert "planted" not in str(raised.value)


def test_a_wrong_client_is_one_sentence(server, ask_by, monkeypatch):
    monkeypatch.setenv("CLIENT_SECRET", "planted-other")
    with pytest.raises(SetupError, match="answered 401; check args") as raised:
        ask_by(oauth(server), 1)
    assert "planted" not in str(raised.value)


def test_a_command_gets_no_key_of_the_environment(ask_by, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    monkeypatch.setenv("VAULT_ADDR", "here")
    script = "import os; assert 'OPENAI_API_KEY' not in os.environ; print(os.environ['VAULT_ADDR'])"
    key = {"command": [sys.executable, "-c", script], "lifetime": "1h"}
    with pytest.raises(SetupError, match="exit code 1"):
        ask_by(key, 1)
    assert ask_by(key | {"environment": ["VAULT_*"]}, 1)[0].failure is FailureKind.REJECTED


def test_azure_takes_what_ends_as_a_bearers_token(server, tmp_path):
    key = by_command(server, tmp_path)
    azure = {"endpoint": server.url, "api_version": "2024-10-21"}
    engine = build_engine(deployment("openai", azure=azure, api_key=key, model="gpt"))
    try:
        (result,) = engine.answer([request("Is 1?")], allow)
    finally:
        engine.close()
    assert result.is_answer


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ({"command": ["x"]}, "lacks lifetime"),
        ({"command": "x y", "lifetime": "1h"}, "api_key.command is no list of texts"),
        ({"command": [], "lifetime": "1h"}, "api_key.command is no list of texts"),
        ({"command": ["x"], "lifetime": 50}, "lifetime is no duration; allowed: as 50m"),
        ({"command": ["x"], "lifetime": "0m"}, "lifetime is no duration"),
        ({"command": ["x"], "lifetime": "1h", "comand": 1}, "has an unknown key 'comand'"),
        ({"token_url": "https://a/t", "client_id": "x"}, "lacks client_secret"),
        (
            {"token_url": "http://a/t", "client_id": "x", "client_secret": "env:X"},
            "token_url is no https address",
        ),
        (["planted"], "neither a reference nor a mapping"),
    ],
)
def test_a_source_that_is_none_is_refused(key, why):
    with pytest.raises(ValueError, match=why) as raised:
        key_source(key)
    assert "planted" not in str(raised.value)


def test_a_secret_written_out_in_a_source_is_refused():
    client = {"token_url": "https://a/t", "client_id": "x", "client_secret": "planted"}
    for api_key in (client, {"command": ["x", "--key", "sk-planted0123"], "lifetime": "1h"}):
        with pytest.raises(ConfigError, match="is written out") as raised:
            check_secrets({"api_key": api_key}, "here")
        assert "planted" not in str(raised.value)
    target = {"api_key": client | {"client_secret": "env:X"}}
    check_secrets(target, "here")
    assert references_in(target) == ("env:X",)


def test_the_policy_lists_commands_word_by_word():
    target = deployment("openai", api_key={"command": ["vault", "read"], "lifetime": "1h"})
    policy = Policy(allowed=(), version="1", commands=(("vault", "read"),))
    check_command(policy, target)
    for commands in ((), (("vault",),), (("vault", "read", "-v"),)):
        with pytest.raises(PolicyError, match=r'commands: \["vault", "read"\]'):
            check_command(Policy(allowed=(), version="1", commands=commands), target)
