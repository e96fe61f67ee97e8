"""Prompts are made to fit as MedHELM makes them: fewer examples, then a cut at the end."""

import re

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.adaptation.fit import Window, beginning, render_fitting
from medhelm_spark.adaptation.render import prompt_id, render
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec
from medhelm_spark.domain.scenario import Message
from tests.unit.adaptation.rows import refs, row

SPEC = AdapterSpec(input_prefix="Q: ", output_prefix="A: ")
TRAIN = (row(1, "one", refs("yes")), row(2, "two", refs("no")), row(3, "three", refs("yes")))


def window(tokens: int) -> Window:
    """Words and single marks are tokens."""
    return Window(
        tokens=tokens,
        spans=lambda text: [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)],
    )


def ask(tokens: int, instance=None):
    instance = instance or row(9, "is it so", refs("yes"))
    return render_fitting(SPEC, instance, TRAIN, window(tokens), render_id="r", train_trial_index=2)


# A block of an example is 6 tokens (Q : one A : yes), the question 7.
@pytest.mark.parametrize(
    ("tokens", "num_shown"), [(25, 3), (24, 2), (19, 2), (18, 1), (12, 0), (7, 0)]
)
def test_examples_are_left_out_from_the_last_on(tokens: int, num_shown: int) -> None:
    prompt = ask(tokens)
    assert prompt == render(
        SPEC, row(9, "is it so", refs("yes")), TRAIN[:num_shown], render_id="r", train_trial_index=2
    )
    assert (prompt.num_train_instances, prompt.prompt_truncated) == (num_shown, False)


def test_what_is_still_too_long_loses_its_end_and_says_so() -> None:
    prompt = ask(4)
    assert prompt.text == "Q: is it "
    assert prompt.prompt_truncated
    assert prompt.num_train_instances == 0
    assert prompt.num_characters == len(prompt.text)
    assert prompt.prompt_id == prompt_id("Q: is it ", AccessLevel.PUBLIC)


def test_a_conversation_is_left_as_it_is() -> None:
    chat = AdapterSpec(method=AdapterMethod.CHAT)
    turns = (Message(role="user", content="far too long a question"),)
    prompt = render_fitting(chat, row(1, "x", messages=turns), (), window(2), render_id="r")
    assert (prompt.messages, prompt.prompt_truncated) == (turns, False)


@given(st.text(max_size=60), st.integers(1, 8))
def test_a_beginning_fits_and_is_one(text: str, tokens: int) -> None:
    start = beginning(text, window(tokens))
    assert text.startswith(start)
    assert len(window(tokens).spans(start)) <= tokens
