"""Thinking between tags is cut from the answer, whatever tags a model uses and forgets."""

import pytest

from medhelm_spark.domain.request import Completion, FinishReason, TokenLogprob
from medhelm_spark.domain.thinking import split_thinking, without_thinking

STOP, LENGTH, EMPTY = FinishReason.STOP, FinishReason.LENGTH, FinishReason.EMPTY
REFUSAL, UNKNOWN = FinishReason.REFUSAL, FinishReason.UNKNOWN


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        ("Yes", "Yes", None),
        ("  Yes ", "  Yes ", None),
        ("", "", None),
        ("<think>\nDose?\n</think>\n\nYes", "Yes", "Dose?"),
        ("\n<think>Dose?</think>Yes", "Yes", "Dose?"),
        ("Dose?\n</think>\nYes", "Yes", "Dose?"),
        ("<think>Do", "", "Do"),
        ("Let me see.\n<think>\nIt may be", "Let me see.", "It may be"),
        ("<think></think>Yes", "Yes", ""),
        ("<think>one</think>A</think>", "A", "one"),
        ("<think>one</think> A <think>two</think> B", "A  B", "onetwo"),
        ("one</think>two</think>B", "B", "onetwo"),
        ("<think>one <think> two</think>B", "B", "one  two"),
        ("The dose <think>hm</think> is 5 mg", "The dose  is 5 mg", "hm"),
        ("<THINKING>x</THINKING>\nB", "B", "x"),
        ("<reasoning>x</reasoning>\n<answer>B</answer>", "<answer>B</answer>", "x"),
        ("<seed:think>x</seed:think>B", "B", "x"),
        ("[THINK]x[/THINK]B", "B", "x"),
        ("◁think▷x◁/think▷B", "B", "x"),
        (
            "<|begin_of_thought|>x<|end_of_thought|><|begin_of_solution|>B<|end_of_solution|>",
            "B",
            "x",
        ),
        ("<|channel|>analysis<|message|>x<|channel|>final<|message|>B<|return|>", "B", "x"),
        ("analysisWe need a dose.assistantfinalB", "B", "We need a dose."),
        ("<unused94>thought\nA or B?\n<unused95>B", "B", "A or B?"),
        ("<unused94>thought\nThe answer is A", "", "The answer is A"),
        ("A or B?<unused95>B", "B", "A or B?"),
        ("<|channel>thought\nA?\n<channel|>B", "B", "A?"),
        ("<|channel>thought\nThe answer is A", "", "The answer is A"),
        ("<|turn>thinking\nA?\n<turn|>B", "B", "A?"),
        (
            "<|START_THINKING|>A?<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>",
            "B",
            "A?",
        ),
        ("<|START_THINKING|>The answer is A", "", "The answer is A"),
        ("<think >A?</think >B", "B", "A?"),
        ('<think lang="en">A?</think>B', "B", "A?"),
        ("<reasoning_content>A?</reasoning_content>B", "B", "A?"),
        ("<|thinking|>A?<|/thinking|>B", "B", "A?"),
        ("<|begin_of_thinking|>A?<|end_of_thinking|>B", "B", "A?"),
        ("<reflection>A?</reflection>\n<output>B</output>", "B", "A?"),
        ("<|im_start|>think\nA?\n<|im_start|>answer\nB", "B", "A?"),
        ("## Thinking\n\nA?\n\n## Final Response\n\nB", "B", "A?"),
        ("## Thinking\n\nThe answer is A", "", "The answer is A"),
    ],
)
def test_thinking_is_kept_apart(text: str, answer: str, thinking: str | None) -> None:
    assert split_thinking(text) == (answer, thinking)


@pytest.mark.parametrize(
    "text",
    [
        "a <think> in the middle",
        "sodium < 130 and potassium > 5",
        "analysis: B",
        "I think [sic] so",
        "think</b>",
        "A fever.\n\n## Final Answer\nB",
        "A fever.\n\n## Thinking\nB",
        "thought: B",
        "<output>B</output>",
        "the channel| and <channel>thought",
    ],
)
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert split_thinking(text) == (text, None)


@pytest.mark.parametrize(
    ("text", "beside", "ended", "answer", "thinking", "read_as"),
    [
        ("<think>A?</think>B", None, STOP, "B", "A?", STOP),
        ("<think>A?</think>B", None, LENGTH, "B", "A?", LENGTH),
        ("<think>A?</think>B", "beside", STOP, "B", "beside", STOP),
        ("B", "A?", STOP, "B", "A?", STOP),
        # Thinking that used the whole limit was cut; an answer that ended by itself is empty.
        ("<think>The answer is A", None, LENGTH, "", "The answer is A", LENGTH),
        ("", "The answer is A", LENGTH, "", "The answer is A", LENGTH),
        ("<think>A?</think>", None, STOP, "", "A?", EMPTY),
        ("", "A?", STOP, "", "A?", EMPTY),
        ("", None, STOP, "", None, EMPTY),
        (" \n", None, LENGTH, " \n", None, EMPTY),
        ("", None, UNKNOWN, "", None, EMPTY),
        ("", None, REFUSAL, "", None, REFUSAL),
        ("<think>May I?</think>", None, REFUSAL, "", "May I?", REFUSAL),
    ],
)
def test_a_stored_completion_is_read_without_its_thinking(
    text: str,
    beside: str | None,
    ended: FinishReason,
    answer: str,
    thinking: str | None,
    read_as: FinishReason,
) -> None:
    tokens = (TokenLogprob(text="x", logprob=-0.5),)
    stored = Completion(
        text=text, finish_reason=ended, thinking=beside, logprob=-0.5, tokens=tokens
    )
    answered = without_thinking(stored)
    assert (answered.text, answered.thinking, answered.finish_reason) == (answer, thinking, read_as)
    assert (answered.tokens, answered.logprob) == (tokens, -0.5), "of all that was generated"
    assert without_thinking(answered) == answered
    assert stored.text == text


def test_a_plain_answer_is_not_copied() -> None:
    plain = Completion(text="B", finish_reason=STOP)
    assert without_thinking(plain) is plain


def test_the_time_does_not_explode() -> None:
    text = "<think>" * 20_000 + "x" + "</think>" * 20_000 + "B"
    assert split_thinking(text)[0] == "B"
