"""Writing style: syllables by spelling, the two formulas by hand, lengths."""

import json
import statistics

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.style import readability, syllables
from tests.unit.metrics.states import state


def scores(answer):
    (row,) = METRICS["writing_style"].fn([state(answer)], {})
    return {score.name: score for score in row}


@pytest.mark.parametrize(
    ("count", "spelled"),
    [
        (1, "the are one use walked notes heart through 120 mg x"),
        (2, "fever table started changes over patient's doctor's doesn't"),
        (3, "medicine area hospital follow-up creating"),
        (4, "diabetes lisinopril anxiety community"),
        (5, "tonsillectomy"),
        (6, "musculoskeletal hypertensive-acute"),
    ],
)
def test_syllables(count, spelled):
    result = {word: syllables(word) for word in spelled.split()}
    assert result == dict.fromkeys(result, count)


def test_two_sentences_by_hand():
    # 8 words, 2 sentences; syllables 1+2+1+1 + 1+1+1+2 = 10
    grade, ease = readability("The fever is gone. She can walk better!")
    assert grade == pytest.approx(0.39 * 4 + 11.8 * 10 / 8 - 15.59)
    assert ease == pytest.approx(206.835 - 1.015 * 4 - 84.6 * 10 / 8)


def test_a_number_does_not_end_a_sentence_and_a_title_is_none():
    one = "Dr. Hill gave her 2.5 grams of it."
    assert readability(one) == readability(one.replace("Dr.", "Dr").replace("2.5", "25"))


def test_a_list_has_a_sentence_a_line():
    lines = "- take it with food\n- drink a lot of water"
    assert readability(lines) == readability("take it with food. drink a lot of water.")


def test_lengths():
    result = scores("  Take two\ntablets, 2.5 mg.  ")
    assert result["answer_words"].value == 5
    assert result["answer_characters"].value == len("Take two\ntablets, 2.5 mg.")


@pytest.mark.parametrize("answer", ["", "...", "\u2014"])
def test_no_words_have_no_grade(answer):
    result = scores(answer)
    assert result["flesch_kincaid_grade"].status is ScoreStatus.NOT_APPLICABLE
    assert result["flesch_reading_ease"].value is None
    assert result["answer_characters"].value == len(answer)


def test_accents_and_other_scripts_do_not_break_it():
    assert syllables("caf\u00e9") == 2
    assert syllables("\u5fc3\u810f") == 1
    assert readability("\u5fc3\u810f\u75c5") is not None


def test_real_notes_read_as_a_standard_count_says(real_data):
    """With the pronouncing dictionary of CMU and textstat's rules these notes have grade 9.2."""
    notes = [
        row["tgt"]
        for path in sorted((real_data / "aci_bench").glob("*_full.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))["data"]
    ]
    grades = [readability(note)[0] for note in notes]
    assert len(notes) == 207
    assert statistics.mean(grades) == pytest.approx(9.23, abs=0.5)


def test_another_script_has_no_reading_grade():
    texts = ("患者は熱があります。", "У пациента жар.", "The patient has a fever (発熱).")
    rows = METRICS["writing_style"].fn([state(text) for text in texts], {})
    not_latin = ScoreStatus.NOT_APPLICABLE
    assert [row[0].status for row in rows] == [not_latin, not_latin, ScoreStatus.OK]
    assert all(row[2].value for row in rows), "words and characters count in any script"
