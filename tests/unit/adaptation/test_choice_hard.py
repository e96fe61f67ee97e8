"""Replies that were read as another option, as an answer where none is, or not at all."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
OPTIONS = options_of(DRUGS)
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def yes_no(text: str) -> str | None:
    return read_answer(text, YES_NO, output_mapping={}, references=["yes", "no"])


@pytest.mark.parametrize("label", DRUGS)
@pytest.mark.parametrize(
    "template",
    [
        "### Option {L}: {T}\nThis is a", "**Option {L}: {T}**\n\nThis drug",
        "{L}. {T}\nIt inhibits",
        "{L}) {T}\n- Mechanism: it", "**{L}. {T}**\n\n{T} is a", "Option {L}:\n{T} acts",
        "{L}. {T} (a drug of old) is a", "Option {L}: {T}.\nThis drug inhibits", "{L}.\n{T} is",
        "## {L}: {T}\n\nThis would be used.", "{T}\nThis is a", "{L}. {T}. This is the",
    ],
)  # fmt: skip
def test_a_cut_discussion_of_the_first_option_is_no_answer(template: str, label: str) -> None:
    text = template.format(L=label, T=DRUGS[label])
    assert read_choice(text, OPTIONS, is_cut=True) is None


@pytest.mark.parametrize("label", DRUGS)
@pytest.mark.parametrize(
    "template",
    [
        "{L}\n\nThe patient has", "**{L}**\n\nThe patient", "{L}. {T}\n\nExplanation: it",
        "{L}. {T}\n\nRationale: the", "{L}. {T}, because it", "The answer is {L}. It is",
        "{L}) {T}\n\nThis is the best choice, since it",
    ],
)  # fmt: skip
def test_an_answer_before_its_explanation_is_read_where_the_text_was_cut(
    template: str, label: str
) -> None:
    assert read_choice(template.format(L=label, T=DRUGS[label]), OPTIONS, is_cut=True) == label


def test_a_begun_discussion_without_a_full_stop_is_unfinished() -> None:
    assert read_choice("A. Aspirin\n\n**Class**: a common", OPTIONS) is None
    assert read_choice("A. Aspirin\n\nIt acts at once.", OPTIONS) == "A"
    assert read_choice("A. Aspirin\n\nThe answer is A", OPTIONS) == "A"


@pytest.mark.parametrize(
    "text",
    [
        "No answer.", "No answer", "No answer can be given.", "No answer was provided.",
        "Yes, I can help with that! Please provide the abstract.", "Yes, I can help you.",
        "Yes! Please share the abstract.", "Yes, could you paste the abstract?",
        "No problem. Please send the text.", "Ja, ik kan u helpen.", "Ja/nee", "Nie wiem.",
        "Yes, I'd be happy to help. What is the abstract?", "Anything but yes.",
    ],
)  # fmt: skip
def test_an_offer_or_the_lack_of_an_answer_is_no_answer(text: str) -> None:
    assert yes_no(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes. Let me know if you need anything else.", "yes"), ("Yes, I would do this.", "yes"),
        ("No. I am happy to explain.", "no"),
        ("Yes. I can help you with more questions.", "yes"), ("Yes, I can help: no.", "no"),
        ("Yes, I can answer that: the answer is no.", "no"), ("Yes, the drug can help.", "yes"),
        ("No. Please note that the trial was small.", "no"), ("No, this is unclear.", "no"),
        ("Ja.", "yes"), ("Nee, dat is niet zo.", "no"), ("Tak", "yes"), ("Nie.", "no"),
        ("Nej, det är inte så.", "no"), ("हाँ", "yes"), ("नहीं।", "no"), ("Oui.", "yes"),
        ("Sí, claro.", "yes"), ("Het antwoord is nee.", "no"), ("Odpowiedź: tak", "yes"),
        ("Svaret är ja.", "yes"), ("Nein.", "no"),
    ],
)  # fmt: skip
def test_yes_and_no_in_other_words(text: str, expected: str) -> None:
    assert yes_no(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Anything but warfarin.", "Anything but C.", "Everything except warfarin.", "All but C.",
        "Any drug other than warfarin.", "The answer is anything but warfarin.",
        "Any of these except C", "I would give anything but warfarin.",
    ],
)  # fmt: skip
def test_all_but_one_is_not_that_one(text: str) -> None:
    assert read_choice(text, OPTIONS) is None
    if "give" not in text:
        question = "All of these are right EXCEPT:"
        assert read_choice(text, OPTIONS, question=question) in ("C", None)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "A"}\n{"answer": "B"}', '{"answer": "A"} and {"answer": "B"}',
        '{"final_answer": "A"}, {"final_answer": "B"}', '[{"answer": "A"}, {"answer": "B"}]',
    ],
)  # fmt: skip
def test_json_answers_that_differ_are_several(text: str) -> None:
    assert read_choice(text, OPTIONS) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "B"}\n{"answer": "B"}',
        '{"answer": "A"}\nWait, that was wrong: {"answer": "B"}',
        'Draft: {"answer": "A"}\nFinal: {"answer": "B"}', '{"answer": "A"}, {"final_answer": "B"}',
    ],
)  # fmt: skip
def test_a_json_answer_that_replaces_another_counts(text: str) -> None:
    assert read_choice(text, OPTIONS) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "C, sorry, B.", "C. Sorry, B.", "C (sorry, B)", "C, no, B.", "C - sorry, B", "C, oh no, B.",
        "C, pardon, B.", "C; apologies, B.", "The answer is C, sorry, B.", "C, my mistake, B.",
        "C. Sorry, I meant to write B.", "C, no wait, B.",
    ],
)  # fmt: skip
def test_a_correction_counts(text: str) -> None:
    assert read_choice(text, OPTIONS) == "B"


def test_yes_no_maybe_is_no_correction() -> None:
    assert yes_no("Yes, no") is None


@pytest.mark.parametrize("label", DRUGS)
@pytest.mark.parametrize(
    "template", ["option {l} is correct", "choice {l} is right", "answer {l} is the best answer"]
)
def test_a_label_in_lower_case(template: str, label: str) -> None:
    assert read_choice(template.format(l=label.lower()), OPTIONS) == label


def test_an_article_is_no_label() -> None:
    for text in ("There is a choice a doctor makes.", "The best option a patient has is rest."):
        assert read_choice(text, OPTIONS) is None


TABLE = "| Option | Drug | Verdict |\n|---|---|---|\n{rows}"


def _table(*verdicts: str) -> str:
    pairs = zip(DRUGS.items(), verdicts, strict=True)
    return TABLE.format(rows="\n".join(f"| {L} | {T} | {v} |" for (L, T), v in pairs))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Correct", "Incorrect"),
        ("✅", "❌"),
        ("Yes", "No"),
        ("**True**", "False"),
        ("✓ Right", "✗"),
    ],
)
def test_a_table_with_verdicts(right: str, wrong: str) -> None:
    assert read_choice(_table(wrong, right, wrong, wrong), OPTIONS) == "B"
    for verdicts in ((wrong, right, right, wrong), (wrong,) * 4, ("possible",) * 4):
        assert read_choice(_table(*verdicts), OPTIONS) is None
    question = "Which of these is NOT an anticoagulant?"
    # One row against three is the exception that is asked for, by whichever word.
    for verdicts in ((wrong, right, wrong, wrong), (right, wrong, right, right)):
        assert read_choice(_table(*verdicts), OPTIONS, question=question) == "B"
    assert read_choice(_table(wrong, right, right, wrong), OPTIONS, question=question) is None


def test_texts_that_are_lists() -> None:
    options = options_of(
        {"A": "diaphragm, parietal pleura, pericardium", "B": "diaphragm", "C": "lung, heart"}
    )
    assert read_choice("diaphragm.", options) == "B"
    assert read_choice("The answer is diaphragm.", options) == "B"
    assert read_choice("Diaphragm, pericardium and parietal pleura.", options) == "A"
    assert read_choice("heart and lung", options) == "C"
    assert read_choice("heart", options) is None


@pytest.mark.parametrize(
    "text", ["All except C.", "All of these are correct except C.", "C is not.", "C does not."]
)
def test_what_is_not_so_answers_a_question_for_it(text: str) -> None:
    for question in ("All of these are anticoagulants EXCEPT:", "Which of these is NOT a drug?"):
        assert read_choice(text, OPTIONS, question=question) == "C"
    for question in ("What do you give?", "What is given if the patient does not respond?"):
        assert read_choice("C is not.", OPTIONS, question=question) is None


@pytest.mark.parametrize("label", DRUGS)
@pytest.mark.parametrize(
    "template",
    [
        "Het juiste antwoord is {L}.", "Antwoord: {L}", "Optie {L} is juist.", "Ik kies voor {L}.",
        "Prawidłowa odpowiedź to {L}.", "Odpowiedź {L} jest poprawna.", "Wybieram {L}.",
        "Rätt svar är {L}.", "Svaret är {L}", "Alternativ {L} är korrekt.", "Jag väljer {L}.",
        "सही उत्तर {L} है", "सही उत्तर {L} है।", "विकल्प {L} सही है।", "उत्तर: {L}",
    ],
)  # fmt: skip
def test_dutch_polish_swedish_and_hindi(template: str, label: str) -> None:
    assert read_choice(template.format(L=label), OPTIONS) == label


@pytest.mark.parametrize(
    "text",
    [
        "Het antwoord is niet B.",
        "Optie B is onjuist.",
        "B of C",
        "Odpowiedź to nie B.",
        "Odpowiedź B jest błędna.",
        "Odpowiedź to B lub C.",
        "Svaret är inte B.",
        "B är fel.",
        "Svaret är B eller C.",
        "सही उत्तर B नहीं है।",
        "विकल्प B गलत है।",
        "उत्तर B या C है।",
    ],
)
def test_denied_or_several_in_other_languages(text: str) -> None:
    assert read_choice(text, OPTIONS) is None
