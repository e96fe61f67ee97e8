"""Which option the JSON in a text chooses: names that ask for it, options that are marked."""

import json

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Metoprolol"}
LISTS = {"A": "c", "B": "ab", "C": "bc", "D": "abc"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)
FIELD = AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field="answer")


@pytest.mark.parametrize(
    "name",
    [
        "answer", "Answer", "final_answer", "Final Answer", "answerChoice", "correct_option",
        "selected", "best_option", "most_likely_answer", "choice_letter", "prediction", "label",
        "treatment_choice", "respuesta",
    ],
)  # fmt: skip
def test_a_name_asks_for_the_choice(name: str) -> None:
    for label, text in DRUGS.items():
        for value in (label, f"{label}. {text}", f"({label}) {text}"):
            reply = json.dumps({"reasoning": "A is weak.", name: value})
            assert read_choice(reply, options_of(DRUGS)) == label


OTHER_NAMES = [
    "initial_answer", "answer_if_pregnant", "worst_answer", "least_likely_answer", "user_answer",
    "expected_answer", "rejected_option", "ruled_out", "avoid", "blood_type", "evidence_level",
    "asa_class", "second_choice",
]  # fmt: skip


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_a_name_that_asks_for_something_else_tells_nothing(name: str) -> None:
    for label in DRUGS:
        assert read_choice(json.dumps({name: label}), options_of(DRUGS)) is None
        reply = json.dumps({"reasoning": "The clot is acute.", name: label})
        assert read_choice(reply, options_of(DRUGS)) is None


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_the_plain_name_wins_wherever_it_stands(name: str) -> None:
    for members in ({"answer": "C", name: "B"}, {name: "B", "answer": "C"}):
        assert read_choice(json.dumps(members), options_of(DRUGS)) == "C"


MARKS = [
    (True, False), (1, 0), (0.7, 0.1), ("70%", "10%"), ("0.7", "0.1"), (70, 10), ("yes", "no"),
    ("correct", "wrong"), ("✓", "✗"), ("Correct: it acts at once", "Incorrect: too slow"),
    ({"verdict": "right"}, {"verdict": "wrong"}),
    ({"correct": True, "reason": "no"}, {"correct": False, "reason": "yes"}),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), MARKS, ids=[repr(mark[0]) for mark in MARKS])
def test_of_options_as_names_the_one_marked_as_right_is_chosen(
    right: object, wrong: object
) -> None:
    for label in DRUGS:
        marks = {name: right if name == label else wrong for name in DRUGS}
        for members in (marks, {"options": marks}, {"answer": marks}):
            assert read_choice(json.dumps(members), options_of(DRUGS)) == label


@pytest.mark.parametrize(
    "text",
    [
        '{"A": 0.4, "B": 0.4, "C": 0.1, "D": 0.1}',
        '{"A": 1, "B": 2, "C": 3, "D": 4}',
        '{"A": true, "B": true, "C": false}',
        '{"A": "no", "B": "no", "C": "no", "D": "no"}',
        '{"options": {"A": "Aspirin", "B": "Heparin", "C": "Warfarin"}}',
        '{"A": "weak", "B": "slow"}',
        '[{"option": "A", "correct": true}, {"option": "B", "correct": true}]',
        '{"question_1": "B", "question_2": "C"}',
    ],
)
def test_nothing_is_chosen_where_none_or_several_are_marked(text: str) -> None:
    assert read_choice(text, options_of(DRUGS)) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('[{"option": "A", "correct": false}, {"option": "B", "correct": true}]', "B"),
        ('{"options": [{"letter": "A", "verdict": "wrong"}, {"letter": "C", "verdict": "right"}]}',
         "C"),
        ('{"B": "Heparin"}', "B"),
        ("{'A': 0.2, 'B': 0.8}", "B"),
        ('{"ruled_out": {"A": true}, "answer": "B"}', "B"),
        ('The answer is D. {"ruled_out": "A"}', "D"),
        ('{"reasoning": "So the answer is C."}', "C"),
        ('{"answer": {"letter": "B", "text": "Heparin"}}', "B"),
    ],
)  # fmt: skip
def test_other_shapes(text: str, label: str) -> None:
    assert read_choice(text, options_of(DRUGS)) == label


@pytest.mark.parametrize(
    "text",
    [
        '{"A":', '{"A": 0.1, "B": 0.7, "C": 0.', '{"A": {"verdict": "wrong"}, "B": {"verd',
        '[{"option": "A"', '[{"option": "A", "correct": false}, {"option', '{"reasoning": "So B',
        '{"answer": "', '{"answer": "B',
    ],
)  # fmt: skip
def test_json_cut_before_its_answer_is_unreadable(text: str) -> None:
    assert read_choice(text, options_of(DRUGS), is_cut=True) is None


@pytest.mark.parametrize("label", LISTS)
def test_a_letter_beside_its_text_is_the_letter(label: str) -> None:
    reply = json.dumps({"answer": {"letter": label, "text": LISTS[label]}})
    assert read_choice(reply, options_of(LISTS)) == label
    assert read_answer(reply, FIELD, output_mapping=LISTS) == label


@pytest.mark.parametrize("word", ["yes", "no"])
@pytest.mark.parametrize(
    ("text", "question", "is_read"),
    [
        ('{"fever": "%s", "cough": "%s"}', "", False),
        ('{"smoker": "%s", "reasoning": "weight loss"}', "Is the referral urgent?", False),
        ('{"id": 3, "red_flags": "%s", "urgency": "high"}', "", False),
        ('{"urgent": "%s", "reason": "no fever"}', "Is the referral urgent?", True),
        ('{"is_urgent": "%s"}', "", True),
        ('{"decision": "%s", "smoker": "maybe"}', "", True),
    ],
)
def test_a_word_in_a_member(text: str, question: str, is_read: bool, word: str) -> None:
    reply = text.replace("%s", word)
    read = read_answer(
        reply, YES_NO, output_mapping={}, references=("yes", "no"), question=question
    )
    assert read == (word if is_read else None)


@pytest.mark.parametrize("name", ["answers", "choices", "results"])
def test_a_list_in_a_list_is_read(name: str) -> None:
    options = [{"option": label, "correct": label == "B"} for label in DRUGS]
    assert read_choice(json.dumps({name: [options]}), options_of(DRUGS)) == "B"


def test_a_mark_larger_than_any_float_is_read() -> None:
    marks = {"A": 0, "B": 10**400, "C": 0, "D": 0}
    assert read_choice(json.dumps(marks), options_of(DRUGS)) is None
    assert read_choice(json.dumps({"answer": "C", "scores": marks}), options_of(DRUGS)) == "C"
