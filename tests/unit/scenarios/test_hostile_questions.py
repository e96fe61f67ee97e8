"""Options inside a question are found by their pattern, in linear time."""

import random
import re
import time

import pytest

from medhelm_spark.scenarios.records import BadRecord
from medhelm_spark.scenarios.shapes.multiple_choice import choices_inside

START = re.compile(r"\n\s*\{?\s*(?='[A-Z]'\s*:)")
CHOICE = re.compile(
    r"'(?P<letter>[A-Z])'\s*:\s*(?P<quote>['\"])(?P<text>.*?)(?P=quote)"
    r"(?=\s*,?\s*'[A-Z]'\s*:|\s*,?\s*\}?\s*\Z)",
    re.DOTALL,
)
"""What is meant, in words that take the cube of an empty line's length."""
PIECES = ["\n", " ", "{", "}", "'A'", "'B'", "'", '"', ":", ",", "x", "'A': 'x'", ", 'B': \"it's\""]


def by_pattern(question: str) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    start = START.search(question)
    options = list(CHOICE.finditer(question, start.end())) if start else []
    if start is None or not options or not question[: start.start()].strip():
        return None
    letters = tuple(option["letter"] for option in options)
    return question[: start.start()], letters, tuple(option["text"] for option in options)


def test_options_are_those_of_the_pattern() -> None:
    chosen = random.Random(13)
    read = 0
    for _ in range(20_000):
        question = "Which?" + "".join(chosen.choices(PIECES, k=chosen.randint(1, 14)))
        expected = by_pattern(question)
        read += expected is not None
        try:
            choices = choices_inside(question)
        except BadRecord:
            assert expected is None, question
        else:
            assert expected is not None, question
            assert (choices[0], tuple(choices[1]), choices[2]) == expected, question
    assert read > 500


@pytest.mark.attack("inputs", "a question with 200,000 empty lines, letters or quotes")
@pytest.mark.parametrize(
    "unit", ["\n", " \n", "\n{", "\n'A':", "'A': \"", "'A'", '"  ', "\n 'A' ", "'A': 'x'  "]
)
def test_a_hostile_question_is_read_in_linear_time(unit: str) -> None:
    question = "Which?" + (unit * 200_000)[:200_000] + "x"
    started = time.process_time()
    with pytest.raises(BadRecord):
        choices_inside(question)
    assert time.process_time() - started < 5
