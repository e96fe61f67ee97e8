"""Configured patterns read as `re` reads them, and end on every text."""

import re
import time

import pytest

from medhelm_spark import patterns
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.config.extraction import check_extraction
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS
from medhelm_spark.patterns import SlowPatternError, first_match, last_match
from tests.unit.metrics.states import correct, state

HANGS = r"^(a|a)*$"
ON = "a" * 41 + "!"


def extraction(pattern: str) -> AnswerExtraction:
    return AnswerExtraction(method=ExtractionMethod.REGEX, pattern=pattern)


@pytest.mark.attack("inputs", "a pattern of a card that hangs on 41 characters, as it is read")
@pytest.mark.parametrize(
    "pattern", [HANGS, r"(\d|\d\d|\d)*x$", r"(?:(?:A|A)+,?)*$", r"^(\w|b|bb)+x"]
)
def test_a_pattern_that_hangs_is_refused_with_its_key(pattern: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        check_extraction(extraction(pattern), (), "card 'ward'")
    message = str(refusal.value)
    assert message.startswith("card 'ward': answer_extraction.pattern is ")
    assert "over 1 s at work on 41 characters" in message
    with pytest.raises(ConfigError, match=r"output_mapping_pattern is .*, which is over 1 s"):
        METRICS["exact_match"].preflight({"output_mapping_pattern": pattern})


@pytest.mark.attack("inputs", "a pattern that is laid out a billion times when it is compiled")
@pytest.mark.parametrize(
    "pattern", [r"((a{1000}){1000}){1000}", r"(?:(?>b{999}){999}|c){2}", r"(?=(a{9999}){99})"]
)
def test_a_pattern_that_does_not_fit_is_not_compiled(pattern: str) -> None:
    with pytest.raises(ValueError, match="times inside itself; 100000 is the most"):
        patterns.check(pattern)


@pytest.mark.parametrize(
    "pattern", [r"(?<=is )([A-D])\b", r"(?:answer|choice)[:\s]*\(?([A-H])\)?", r"(.)\1", r"a{1000}"]
)
def test_patterns_in_use_pass_and_match_as_before(pattern: str) -> None:
    patterns.check(pattern)
    text = "The answer is B. No: choice: (C), or aa, or " + "a" * 1000
    expected = [match.group(match.lastindex or 0) for match in re.finditer(pattern, text)]
    assert (first_match(pattern, text), last_match(pattern, text)) == (expected[0], expected[-1])


@pytest.mark.attack("inputs", "a pattern of a card that hangs on what a model answered")
def test_a_pattern_that_hangs_on_an_answer_is_stopped_and_the_answer_counted() -> None:
    began = time.monotonic()
    assert read_answer(ON, extraction(HANGS), output_mapping={"A": "x"}) is None
    with pytest.raises(SlowPatternError):
        first_match(HANGS, ON)
    params = {"output_mapping_pattern": HANGS}
    states = [state(text, correct("x"), output_mapping={"A": "x"}) for text in (ON, "aaa")]
    stopped, read = METRICS["exact_match"].fn(states, params)
    assert {(score.value, score.status) for score in stopped} == {(None, ScoreStatus.UNREADABLE)}
    assert {score.status for score in read} == {ScoreStatus.OK}
    assert time.monotonic() - began < 60
