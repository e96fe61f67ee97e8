"""Log-probabilities of an answer, and the perplexity of a run."""

import math
from dataclasses import replace

import numpy as np
import pytest

from medhelm_spark.domain.request import Completion, FinishReason, TokenLogprob
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS, RUN_METRICS
from tests.unit.metrics.states import completion, state

PERPLEXITY = RUN_METRICS["perplexity"]


def answer(*tokens):
    return Completion(
        text="".join(text for text, _ in tokens),
        finish_reason=FinishReason.STOP,
        logprob=sum(logprob for _, logprob in tokens),
        tokens=tuple(TokenLogprob(text=text, logprob=logprob) for text, logprob in tokens),
    )


def row(*completions):
    (result,) = METRICS["language_model"].fn([replace(state(""), completions=completions)], {})
    return {score.name: score.value for score in result}


def test_by_hand():
    result = row(answer(("na", -0.5), ("\u00efve", -1.5)))
    assert result == {
        "logprob": -2.0,
        "num_perplexity_tokens": 2.0,
        "num_bytes": 6.0,  # the i with two dots has two bytes
        "max_prob": pytest.approx(math.exp(-2)),
    }


def test_the_first_completion_counts_and_the_likeliest_for_confidence():
    result = row(answer(("A", -1.0)), answer(("B", -0.25)))
    assert result["logprob"] == -1.0
    assert result["max_prob"] == pytest.approx(math.exp(-0.25))


def test_no_log_probabilities_are_not_certainty():
    (result,) = METRICS["language_model"].fn([state("A")], {})
    assert {(score.value, score.status) for score in result} == {(None, ScoreStatus.NOT_APPLICABLE)}


def test_rounding_errors_do_not_make_more_than_certainty():
    assert row(answer(("A", 1e-9)))["max_prob"] == 1.0


def test_perplexity_of_a_run_by_hand():
    # rows: logprob, tokens, bytes; the first one counts for two instances
    columns = np.array([[-2.0, 4.0, 10.0], [-8.0, 4.0, 20.0]])
    perplexity, bits, per_byte = PERPLEXITY.fn(columns, np.array([2, 1]), {})
    assert perplexity == pytest.approx(math.exp(12 / 12))
    assert per_byte == pytest.approx(-12 / 40)
    assert bits == pytest.approx(12 / 40 / math.log(2))


def test_nothing_generated_has_no_perplexity():
    nothing = PERPLEXITY.fn(np.array([[0.0, 0.0, 0.0]]), np.array([3]), {})
    assert nothing == (None, None, None)
    assert completion("").logprob is None


@pytest.mark.parametrize("logprob", [-9999.0, -3.4028234663852886e38])
def test_a_perplexity_beyond_numbers_has_no_value(logprob):
    # what servers and llama.cpp write for a token whose probability is next to nothing
    perplexity, bits, per_byte = PERPLEXITY.fn(np.array([[logprob, 1.0, 1.0]]), np.array([2]), {})
    assert perplexity is None
    assert (bits, per_byte) == (pytest.approx(-logprob / math.log(2)), logprob)
