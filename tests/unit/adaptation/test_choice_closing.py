"""What closes a reply: a line that states the answer, a correction, or that none can be given."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def label(text: str) -> str | None:
    return read_choice(text, options_among(("routine", "soon", "urgent"), ()))


def word(text: str, *, is_cut: bool = False) -> str | None:
    return read_answer(
        text, YES_NO, output_mapping={}, references=["yes", "no", "maybe"], is_cut=is_cut
    )


@pytest.mark.parametrize(
    "line",
    [
        "Label: soon", "label = soon", "**Label:** soon", "My label: soon", "Category: soon.",
        "Priority: Soon", "Triage: soon", "Final classification: soon", "Etikett: soon",
        "Clasificación: soon", "Catégorie : soon", "→ Answer: soon", "类别: soon",
    ],
)  # fmt: skip
def test_a_last_line_that_states_the_label_wins_over_conditions(line: str) -> None:
    reasons = (
        "One could argue for urgent.\n\nIf growth is seen then the label would change to urgent. "
        "If it is stable, the label is routine. Neither is the case.\n\n"
    )
    assert label(reasons + line) == "soon"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is A. Hmm, maybe B. I can't settle on one.",
        "It might be A. The answer is B? No, A. I cannot decide.",
        "A is right, and then B is right. I am unable to choose.",
        "The answer is A in one view, B in another. I'm not able to give a single answer.",
        "The best answer is A. The best answer is B. I remain undecided.",
        "A is correct. B is correct. No single answer can be given.",
        "The answer is A. On the other hand B fits. I leave this unanswered.",
        "The answer is B. The answer is C. I won't commit to either.",
        "A is the answer by one rule. By another it is D. I do not know which to pick.",
        "The answer is A. The answer is D. It is impossible to determine which applies.",
    ],
)
def test_a_last_sentence_that_cannot_decide_states_none(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. I cannot give medical advice, but this is what the guideline says.",
        "I cannot decide for the patient. The answer is B.",
        "The answer is B. I cannot exclude a rare cause.",
    ],
)
def test_a_disclaimer_leaves_the_answer(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is A.\n\nUPDATE: She bleeds, so aspirin is out and the answer changes to D.",
        "The answer is A.\n\nUpdate: the answer is D.",
        "A\n\nEDIT: the answer is D.",
        "The answer is A. Revision: the correct option is D.",
        "Answer: A\n\nErratum: D",
        "Answer: A. I apologize for my mistake. The answer is D.",
        "The answer is A. I apologise for the confusion. The answer is D.",
        "The answer is A. After a second reading my answer changes to D.",
        "The answer is A. Given the bleeding my answer now becomes D? No: my answer changes to D.",
        "A. Aspirin\n\n(Edit: the answer is D.)",
    ],
)
def test_a_correction_begins_the_reply_anew(text: str) -> None:
    assert drug(text) == "D"


@pytest.mark.parametrize(
    "text",
    [
        "Answer: B.\n\nI apologize for the error in my previous response. I will now",
        "Answer: B.\n\nI apologise for my mistake. Let me",
        "The answer is B.\n\nSorry about the mistake. The",
        "B\n\nMy previous answer was wrong. I will",
    ],
)
def test_an_answer_that_is_taken_back_before_the_cut_is_none(text: str) -> None:
    assert drug(text, is_cut=True) is None


@pytest.mark.parametrize(
    "text", ["The answer is B. Edit: I first had D here.", "The answer is B. Edit: typo, A to B."]
)
def test_a_note_on_an_edit_leaves_the_answer(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "No. I will not answer questions about a specific patient.",
        "No. I won't comment on this case.", "No, I do not give medical advice.",
        "No. I am not able to answer this.", "No, I'm sorry.", "No. I am not allowed to advise.",
        "No. I decline to answer.", "No, I refuse to answer that.",
        "No. I must decline to comment.", "No. I would rather not offer advice.",
    ],
)  # fmt: skip
def test_a_refusal_is_not_no(text: str) -> None:
    assert word(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "No. By contrast, drugs for which the answer would be yes include insulin. It acts and",
        "No. Cases in which the answer is yes are rare. The",
        "No. There are drugs for which my answer would be yes, such as insulin. The",
    ],
)
def test_an_answer_for_other_cases_is_not_the_answer(text: str) -> None:
    assert word(text, is_cut=True) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "A is possible. So is B. C would be rarer.", "A may be it. So could B.",
        "A would do. So would C.", "A is possible. So are B and C.",
    ],
)  # fmt: skip
def test_so_is_another_states_none(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Most likely: A. Also likely: B, D. Least likely: C.", "Least likely: C. Most likely: A.",
        "Least probable: C", "The least likely is C.", "Most likely: A\nLeast likely: C",
    ],
)  # fmt: skip
def test_what_is_called_least_likely_answers_that_question(text: str) -> None:
    assert drug(text, "Which drug is the LEAST likely cause?") == "C"


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "A", "answer_text": "Warfarin"}', '{"choice": "A", "choice_text": "Heparin"}',
        '{"answer_letter": "B", "answer_text": "Aspirin"}',
        '{"final_answer": "D", "final_answer_text": "Heparin"}',
    ],
)  # fmt: skip
def test_a_letter_and_a_text_that_differ_in_json_state_none(text: str) -> None:
    assert drug(text) is None
    assert drug('{"answer": "A", "answer_text": "Aspirin"}') == "A"


def test_a_relative_clause_that_denies_does_not_deny_the_answer() -> None:
    text = (
        "A. Aspirin is fast.\nB. Heparin is the alternative in pregnancy.\nC. Warfarin is slow.\n"
        "D. Alteplase has no role.\n\n"
        "For an adult who isn't pregnant the first-line choice is therefore aspirin (A)."
    )
    assert drug(text) == "A"


@pytest.mark.parametrize(
    "verb", ["classed", "classified", "graded", "rated", "triaged", "labelled"]
)
def test_what_a_finding_should_be_classed_as_is_the_answer(verb: str) -> None:
    text = f"While I can't replace a doctor, the bleed means that it should be {verb} as urgent."
    assert label(text) == "urgent"


@pytest.mark.parametrize("noun", ["answr", "anser", "awnser", "anwser", "asnwer"])
def test_a_misspelt_answer_is_an_answer(noun: str) -> None:
    assert drug(f"teh {noun} is c) warfrin") == "C"


@pytest.mark.parametrize("verdict", ["yes", "**yes**", "✅", "fits"])
def test_the_last_column_of_a_table_is_its_verdict(verdict: str) -> None:
    table = (
        "| Option | Oral? | Fast? | Fits |\n|:--|:-:|:-:|:-:|\n| A | yes | no | no |\n"
        "| B | no | yes | VERDICT |\n| C | yes | no | no |\n| D | no | no | no |"
    )
    assert drug(table.replace("VERDICT", verdict)) == "B"
