"""Every way an answer can end, and what a failure may carry."""

import pytest

from medhelm_spark.domain.request import FailureKind, FinishReason, TokenLogprob
from medhelm_spark.engines.outcome import answered, completion, denied, failed
from tests.unit.engines.nouns import request


@pytest.mark.parametrize(
    ("text", "raw", "refusal", "expected"),
    [
        ("A", "stop", None, FinishReason.STOP),
        ("A", "length", None, FinishReason.LENGTH),
        ("A", "max_tokens", None, FinishReason.LENGTH),
        ("A", None, None, FinishReason.UNKNOWN),
        ("A", "tool_calls", None, FinishReason.UNKNOWN),
        ("", "stop", None, FinishReason.STOP),
        ("", "content_filter", None, FinishReason.REFUSAL),
        ("Half an answ", "content_filter", None, FinishReason.REFUSAL),
        ("", "stop", "I cannot help with that.", FinishReason.REFUSAL),
    ],
)
def test_how_an_answer_ended(text, raw, refusal, expected):
    assert completion(text, raw, refusal=refusal).finish_reason is expected


def test_a_refusal_is_the_text_where_there_is_no_other():
    assert completion("", "stop", refusal="I cannot help.").text == "I cannot help."
    assert completion("", "content_filter").text == ""


@pytest.mark.parametrize("text", ["<think>Dose?</think>\n\nYes\n", "<think>Let me see", " \n", ""])
def test_a_text_is_stored_as_the_engine_wrote_it(text):
    beside = completion(text, "stop", thinking="Dose?")
    assert (beside.text, beside.thinking) == (text, "Dose?")
    assert (completion(text, "stop").text, completion(text, "stop").thinking) == (text, None)


def test_the_logprob_of_a_completion_is_the_sum_over_its_tokens():
    tokens = (TokenLogprob(text="No", logprob=-1.5), TokenLogprob(text=".", logprob=-0.25))
    assert completion("No.", "stop", tokens=tokens).logprob == -1.75
    assert completion("No.", "stop").logprob is None


def test_an_answer_has_completions_and_a_failure_has_none():
    model_request = request(attempts=2)
    answer = answered(model_request, [completion("A", "stop")], "{}", tries=3)
    failure = failed(model_request, FailureKind.TIMEOUT, "{}", tries=3)
    assert answer.is_answer
    assert not failure.is_answer
    assert (answer.attempts, failure.attempts) == (5, 5)
    assert failure.completions == ()
    assert answer.completed_at.utcoffset() is not None


def test_a_denied_request_was_never_tried():
    result = denied(request(attempts=1), "{}")
    assert (result.failure, result.attempts) == (FailureKind.DENIED, 1)
