"""What MedHELM would have read: an answer's first tokens, up to a stop, or nothing."""

from collections.abc import Sequence

import pytest

from medhelm_spark.adaptation.medhelm_reading import as_medhelm_got
from medhelm_spark.domain.request import Completion, FinishReason, TokenLogprob
from medhelm_spark.domain.run import MedhelmReading


def completion(text: str, tokens: Sequence[str] = (), thinking: str | None = None) -> Completion:
    logprobs = tuple(TokenLogprob(text=token, logprob=-0.5) for token in tokens)
    return Completion(
        text=text, finish_reason=FinishReason.STOP, tokens=logprobs, thinking=thinking, logprob=-9.0
    )


def got(
    one: Completion, max_tokens: int = 1, *stops: str, is_cut: bool = True
) -> Completion | None:
    how = MedhelmReading(max_tokens=max_tokens, stop_sequences=stops)
    return as_medhelm_got(one, how, is_cut=is_cut)


@pytest.mark.parametrize(
    ("text", "tokens", "max_tokens", "expected"),
    [
        ("The answer is (A).", ["The", " answer", " is", " (", "A", ")."], 1, "The"),
        ("A. aspirin", ["A", ".", " aspirin"], 1, "A"),
        (" A\n\nBecause", [" A", "\n\n", "Because"], 1, " A"),
        ("1\nIt is made up", ["1", "\n", "It", " is", " made", " up"], 5, "1\nIt is made"),
        # A tokenizer that drops the space before a word when it decodes the word alone.
        ("1 It is made up", ["1", "It", "is", "made", "up"], 3, "1 It is"),
        # The end-of-text token counts, under whatever name the engine gives it.
        ("A", ["A", "<|im_end|>"], 1, "A"),
        ("A", ["A"], 1, "A"),
        ("Because", ["Be", "cause", ""], 1, "Be"),
        ("\n\nB", ["\n\n", "B"], 1, ""),
    ],
)
def test_the_first_tokens(text: str, tokens: list[str], max_tokens: int, expected: str) -> None:
    reading = got(completion(text, tokens), max_tokens)
    assert reading is not None
    assert reading.text.strip() == expected.strip()
    if len(tokens) > max_tokens:
        assert reading.finish_reason is FinishReason.LENGTH
        assert (len(reading.tokens), reading.logprob) == (max_tokens, -0.5 * max_tokens)


@pytest.mark.parametrize(
    "one",
    [
        completion("A"),
        completion("The answer is A."),
        completion("A", ["<think>", "B", "</think>", "A"], thinking="B"),
        completion("A", ["A", ""], thinking="told apart"),
        completion("A then B", ["<|start|>", "A", " then", " B"]),
        completion("é is A", ["\ufffd", "\ufffd", " is", " A"]),
    ],
)
def test_where_the_tokens_are_not_known_nothing_is_guessed(one: Completion) -> None:
    assert got(one) is None


def test_an_answer_to_medhelms_own_request_is_taken_whole() -> None:
    one = completion("The answer is A.", thinking="long")
    assert got(one, 4096, is_cut=False) == one


def test_a_stop_that_was_not_sent_ends_the_answer() -> None:
    reading = got(completion("A; B", ["A", ";", " B", ""]), 3, "\n", ";")
    assert reading is not None
    assert reading.text == "A"
    assert got(completion("x\ny; z"), 9, ";", "\n", is_cut=False) == completion("x")
