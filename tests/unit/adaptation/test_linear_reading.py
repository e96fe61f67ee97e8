"""Reading an answer takes work that grows with its length, counted in calls, not in time."""

import sys
import time
from collections.abc import Callable
from functools import partial

import pytest

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import option_text
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.domain.thinking import split_thinking
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state

OPTIONS = {"A": "aspirin", "B": "no heparin", "C": "anaemia", "D": "yes"}
YES_NO = {"A": "yes", "B": "no", "C": "maybe"}
UNITS = (
    "\n", "\r\n", " ", "\t", "\u00a0", "\u2028", "(", "{", "[", "\"", "'", "`", "```", ".", "!",
    "-", "*", "**A** ", "#", "$", "\\", "|", "<", "<|", "_", ",", "1.", "1", "a", "\u00df", "选项",
    "A.", "A. aspirin\n", "(A) ", "\nA\n", "A B C D ", "no ", "not ", "not A ", "isn't ",
    "none except ", "if ", "so ", "because ", "wait, ", "wait. ",
    "**A**, ", "✅ ", "✅ aspirin\n", "Conclusion\n", "anaemia ", "aspirin-",
    "yes ", "scratch that ", "the answer is ",
    "the answer is A. ", "A is correct. ", "option ", "option A ", "aspirin ", "{\"", "{'",
    "{'a': ", "\"answer\": \"A\", ", "{\"answer\": \"x\"}\n", "[{\"a\":1},", "\\boxed{",
    "\\boxed{A} ", "\\text{", "<think>", "</think>", "<think>x</think>", "<br", "<answer>",
    "\n\nQuestion: ", "- \n", "x\n", "? ", "}", "]", "{}", "[]", "A ", "\\\"", "\u0301",
    "e\u0301", "\u0301\u0323", "\u200d", "\ufdfa",
)  # fmt: skip
LONG = 200_000
LONG_UNITS = (
    "\n", "A", "A ", "not ", "\"", "'", "{", "}", "[", "]", "The answer is A. ", "\u0301",
    "e\u0301", "\u0301\u0323", "\ufdfa", "<think>", "</think>",
)  # fmt: skip
METHODS = (ExtractionMethod.CHOICE, ExtractionMethod.YES_NO, ExtractionMethod.JSON_FIELD)
SIGNS = [unit for unit in UNITS if len(unit) == 1]


def calls(function: Callable[[], object]) -> int:
    """Calls of Python and of C functions, which searches by pattern are."""
    count = 0
    option_text.cache_clear()

    def seen(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def read(unit: str, length: int, method: ExtractionMethod) -> object:
    options = YES_NO if method is ExtractionMethod.YES_NO else OPTIONS
    how = AnswerExtraction(
        method=method, field="answer" if method is ExtractionMethod.JSON_FIELD else ""
    )
    text = "x " + (unit * length)[:length] + "x"
    return read_answer(text, how, output_mapping=options)


@pytest.mark.attack("inputs", "answers of one repeated sign or word: work counted at two lengths")
@pytest.mark.parametrize("method", METHODS)
def test_twice_the_answer_takes_twice_the_calls(method: ExtractionMethod) -> None:
    growing = {}
    for unit in UNITS:
        short, long = (calls(partial(read, unit, length, method)) for length in (2_000, 4_000))
        if long > 2.3 * short + 200:
            growing[unit] = (short, long)
    assert not growing


@pytest.mark.attack("inputs", "answers of 20,000 newlines, brackets, quotes or words")
@pytest.mark.parametrize("method", METHODS)
def test_searches_inside_one_call_end_soon(method: ExtractionMethod) -> None:
    slow = {}
    for unit in UNITS:
        started = time.process_time()
        read(unit, 20_000, method)
        split_thinking((unit * 20_000)[:20_000] + "x")
        if (taken := time.process_time() - started) > 3:  # quadratic ones take ten and more
            slow[unit] = taken
    assert not slow


@pytest.mark.attack("inputs", "answers of 200,000 newlines, letters, quotes, braces or accents")
@pytest.mark.parametrize("method", METHODS)
def test_ten_times_the_answer_ends_soon_too(method: ExtractionMethod) -> None:
    slow = {}
    for unit in LONG_UNITS:
        started = time.process_time()
        read(unit, LONG, method)
        split_thinking((unit * LONG)[:LONG] + "x")
        if (taken := time.process_time() - started) > 20:  # quadratic ones take a minute and more
            slow[unit] = taken
    assert not slow


@pytest.mark.attack("inputs", "answers of 20,000 dots, digits or letters, to every metric of text")
def test_metrics_of_a_hostile_answer_end_soon() -> None:
    apart = ("ehr_sql", "bert", "jury", "health", "rubric")
    slow = {}
    for name, metric in METRICS.items():
        if any(word in name for word in apart):
            continue
        for unit in (
            *SIGNS,
            "\u0301\u0323",
            "1,",
            "1.5 ",
            "A10.1 ",
            "1 year ",
            "running ",
            "2020-",
            "rating ",
        ):
            text = (unit * 20_000)[:20_000] + "x"
            started = time.process_time()
            metric.fn([state(text, correct("1.5 mg, A10.1")), state("yes", correct(text))], {})
            if (taken := time.process_time() - started) > 3:
                slow[name, unit] = taken
    assert not slow
