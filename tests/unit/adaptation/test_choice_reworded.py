"""Replies worded so that they mislead, in words that are in no set of replies."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_of

DRUGS = {"A": "Digoxin", "B": "Furosemide", "C": "Warfarin", "D": "Amiodarone"}
PARTS = {
    "A": "Rifampicin",
    "B": "Rifampicin and isoniazid",
    "C": "Rifampicin, isoniazid and ethambutol",
    "D": "Isoniazid",
}
EFFECTS = {
    "A": "Relaxes the bladder neck",
    "B": "Contracts the bladder neck",
    "C": "Raises the heart rate",
    "D": "Lowers the eye pressure",
}
ARTERIES = {
    "A": "Posterior tibial artery",
    "B": "Posterior inferior cerebellar artery",
    "C": "Superior mesenteric artery",
    "D": "Hepatitis C",
}
YES_NO = {"A": "yes", "B": "no"}


def drug(text: str, question: str = "Which drug?", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is D. Forget that, B.",
        "D: Amiodarone\n\nCorrection, it is furosemide.",
        "Warfarin is my answer. I take that back. Furosemide.",
        "The correct answer is C. It failed my check; replace it with B.",
        "C ... nein, Verzeihung, B.",
        "A, non, pardon, B.",
        "D. Perdón, B.",
        "C, o meglio B.",
        "A, eller snarare B.",
    ],
)
def test_a_correction_in_any_of_these_words_takes_the_first_answer_back(text: str) -> None:
    assert drug(text) == "B"


def test_a_correction_that_is_denied_or_ends_in_nothing_is_none() -> None:
    assert drug("The answer is B. I considered changing it to A, but no, B stands.") == "B"
    assert drug("The answer is B. Scrap that. I can't tell without an ECG.") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I began with C, then leaned to A for its price. I go back to my first idea.", "C"),
        ("Erst C, dann A. Ich bleibe bei meiner ersten Antwort.", "C"),
        ("It is between furosemide and amiodarone. I pick the latter.", "D"),
        ("Ranked: D > B > A. My answer is the first in that ranking.", "D"),
        ("1. Digoxin\n2. Furosemide\n3. Warfarin\n\nBest number: 2", "B"),
        ("Something else may help. I pick the latter.", None),
    ],
)
def test_an_answer_may_point_to_what_was_named_before(text: str, label: str | None) -> None:
    assert drug(text) == label


def test_the_opposite_of_the_only_answer_named_is_the_other_of_two() -> None:
    text = 'For decades "yes" was taught. The answer today is the opposite.'
    assert read_choice(text, options_of(YES_NO)) == "B"
    assert drug("A was taught. The answer today is the opposite.") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A | ✗ (too slow, toxic)\nB | ✓ (acts at once)\nC | ✗ (late)\nD | ✗ (no use)", "B"),
        ("| Item | Answer |\n|---|---|\n| 3 | B |", "B"),
        (
            "| Drug | For | Pick |\n|---|---|---|\n| Digoxin | AF | |\n| Furosemide | water | ← |\n"
            "| Warfarin | clots | |\n| Amiodarone | VT | |",
            "B",
        ),
        (
            "| Drug | Likelihood |\n|---|---|\n| A | 5% |\n| B | 80% |\n| C | 10% |\n| D | 5% |",
            "B",
        ),
        (
            "| Drug | Verdict |\n|---|---|\n| A | rejected |\n| B | accepted |\n| C | rejected |\n"
            "| D | rejected |",
            "B",
        ),
        ("| Drug | Dose |\n|---|---|\n| A | 1 |\n| B | 80 |\n| C | 10 |\n| D | 5 |", None),
    ],
)
def test_a_table_answers_by_its_column_for_it_its_mark_or_its_verdicts(
    text: str, label: str | None
) -> None:
    assert drug(text) == label


def test_the_paragraph_that_a_text_ends_in_is_its_answer() -> None:
    assert drug("A slows the rate.\n\n## Final\n\n**Furosemide**") == "B"
    assert drug("Digoxin is right for the rate. Not here.\n\n**B**") == "B"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Rifampicin together with isoniazid.", "B"),
        ("Rifampicin. No isoniazid is needed.", "A"),
        ("Rifampicin, isoniazid and, on top of that, ethambutol", "C"),
        ("Isoniazid, ohne Rifampicin.", "D"),
        ("Rifampicin or isoniazid.", None),
        ("Rifampicin blocks a polymerase. Isoniazid stops the wall.", None),
    ],
)
def test_an_option_is_named_by_just_its_parts(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(PARTS)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Relaxation of the bladder neck", "A"),
        ("The heart rate is raised.", "C"),
        ("∴ the eye pressure is lowered", "D"),
        ("It does not relax the bladder neck.", None),
        ("Anything but relaxation of the bladder neck", None),
    ],
)
def test_an_option_is_named_by_other_forms_of_its_words(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(EFFECTS)) == label


def test_abbreviations_stand_for_the_words_of_an_option() -> None:
    options = options_of(ARTERIES)
    assert read_choice("It is the PICA.", options) == "B"
    assert read_choice("The SMA, of course.", options) == "C"
    assert read_choice("HCV", options) == "D"


def test_increase_and_decrease_may_be_arrows() -> None:
    options = options_of({"A": "pH increased, pCO2 decreased", "B": "pH decreased, pCO2 increased"})
    assert read_choice("↓ pH with ↑ pCO2", options) == "B"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It can't.", "B"),
        ("Certainly not", "B"),
        ("no, if ever", "B"),
        ("There is no role for it.", "B"),
        ("हाँ, यह सही है।", "A"),
        ("Nein, das ist unnötig.", "B"),
    ],
)
def test_yes_and_no_with_labels_are_read_as_without(text: str, label: str) -> None:
    question = "Is there a role for routine imaging?"
    assert read_choice(text, options_of(YES_NO), question=question) == label


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Oui, avec plaisir ! Merci de me fournir le texte.", ("oui", "non")),
        ("Ja, gerne. Bitte schicken Sie mir den Text.", ("ja", "nein")),
        ("Ja, självklart, jag kan hjälpa dig.", ("ja", "nej")),
        ("Sí, claro, puedo ayudarte.", ("sí", "no")),
    ],
)
def test_an_offer_of_help_is_no_yes_in_other_languages(text: str, words: tuple[str, str]) -> None:
    options = options_of(dict(zip("AB", words, strict=True)))
    assert read_choice(text, options) is None
    assert read_choice(f"{words[0]}, das ist nötig.", options) == "A"


@pytest.mark.parametrize(
    "text",
    [
        "Die zweite Antwort ist richtig.",
        "La segunda opción.",
        "La deuxième proposition est correcte.",
        "Poprawna jest opcja druga.",
        "दूसरा विकल्प सही है।",
    ],
)
def test_places_are_read_in_other_languages(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Furosemide. Digoxin, warfarin and amiodarone do not help a", "B"),
        ("Her lungs are full of water, so this is furosemide. Digoxin slows the ra", "B"),
        ("**B) Furosemide**\n\n(A) and (C) are slow, whereas (D) is for", "B"),
        ("Class: Furosemide\n\nReason: it acts on the loop of", "B"),
        ("Furosemide. It blocks a transporter in the lo", None),
        ("Digoxin: slow.\n\nFurosemide: fast.\n\nWarf", None),
    ],
)
def test_a_text_that_was_cut_after_its_answer_is_read(text: str, label: str | None) -> None:
    assert drug(text, is_cut=True) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("- rate → A\n- clots → C\n- VT → D\n- this patient → B", "B"),
        ("- rate → A\n- clots → C\n- VT → D", None),
        ("So we take furosemide. If it fails → D.", "B"),
        ("Low pressure removes A, C and D. The remaining option also fits.", "B"),
        ("A student in a hurry would choose D. The lungs say B.", "B"),
    ],
)
def test_arrows_and_conditions_that_only_map_choose_nothing(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    "text",
    [
        "A, C and D all slow the heart.",
        "Digoxin, warfarin, amiodarone: all do. Furosemide drains, and is thus the exception.",
        "B is the odd one out.",
        "A: trifft zu\nB: trifft nicht zu\nC: trifft zu\nD: trifft zu",
    ],
)
def test_the_exception_is_read(text: str) -> None:
    assert drug(text, "Which one is the exception?") == "B"


def test_what_remains_in_json_is_the_answer() -> None:
    assert drug('{"eliminated": ["A", "C", "D"], "remaining": ["B"]}') == "B"
    assert drug('{"eliminated": ["A", "C"], "remaining": ["B", "D"]}') is None
