"""What is asked again and when, what is never asked again, and when failures are an outage."""

from datetime import UTC, datetime

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.outcome import answered, completion, failed
from medhelm_spark.engines.retry import (
    Action,
    RetryPolicy,
    classify,
    delay,
    is_settled,
    parse_retry_after,
    tries_left,
    until_outage,
)
from tests.unit.engines.nouns import request

POLICY = RetryPolicy(max_attempts=5)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_asked_again(status):
    trouble = classify(status, set(), "", {})
    assert trouble.action is Action.RETRY
    late = status in (408, 504)
    assert trouble.kind is (FailureKind.TIMEOUT if late else FailureKind.ENGINE_ERROR)


def test_a_kind_that_is_given_up_is_tried_once():
    late, broken = (classify(status, set(), "", {}) for status in (504, 500))
    once = RetryPolicy(max_attempts=5, not_retried=frozenset({FailureKind.TIMEOUT}))
    assert [is_settled(once, trouble, 1, 5) for trouble in (late, broken)] == [True, False]
    assert [is_settled(POLICY, late, tries, 5) for tries in (4, 5)] == [False, True]


@pytest.mark.parametrize(
    ("status", "codes", "action"),
    [
        (401, {"invalid_api_key"}, Action.REJECT),
        (401, set(), Action.REJECT),
        (402, set(), Action.REJECT),
        (403, set(), Action.DOUBT),
        (404, {"model_not_found"}, Action.REJECT),
        (404, set(), Action.DOUBT),
        (405, set(), Action.DOUBT),
        (307, set(), Action.DOUBT),
        (429, {"insufficient_quota"}, Action.REJECT),
        (400, {"model_not_found"}, Action.REJECT),
    ],
)
def test_a_server_that_takes_no_request_is_told_from_one_that_may_refuse_a_text(
    status, codes, action
):
    assert classify(status, codes, "", {}).action is action


@pytest.mark.parametrize(
    ("status", "codes", "message"),
    [
        (400, {"context_length_exceeded"}, ""),
        (400, {"400", "exceed_context_size_error"}, "request (3031 tokens) exceeds the available"),
        (400, {"BadRequestError"}, "This model's maximum context length is 2048 tokens."),
        (400, set(), "The prompt (length 9) is longer than the maximum model length of 8"),
        (400, set(), "prompt is too long: 210000 tokens > 200000 maximum"),
        (422, set(), "Too many input tokens"),
        (400, set(), "Input exceeds the maximum number of tokens"),
        (413, set(), ""),
        (422, set(), "`inputs` tokens + `max_new_tokens` must be <= 512. Given: 500 and 64"),
        (422, set(), "`inputs` must have less than 512 tokens. Given: 900"),
        (400, set(), "Bad request: prompt token count 9000 cannot exceed 8000."),
        (400, set(), "Please reduce the length of the messages or completion."),
        (400, set(), "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000"),
        (400, set(), "This model's maximum prompt length is 131072 but the request contains 9."),
        (400, set(), "the input token count is 90000 but model only supports up to 32768."),
        (400, set(), "The sum of prompt length (9351.0), query length (0) should not exceed"),
        (400, set(), "Prompt length (200) exceeds maximum input length (100)"),
    ],
)
def test_a_prompt_too_long_is_told_from_other_refusals(status, codes, message):
    trouble = classify(status, codes, message, {})
    assert (trouble.action, trouble.kind) == (Action.GIVE_UP, FailureKind.TOO_LONG)


def test_a_content_filter_answers():
    assert classify(400, {"content_filter"}, "", {}).action is Action.ANSWER


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"400"}, "litellm.ContentPolicyViolationError: VertexAIException - blocked"),
        ({"400"}, "AzureException - triggering Azure OpenAI's content management policy."),
        (
            {"invalid_prompt", "invalid_request_error"},
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        ),
    ],
)
def test_a_content_filter_answers_in_words_alone(codes, message):
    assert classify(400, codes, message, {}).action is Action.ANSWER
    assert classify(400, codes, "Invalid prompt", {}).action is Action.GIVE_UP


def test_any_other_refusal_of_one_request_is_given_up():
    trouble = classify(400, {"invalid_request_error"}, "Unknown parameter", {})
    assert (trouble.action, trouble.kind) == (Action.GIVE_UP, FailureKind.INVALID_REQUEST)
    # A 429 may mention tokens; a later try may still be answered.
    assert classify(429, set(), "maximum context length", {}).action is Action.RETRY


@pytest.mark.attack("errors", "a server's error code that quotes a record number")
@pytest.mark.parametrize("quoted", ["a patient of 54 years", "MRN-0042", "Roe"])
def test_a_label_holds_status_and_known_codes_and_nothing_a_server_could_quote(quoted: str):
    trouble = classify(400, {"invalid_request_error", quoted}, quoted, {})
    assert trouble.label == "400 invalid_request_error another code"


def test_delays_double_up_to_the_ceiling_and_keep_half_as_jitter():
    for tries, ceiling in [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (60, 60.0)]:
        waits = [delay(POLICY, tries, None, f"r{i}") for i in range(200)]
        assert ceiling / 2 <= min(waits) < 0.6 * ceiling
        assert 0.9 * ceiling < max(waits) <= ceiling


def test_delays_are_seeded():
    assert delay(POLICY, 2, None, "r1") == delay(POLICY, 2, None, "r1")
    assert delay(POLICY, 2, None, "r1") != delay(POLICY, 2, None, "r2")


def test_a_server_that_asks_for_patience_gets_it_within_reason():
    assert 10.5 <= delay(POLICY, 1, 10.0, "r") <= 11.0
    assert 300.5 <= delay(POLICY, 1, 86400.0, "r") <= 301.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    now = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
    assert parse_retry_after(headers, now) == seconds


def test_the_budget_counts_earlier_tries_and_leaves_one_to_a_reopened_request():
    assert [tries_left(POLICY, attempts) for attempts in (0, 3, 4, 5, 9)] == [5, 2, 1, 1, 1]


OUT, SLOW, BROKEN = FailureKind.UNREACHABLE, FailureKind.TIMEOUT, FailureKind.ENGINE_ERROR
LONG, BAD, DENIED = FailureKind.TOO_LONG, FailureKind.INVALID_REQUEST, FailureKind.DENIED


class Results:
    """What an engine yields, and whether it was closed."""

    def __init__(self, *kinds):
        self.closed = False
        self.yielded = 0
        self._rows = self._made(kinds)

    def _made(self, kinds):
        try:
            for kind in kinds:
                self.yielded += 1
                text = completion("A", "stop")
                yield failed(request(), kind, "{}") if kind else answered(request(), (text,), "{}")
        finally:
            self.closed = True

    def until(self, limit):
        return [row.failure for row in until_outage(self._rows, limit)]


@pytest.mark.parametrize(
    ("kinds", "num_asked"),
    [
        ((OUT, SLOW, BROKEN, None), 3),
        ((OUT, OUT, None, OUT, OUT, None), 6),
        ((OUT, OUT, LONG, OUT, OUT, BAD), 6),
        ((OUT, DENIED, OUT, DENIED, OUT, None), 5),
        ((LONG,) * 9, 9),
        ((DENIED,) * 9, 9),
        ((), 0),
    ],
)
def test_only_failures_of_infrastructure_in_a_row_end_the_asking(kinds, num_asked):
    results = Results(*kinds)
    assert results.until(3) == list(kinds[:num_asked])
    assert results.yielded == num_asked
    assert results.closed


def test_a_caller_who_stops_early_closes_the_engines_results():
    results = Results(None, None)
    rows = until_outage(results._rows, 3)
    next(rows)
    rows.close()
    assert results.closed
