"""The end of a reasoning, exceptions, shortened names, and answers in other languages."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def word(text: str, *, is_cut: bool = False) -> str | None:
    return read_answer(
        text, YES_NO, output_mapping={}, references=["yes", "no", "maybe"], is_cut=is_cut
    )


@pytest.mark.parametrize(
    "text",
    [
        "The bleed argues against A. C takes days, and D is for strokes. What's left is B.",
        "A and C are slow. D is risky. The picture is textbook for B.",
        "Between B and C, C is slower and may interact. The renal failure tips the balance to B.",
        "For outpatients C is all that is needed. Here she is unstable, so A would be too weak. "
        "While C is the default, this patient needs B.",
        "The differential is A or B. Only B acts at once. A would take a day.",
        "If he were stable, C would do. He is not, which brings us to B.",
        "One could think of D at first. Hence B must be the drug. D should not be given.",
        "A is tempting, but everything points to B rather than A.",
        "C has its merits. In the end heparin is what we are looking for, i.e. B.",
        "Initially I'd say C, but the newer guidelines say B.",
    ],
)
def test_a_reasoning_is_read_by_what_it_comes_to(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "A is common, B acts at once, C takes days, and D is for strokes.",
        "It could be C, but B and A remain possible until the scan is done.",
        "For the young, C. For the old, D. For children, B. For pregnant women, A.",
        "There's a case for A, B and D; C has none.", "A leaves the clot. This leaves A and B.",
        "The least suitable drug here is B.", "Should the finding be confirmed, this means B?",
        "A acts slowly. It should not be confused with heparin, which belongs to B.",
        "I can't recommend aspirin or heparin without the renal function.",
        "Consult your doctor about heparin.", "I doubt that it is heparin.",
        "The patient is ill. A is out. B is out. C is out.",
    ],
)  # fmt: skip
def test_a_reasoning_that_comes_to_no_option_is_unreadable(text: str) -> None:
    assert drug(text) is None


def test_an_option_called_right_in_passing_gives_way_to_the_conclusion() -> None:
    text = "Consider how ill he is. C is right for mild cases. He is in shock. All this favours B."
    assert drug(text) == "B"
    assert drug("B is right. In pregnancy all this favours A.") == "B"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A is safe. B is safe. C is not. D is safe.", "C"), ("C doesn't belong.", "C"),
        ("A: yes\nB: yes\nC: no\nD: yes", "C"), ("✅ A\n✅ B\n❌ C\n✅ D", "C"),
        ("C is incorrect.", "C"), ("Not A.", None), ("C is not the answer.", None),
        ("All are, with the exception of C.", "C"),
    ],
)  # fmt: skip
def test_the_only_option_that_is_denied_is_the_exception(text: str, label: str | None) -> None:
    assert drug(text, "All of these are safe EXCEPT") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Avoid C.", "C"), ("Never give warfarin to her.", "C"), ("C must not be given.", "C"),
        ("Avoid heparin (B) and warfarin (C).", None),
    ],
)  # fmt: skip
def test_what_is_to_be_avoided_is_read_where_that_is_asked(text: str, label: str | None) -> None:
    assert drug(text, "Which drug should be avoided?") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("e coli", "A"), ("E. coli, most likely", "A"), ("staph aureus", "B"), ("S. aureus", "B"),
        ("vit K", "C"), ("VTE", "D"), ("k. pneumoniae", None), ("venous", "D"),
        ("escherichia coli - the usual suspect", "A"), ("staph aureus or e coli", None),
    ],
)  # fmt: skip
def test_a_shortened_name_is_read_where_one_option_has_it(text: str, label: str | None) -> None:
    texts = (
        "Escherichia coli",
        "Staphylococcus aureus",
        "Vitamin K",
        "Venous thromboembolic event",
    )
    options = options_of(dict(zip("ABCD", texts, strict=True)))
    assert read_choice(text, options) == label


@pytest.mark.parametrize(("text", "label"), [("c it is", "C"), ("c for sure", "C"), ("def C", "C")])
def test_a_label_before_an_afterthought_is_read(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [("5.0 mg", "B"), ("About 5 mg.", "B"), ("2.5", "A"), ("25mg", "C"), ("7 mg", None)],
)
def test_a_number_is_read_however_it_is_written(text: str, label: str | None) -> None:
    doses = options_of({"A": "2.5 mg", "B": "5 mg", "C": "25 mg"})
    assert read_choice(text, doses) == label
    shares = options_of({"A": "0.8", "B": "0.9"})
    assert read_choice("90%", shares) == "B"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("- A → slow ✗\n- B → at once ✓\n- C → slow ✗", "B"),
        ("A. ~~Aspirin~~\nB. Heparin\nC. ~~Warfarin~~\nD. ~~Alteplase~~", "B"),
        ("A. Aspirin\nB. Heparin ← this one\nC. Warfarin\nD. Alteplase", "B"),
        ("| A | B | C | D |\n|---|---|---|---|\n| ✗ | ✓ | ✗ | ✗ |", "B"),
        ("| A | B | C | D |\n|---|---|---|---|\n| ✓ | ✓ | ✗ | ✗ |", None),
        ("| Drug | Verdict |\n|---|---|\n| A | Unlikely |\n| B | Most likely |", "B"),
        ("Answer ➜ B", "B"),
    ],
)  # fmt: skip
def test_marks_in_lists_and_tables_tell_the_option(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**C. Warfarin**\n\n**Reason:** It is oral.\n- A. Aspirin: weak\n- B. Heparin: by", "C"),
        ("| Drug | Right? |\n|---|---|\n| A | ❌ |\n| B | ✅ |\n| C. Warfarin | it is", "B"),
        ("A. Aspirin: weak\nB. Heparin: by", None),
    ],
)
def test_an_answer_before_a_list_that_was_cut_is_read(text: str, label: str | None) -> None:
    assert drug(text, is_cut=True) == label


def test_a_word_that_is_a_sentence_is_read_in_a_text_that_was_cut() -> None:
    assert word("No. The trial was stopped early and the", is_cut=True) == "no"
    assert word("The trial was small. Yes, there were fewer, but at 30 days", is_cut=True) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Vielleicht. Die Daten sind widersprüchlich.", "maybe"), ("Eher nein.", "no"),
        ("Peut-être : les résultats divergent.", "maybe"), ("Probablement oui.", "yes"),
        ("Quizás.", "maybe"), ("Probablemente no.", "no"), ("Talvez. Faltam dados.", "maybe"),
        ("Forse: i risultati non sono conclusivi.", "maybe"), ("Probabilmente no.", "no"),
        ("Misschien.", "maybe"), ("Waarschijnlijk niet.", "no"), ("Być może.", "maybe"),
        ("Prawdopodobnie tak.", "yes"), ("Kanske.", "maybe"), ("Förmodligen inte.", "no"),
        ("शायद। परिणाम स्पष्ट नहीं हैं।", "maybe"), ("उत्तर हाँ है।", "yes"), ("是的，差异显著。", "yes"),
        ("否", "no"), ("也许", "maybe"), ("It likely does.", "yes"),
        ("The interval is wide (maybe).", "maybe"),
        ("Yes, this is a good question.", None), ("Maybe you could paste the abstract?", None),
    ],
)  # fmt: skip
def test_yes_no_and_maybe_are_read_in_other_languages_and_words(
    text: str, answer: str | None
) -> None:
    assert word(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "Weder A noch C wirken sofort. Übrig bleibt B.", "Alles spricht für B.",
        "Ni A ni C ni D actúan de inmediato. Queda B.", "Todo apunta a la B.",
        "On élimine A, C et D : il reste B.", "Escludendo A, C e D, rimane B.",
        "A, C en D vallen af, dus B.", "Ani A, ani C, ani D nie pasują. Zostaje B.",
        "A, C och D kan uteslutas, alltså B.", "A、C、D均不符合，故选B。", "所以选B。",
    ],
)  # fmt: skip
def test_a_reasoning_in_another_language_is_read(text: str) -> None:
    assert drug(text) == "B"


def test_a_class_is_read_after_a_word_for_it() -> None:
    options = options_among(["relevant", "not relevant"])
    assert read_choice("Label: not relevant. It is about ACE.", options) == "not relevant"
    assert read_choice('{"relevance": "not relevant", "why": "It', options) == "not relevant"


def test_an_object_that_says_two_things_under_one_name_is_unreadable() -> None:
    assert drug('{"answer": "A", "answer": "B"}') is None
    assert drug('{"option_a": "false", "option_b": "true", "option_c": "false"}') == "B"
