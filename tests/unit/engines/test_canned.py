"""The canned engine: what tests and benchmarks rely on."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import FailureKind, FinishReason, Request
from medhelm_spark.engines import build_engine
from tests.unit.engines.nouns import ALLOWED, REFUSED, allow, conversation, deployment, request

ROOT = Path(__file__).resolve().parents[3]
VERDICT = {
    "type": "object",
    "properties": {
        "accuracy": {
            "type": "object",
            "properties": {"score": {"type": "integer"}, "explanation": {"type": "string"}},
        },
        "clarity": {"type": "object", "properties": {"score": {"type": "number"}}},
    },
}


def answers(requests, **args):
    return list(build_engine(deployment("canned", **args)).answer(requests, allow))


def text(model_request, **args):
    (result,) = answers([model_request], **args)
    return result.completions[0].text


def test_constant_and_echo():
    assert text(request("Q")) == "A"
    assert text(request("Q"), text="maybe") == "maybe"
    assert text(request("Q"), mode="echo") == "Q"
    turns = conversation(("user", "first"), ("assistant", "x"), ("user", "last"))
    assert text(turns, mode="echo") == "last"


def test_choice_is_spread_and_repeatable():
    requests = [request(name=f"r{i}") for i in range(1000)]
    first = answers(requests, mode="choice", choices=["yes", "no"])
    again = answers(reversed(requests), mode="choice", choices=["yes", "no"])
    chosen = {r.request_id: r.completions[0].text for r in first}
    assert chosen == {r.request_id: r.completions[0].text for r in again}
    assert min(Counter(chosen.values()).values()) > 400


def test_judge_fills_the_schema_it_is_given():
    model_request = request("Q", decoding={"response_schema": json.dumps(VERDICT)})
    assert json.loads(text(model_request, mode="judge", score=4, text="fine")) == {
        "accuracy": {"score": 4, "explanation": "fine"},
        "clarity": {"score": 4.0},
    }


def test_script_answers_by_what_the_prompt_holds():
    replies = {"aspirin": "yes", "Which drug": "none"}
    args = {"mode": "script", "replies": replies, "text": "else"}
    assert text(request("Is aspirin an NSAID?"), **args) == "yes"
    assert text(conversation(("system", "Which drug?"), ("user", "x")), **args) == "none"
    assert text(request("Q"), **args) == "else"


def test_completions_tokens_and_logprobs_follow_the_request():
    decoding = {"num_completions": 3, "logprobs": 1}
    (result,) = answers([request("x" * 40, decoding=decoding)], finish_reason="length")
    assert len(result.completions) == 3
    one = result.completions[0]
    assert (one.logprob, one.finish_reason) == (-0.1, FinishReason.LENGTH)
    assert (result.prompt_tokens, result.completion_tokens) == (11, 1)
    (logged,) = answers([request(decoding=decoding)], text="The answer is (A).\n")
    tokens = [token.text for token in logged.completions[0].tokens]
    assert tokens == ["The", " answer", " is", " (", "A", ")", ".", "\n"]
    assert text(request(), text="") == ""


def test_every_nth_call_fails_and_succeeds_when_asked_again():
    args = {"fail_every": 3, "failure": "timeout", "fail_attempts": 1}
    results = answers([request(name=f"r{i}") for i in range(9)], **args)
    failures = [r for r in results if not r.is_answer]
    assert [r.request_id for r in failures] == ["r2", "r5", "r8"]
    assert {r.failure for r in failures} == {FailureKind.TIMEOUT}
    assert all(r.is_answer for r in answers([request(attempts=1)] * 9, **args))


def test_only_real_calls_are_logged(tmp_path):
    log = tmp_path / "calls.txt"
    engine = build_engine(deployment("canned", log_file=str(log)))

    def gate(item: Request) -> Decision:
        return REFUSED if item.request_id == "b" else ALLOWED

    results = list(engine.answer([request(name=name) for name in "abc"], gate))
    assert [r.failure for r in results] == [None, FailureKind.DENIED, None]
    assert log.read_text() == "a\nc\n"


def test_it_dies_like_a_killed_worker_and_once_with_a_marker(tmp_path):
    marker, log = tmp_path / "died", tmp_path / "calls.txt"
    args = {"die_after": 2, "die_marker": str(marker), "log_file": str(log)}
    program = (
        "from tests.unit.engines.nouns import *\n"
        "from medhelm_spark.engines import build_engine\n"
        f"engine = build_engine(deployment('canned', **{args!r}))\n"
        "print(len(list(engine.answer([request(name=n) for n in 'abcd'], allow))))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)
        for _ in range(2)
    ]
    assert (runs[0].returncode, runs[0].stdout) == (1, b"")
    assert (runs[1].returncode, runs[1].stdout.strip()) == (0, b"4")
    assert log.read_text().split() == ["a", "b", "c", "a", "b", "c", "d"]


def test_results_stream_one_by_one():
    def endless():
        i = 0
        while True:
            yield request(name=str(i))
            i += 1

    results = build_engine(deployment("canned")).answer(endless(), allow)
    assert [next(results).request_id for _ in range(3)] == ["0", "1", "2"]


def test_fingerprints_tell_settings_apart():
    one, other = (build_engine(deployment("canned", text=text)).fingerprint for text in "AB")
    assert one != other
    assert json.loads(one)["engine"] == "canned"


@pytest.mark.parametrize("mode", ["constant", "echo", "choice", "judge", "script"])
def test_every_mode_works_with_its_defaults(mode):
    assert len(answers([request()], mode=mode)) == 1
