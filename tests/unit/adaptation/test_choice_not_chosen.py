"""Options that a text names and does not choose: denied, the worst one, absent, cut off."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Metoprolol", "B": "Lisinopril", "C": "Amlodipine", "D": "Furosemide"}
CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)

WORST = [
    "The least suitable option is {L}.", "The worst choice would be {L}.",
    "{L} is the wrong answer.", "The most dangerous choice is {L}.",
    "La opción incorrecta es la {L}.", "La peor respuesta es la {L}.",
    "La réponse fausse est la {L}.", "La pire option est {L}.",
    "Die schlechteste Antwort ist {L}.", "Die falsche Aussage ist {L}.",
    "A alternativa incorreta é a {L}.", "A opção menos adequada é a letra {L}.",
    "La risposta sbagliata è la {L}.", "L'opzione peggiore è la {L}.",
]  # fmt: skip


@pytest.mark.parametrize("template", WORST)
@pytest.mark.parametrize("label", DRUGS)
def test_the_worst_option_is_the_answer_where_it_is_asked_for(template: str, label: str) -> None:
    text = template.format(L=label)
    assert read_choice(text, options_of(DRUGS)) is None
    for question in (
        "Which is LEAST likely to help?",
        "All of these lower the pressure EXCEPT:\nA. Metoprolol\nB. Lisinopril",
    ):
        assert read_choice(text, options_of(DRUGS), question=question) == label


@pytest.mark.parametrize(
    "template",
    [
        "{T} is contraindicated.", "({L}) {T} should be avoided.", "{L} - contraindicated",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_a_warning_answers_a_question_that_asks_for_it(template: str, label: str) -> None:
    text = template.format(L=label, T=DRUGS[label])
    assert read_choice(text, options_of(DRUGS)) is None
    question = "He has asthma. Which of these drugs is contraindicated?"
    assert read_choice(text, options_of(DRUGS), question=question) == label


@pytest.mark.parametrize(
    "template",
    [
        "The answer is anything but {L}.", "It would be a mistake to select {L}.",
        "It is wrong to say the answer is {L}.", "Choosing {L} would be harmful.",
        "{L} is often picked, but it is incorrect.", "{L} is right only if the heart is sound.",
        "{L} is the treatment of choice for gout, but not here.", "(!) Never give this drug ({L}).",
        "Stop {t} now.", "I would withhold {t}.", "She is already on {t}.",
        "He is allergic to {t}.", "{T} is not recommended.", "{L} – harmful", "{L}: not indicated",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_a_denial_or_a_warning_chooses_nothing(template: str, label: str) -> None:
    text = template.format(L=label, T=DRUGS[label], t=DRUGS[label].lower())
    assert read_choice(text, options_of(DRUGS)) is None


@pytest.mark.parametrize(
    "template",
    [
        "The wrong answer would be {M} but the right answer is {L}.",
        "{M} is false and the answer is {L}.", "Change from {m} to {t}.", "Stop {m} and start {t}.",
        "Neither {M} nor its kin fits; {L} does.", "None of these is right except {L}.",
        "{L} is more suitable than {M}.", "I'd pick {L} over {M}.", "Only {L} fits.",
        "Assuming a sound liver, the answer is {L}.", "Option {M}: wrong. Option {L}: right.",
        "The answer is {L}. In another scenario, {M} would be the answer.",
        "The answer is {L}. The next best answer is {M}.",
        "The answer is {L}. Formerly, {M} was the answer.",
        "The answer is {L}, whereas in a child the answer is {M}.",
        "I'd go with {M}. On closer look, {L}.", "{M} is wrong, so the answer is {L}.",
        "According to older guidelines the answer is {M}, but current ones favour {L}.",
        "{L}\n\nAnother question: which test? Answer: {M}",
        "{M}. Oops, {L}.", "The answer is {M}. That was wrong. It is {L}.",
        "The answer would be {M} in most patients, but given his asthma it's {L}.",
        "Ich würde {L} nehmen.", "Es bleibt {L}.", "Il faut retenir la {L}.", "Es la {L}.",
        "Without treatment this is deadly. {L} is best.", "There is no fever. The answer is {L}.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_the_option_beside_a_denied_one_is_chosen(template: str, label: str) -> None:
    other = "BCDA"["ABCD".index(label)]
    names = {"L": label, "M": other, "t": DRUGS[label].lower(), "m": DRUGS[other].lower()}
    assert read_choice(template.format(**names), options_of(DRUGS)) == label


@pytest.mark.parametrize(
    "template",
    [
        "{L} is best for adults, {M} is best for children. How old is she?",
        "The answer is {L} in adults and {M} in children.", "The answer is {L} – or {M}.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_what_holds_for_some_cases_only_chooses_nothing(template: str, label: str) -> None:
    other = "BCDA"["ABCD".index(label)]
    assert read_choice(template.format(L=label, M=other), options_of(DRUGS)) is None


@pytest.mark.parametrize(
    "template",
    [
        "The answer is {L} or", "The correct option is {L} unless", "The answer is {L}. But",
        "{L} is correct in adults, while", "{L}, but", "Final answer: {L} or",
        "I choose {L}. Let me verify. The drug", "I believe it is {L}. However, given the",
        "{L} is the right choice for patients with gout. Option B is", "Answer: {L}\nWait, the",
        "La respuesta es la {L}. Sin embargo, el", "Die Antwort ist {L}. Aber die",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_a_text_cut_before_its_sentence_holds_is_unreadable(template: str, label: str) -> None:
    assert read_choice(template.format(L=label), options_of(DRUGS), is_cut=True) is None


@pytest.mark.parametrize(
    "template",
    [
        "The answer is {L}. The drug acts on the", "Answer: {L}\n\nThe drug acts on the",
        "The answer is {L}, because the drug acts", "\\boxed{{{L}}}", "<answer>{L}</answer>",
        "{L}. {T}\n\nExplanation: In this", '{{"answer": "{L}", "why": "However, the',
        "The answer is {L}. Let me explain. This",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", DRUGS)
def test_a_text_cut_after_a_finished_statement_is_read(template: str, label: str) -> None:
    text = template.format(L=label, T=DRUGS[label])
    assert read_choice(text, options_of(DRUGS), is_cut=True) == label


@pytest.mark.parametrize(
    ("references", "text", "expected"),
    [
        (("urgent", "routine"), "non-urgent", None),
        (("urgent", "routine"), "The referral is non-urgent.", None),
        (("urgent", "non-urgent"), "This is non-urgent.", "non-urgent"),
        (("stable", "unstable"), "unstable", "unstable"),
        (("Small cell carcinoma", "Sarcoma"), "Non-small cell carcinoma", None),
        (("sepsis", "stroke"), "No evidence of sepsis.", None),
        (("sepsis", "stroke"), "The patient is free of sepsis.", None),
        (("sepsis", "stroke"), "There is no doubt that this is sepsis.", "sepsis"),
        (("sepsis", "no sepsis"), "There are no signs of sepsis.", "no sepsis"),
        (("fracture", "no fracture"), "Fracture was ruled out.", "no fracture"),
        (("MET", "NOT MET"), "The criterion is met with two values.", "MET"),
        (("MET", "NOT MET"), "She met with her doctor.", None),
        (("0", "1"), "The label is 0.", "0"),
        (("0", "1"), "I would classify this as 1.", "1"),
        (("0", "1"), "1. He smokes\n2. He drinks", None),
        (("0", "1"), "1. Age\n2. Sex\nThe label is 0.", "0"),
        (("1", "2", "3"), "Grade 2", "2"),
        (("1", "2", "3"), "ESI level 2", "2"),
        (("1", "2", "3"), "The score is 3.", "3"),
        (("12 mg", "24 mg"), "24mg", "24 mg"),
    ],
)
def test_references_without_labels(
    references: tuple[str, ...], text: str, expected: str | None
) -> None:
    assert read_answer(text, CHOICE, output_mapping={}, references=references) == expected


@pytest.mark.parametrize("word", ["yes", "no", "maybe"])
@pytest.mark.parametrize(
    ("template", "is_cut", "is_read"),
    [
        ("The patient said {w} to surgery.", False, False),
        ("He answered {w} when asked about pain.", False, False),
        ("There is {w}-saying bias.", False, False),
        ("{w}?", False, False),
        ("The answer is {w} if p < 0.05 and something else otherwise.", False, True),
        ("Visit needed? {w}", False, True),
        ("{w}, but more data are needed.", False, True),
        ("{w}, but", True, False),
        ("{w} or", True, False),
        ("I think {w}. But the", True, False),
        ("{w}, because the second group", True, True),
    ],
)
def test_yes_no_and_maybe(template: str, is_cut: bool, is_read: bool, word: str) -> None:
    references = ("yes", "no", "maybe")
    text = template.format(w=word)
    read = read_answer(text, YES_NO, output_mapping={}, references=references, is_cut=is_cut)
    assert read == (word if is_read else None)


def test_numbers_before_a_point_are_no_denial() -> None:
    text = "No. 4 is the correct one."
    assert read_answer(text, YES_NO, output_mapping={}, references=("yes", "no")) is None
