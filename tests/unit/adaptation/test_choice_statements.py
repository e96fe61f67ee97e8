"""What a statement of the answer is worth: asides, conditions, denials, texts that were cut.

Every template is filled with every option: whatever is lost is lost for all of them alike.
"""

from collections.abc import Iterator, Mapping

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_of

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Metoprolol"}
WORDS = {"A": "yes", "B": "no", "C": "maybe"}
DENIALS = {"A": "None of the above", "B": "Not indicated", "C": "Do not treat", "D": "No change"}
LETTERS = {"A": "B", "B": "C", "C": "D", "D": "A"}
LISTS = {"A": "c", "B": "ab", "C": "bc", "D": "abc"}
ALL = [DRUGS, WORDS, DENIALS, LETTERS, LISTS]

LABEL_AND_TEXT = [
    "{L}. {T}",
    "**{L}) {T}**\n\nThis is not what the others say.",
    "The answer is {L}. {T}",
    "Answer: ({L}) {T}",
    "The correct answer is {L}: {T}.",
    '{{"answer_choice": "{L}"}}',
    '{{"answer_choice": "{L}. {T}"}}',
    '{{"Answer": "{L} - {T}"}}',
    '{{"step_by_step_thinking": "There is no doubt about {M}.", "answer_choice": "({L}) {T}"}}',
    '{{"answer": "{L}"}}\n\nThe format is {{"answer": "<letter>"}}.',
    '{{"answer": "{L}"}}\n\nAn example of the format: {{"answer": "{M}"}}',
]
STATED = [
    "The answer is {L}. Had she been pregnant, the answer would be {M}.",
    "{L} is correct. {M} would be correct if the patient were older.",
    "The answer is {L}. In a child, the answer would be {M}.",
    "The answer is {L}. Students often pick {M}.",
    "The answer is {L}. A common mistake is to choose {M}.",
    "The answer is {L}. The second best answer is {M}.",
    "Many would choose {M}, but I choose {L}.",
    "{M}... no, on second thought, {L}.",
    "Option {M} can be left aside. This leaves us with {L}.",
    "The answer is {L} because neither {M} nor the others act at once.",
    "No es {M}, sino {L}.",
    "La respuesta no es {M}; es {L}.",
    "La opción {L} es la correcta.",
    "Creo que es la {L}.",
    "Me quedo con la {L}.",
    "Não é {M}, mas sim {L}.",
    "A alternativa {L} está correta.",
    "Ce n'est pas {M}, mais {L}.",
    "La proposition {L} est exacte.",
    "Je choisis la réponse {L}.",
    "Il s'agit de la réponse {L}.",
    "Nicht {M}, sondern {L}.",
    "{L} ist die richtige Antwort.",
    "Non è {M}, ma {L}.",
    "不是{M}，而是{L}。",
    "{M}ではなく{L}です。",
]
NOT_STATED = [
    "{L}. {T}: this would",
    "{L}. {T} is not correct because",
    "{L}) {T} might help, but the",
    "Let us go through the options.\n\n{L}. {T}: this can be considered when the",
    "If the answer were {L}, we would expect",
    "The answer could be {L}, unless the",
    "Is it {L}? Let me see. The",
    "Let me analyze. {L}. {T}: good for pain. {M}. {U}: good for",
    "Option {L} is used for pain. Option {M} is used for clots.",
    "If the patient were pregnant, the answer would be {L}.",
    "Is the answer {L}? I am not sure.",
    "Many students choose {L}.",
    "La respuesta no es la {L}.",
]


def filled(templates: list[str], options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    labels = list(options)
    for template in templates:
        for at, label in enumerate(labels):
            other = labels[(at + 1) % len(labels)]
            names = {"L": label, "T": options[label], "M": other, "U": options[other]}
            yield template.format(**names), label


@pytest.mark.parametrize("texts", ALL, ids=["drugs", "words", "denials", "letters", "lists"])
def test_the_text_after_a_label_denies_nothing_and_is_no_label(texts: dict[str, str]) -> None:
    options = options_of(texts)
    wrong = {
        text: read
        for text, label in filled(LABEL_AND_TEXT, texts)
        if (read := read_choice(text, options)) != label
    }
    assert not wrong


@pytest.mark.parametrize("template", STATED)
def test_an_aside_a_condition_or_a_denial_does_not_answer(template: str) -> None:
    options = options_of(DRUGS)
    for text, label in filled([template], DRUGS):
        assert read_choice(text, options) == label


@pytest.mark.parametrize("template", NOT_STATED)
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_text_that_ends_before_a_statement_is_unreadable(template: str, is_cut: bool) -> None:
    options = options_of(DRUGS)
    for text, _ in filled([template], DRUGS):
        assert read_choice(text, options, is_cut=is_cut) is None


def test_a_text_that_was_cut_after_its_answer_is_read() -> None:
    options = options_of(DRUGS)
    for text in (
        "B",
        "B. Heparin\n\nExplanation: heparin acts at once, and the",
        "The answer is B. Heparin acts at once, and the",
        '{"answer": "B", "explanation": "Heparin acts',
    ):
        assert read_choice(text, options, is_cut=True) == "B"
