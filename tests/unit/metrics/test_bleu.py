"""BLEU-1 and BLEU-4: by hand, and equal to NLTK's sentence_bleu on the same words."""

import json
import math
import warnings

import pytest
from hypothesis import given, strategies as st
from nltk.translate.bleu_score import sentence_bleu

from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.bleu import bleu
from medhelm_spark.metrics.text import words
from tests.unit.metrics.states import correct, state

ONE, FOUR = (1, 0, 0, 0), (0, 0, 0, 1)


def nltk_bleu(gold, answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where no run of four is shared
        return [sentence_bleu([words(gold)], words(answer), weights=w) for w in (ONE, FOUR)]


def scores(answer, *golds):
    (row,) = METRICS["bleu"].fn([state(answer, correct(*golds))], {})
    return {score.name: score.value for score in row}


def test_by_hand():
    # 5 of 6 words, the second "the" being one too many; 1 of 3 runs of four; as long as the gold.
    result = scores("the lungs are clear the same", "lungs are clear the whole time")
    assert result["bleu_1"] == pytest.approx(4 / 6)
    assert result["bleu_4"] == pytest.approx(1 / 3)


def test_a_short_answer_pays_for_what_it_leaves_out():
    result = scores("no acute distress", "no acute distress was seen today")
    assert result["bleu_1"] == pytest.approx(math.exp(1 - 6 / 3))
    assert result["bleu_4"] == 0.0


def test_a_repeated_word_counts_as_often_as_the_reference_has_it():
    assert scores("pain pain pain", "pain in the chest")["bleu_1"] == pytest.approx(
        math.exp(1 - 4 / 3) / 3
    )


def test_the_best_correct_reference_counts_and_wrong_ones_do_not():
    references = (*correct("no fever", "chest pain"), Reference(text="sore throat"))
    metric = METRICS["bleu"]
    (first, second) = metric.fn(
        [state("chest pain", references), state("sore throat", references)], {}
    )
    assert first[0].value == 1.0
    assert second[0].value == 0.0


def test_vowel_signs_are_no_words():
    # "high blood pressure" and "fever, cough" in Hindi share signs of vowels and no word.
    answer = "\u0909\u091a\u094d\u091a \u0930\u0915\u094d\u0924\u091a\u093e\u092a"
    gold = "\u092c\u0941\u0916\u093e\u0930 \u0914\u0930 \u0916\u093e\u0902\u0938\u0940 \u0939\u094d"
    assert scores(answer, gold)["bleu_1"] == 0.0
    assert scores(gold, gold)["bleu_1"] == 1.0


def test_empty_and_absent():
    assert scores("", "fever") == {"bleu_1": 0.0, "bleu_4": 0.0}
    assert scores(" . ", "fever") == {"bleu_1": 0.0, "bleu_4": 0.0}
    (row,) = METRICS["bleu"].fn([state("fever")], {})
    assert {score.status for score in row} == {ScoreStatus.NO_REFERENCE}


SOME = ["no", "pain", "in", "the", "left", "right", "arm", ".", "2.5", "mg"]
TEXT = st.lists(st.sampled_from(SOME), max_size=14)


@given(TEXT.filter(bool), TEXT.filter(bool))
def test_equal_to_nltk_on_any_words(gold, answer):
    one, four = " ".join(gold), " ".join(answer)
    assert bleu([one], four) == pytest.approx(nltk_bleu(one, four), abs=1e-12)


def test_equal_to_nltk_on_abstracts(real_data):
    rows = json.loads((real_data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
    answers = [row["LONG_ANSWER"] for row in rows.values()][:200]
    questions = [" ".join(row["CONTEXTS"]) for row in rows.values()][:200]
    shared = 0
    for gold, answer in zip(questions, answers, strict=True):
        ours = bleu([gold], answer)
        assert ours == pytest.approx(nltk_bleu(gold, answer), abs=1e-12)
        shared += ours[1] > 0
    assert shared > 20
