"""What is read where nothing stronger names an option, and its near relatives that stay unread."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
ILLS = {
    "A": "Iron deficiency anaemia",
    "B": "Non-Hodgkin lymphoma",
    "C": "Crohn's disease",
    "D": "Sjögren syndrome",
    "E": "Type 1 diabetes",
}
NERVES = {"A": "Median nerve", "B": "Ulnar nerve", "C": "Radial nerve"}
STEPS = {"A": "Drain the abscess", "B": "Aspirin and heparin", "C": "None of the above"}
TRUTH = {"A": "True", "B": "False"}
TWO = {"A": "Give antibiotics", "B": "Drain the abscess"}
WORST = "Which drug is LEAST likely to be contraindicated?"
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def word(text: str, *references: str) -> str | None:
    return read_answer(text, YES_NO, output_mapping={}, references=references)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("iron-deficiency anemia.", "A"), ("Iron deficiency", "A"), ("It is anaemia.", "A"),
        ("The answer is iron deficiency anemia.", "A"), ("non hodgkin lymphoma", "B"),
        ("Nonhodgkin lymphoma", "B"), ("Non-Hodgkin's lymphoma", "B"), ("crohn disease", "C"),
        ("Crohns disease", "C"), ("Sjogren's syndrome", "D"), ("Type-1 diabetes", "E"),
        ("Type 1 diabetes mellitus", "E"), ("type 1 autoimmune diabetes", "E"),
        ("Diabetes insipidus and mellitus", None), ("Not diabetes", None),
        ("Hodgkin lymphoma", None),
        ("Type 2 diabetes", None), ("syndrome or disease", None),
    ],
)  # fmt: skip
def test_a_short_reply_is_an_option_in_other_words(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(ILLS)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Radial", "C"), ("the radial one", "C"), ("nerve", None), ("median or ulnar", None),
        ("the second option", "B"), ("My pick would be the third option.", "C"),
        ("Option two.", "B"),
        ("The last answer is correct.", "C"), ("third", "C"), ("option 3", "C"),
        ("Not the second option.", None), ("The fifth option.", None), ("The second option?", None),
        ("The first choice is surgery.", None), ("the second or the third option", None),
    ],
)  # fmt: skip
def test_one_word_or_a_place_tells_an_option(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(NERVES)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [("drain abscess", "A"), ("none", "C"), ("Heparin", None), ("Do not drain", None)],
)
def test_a_part_of_an_option_that_joins_things_or_denies_is_not_the_option(
    text: str, label: str | None
) -> None:
    assert read_choice(text, options_of(STEPS)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Answer - a", "A"), ("Answer – c", "C"), ("probably c, given the INR", "C"),
        ("most likely d", "D"), ("i think a", "A"), ("probably a, b", None),
        ("maybe c? not sure", None), ("probably a patient", None), ("b i guess", "B"),
    ],
)  # fmt: skip
def test_a_small_letter_after_a_hedge_is_a_label(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**Heparin** acts at once. Warfarin takes days.", "B"),
        ("> **Warfarin** (a coumarin)\n\nAspirin is not enough.", "C"),
        ("| Drug | Risk |\n|---|---|\n| Aspirin | low |\n\n**Overall best choice: Warfarin**", "C"),
        ("Since she has **renal failure**, one takes **heparin**. Warfarin is slow.", "B"),
        ("**Aspirin** inhibits COX. **Heparin** binds antithrombin.", None),
        ("Do **not** give **aspirin**. Warfarin is slow.", None),
        ("The patient already takes **warfarin**. The INR must be checked.", None),
        ("**Aspirin** is contraindicated. Warfarin is slow.", None),
        ("**Aspirin, heparin or warfarin** may do. Alteplase may not.", None),
    ],
)  # fmt: skip
def test_the_only_option_in_bold_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


def test_bold_words_count_in_finished_texts_alone() -> None:
    assert drug("**Heparin** acts at once. Warfarin takes", is_cut=True) is None


def test_a_conclusion_under_its_heading_is_read_by_itself() -> None:
    discussed = "### Option A: Aspirin\nIt is weak.\n\n### Option B: Heparin\nIt is fast.\n\n"
    assert drug(f"{discussed}### Conclusion\nThe fast drug is heparin.") == "B"
    assert drug(f"{discussed}**Final verdict:**\n\nThe drug to take is **B. Heparin**.") == "B"
    assert drug(f"{discussed}### Conclusion\nBoth aspirin and heparin may be used.") is None
    assert drug(f"{discussed}### Pharmacology\nThe fast drug is heparin.") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("None of A, B, or D. They are too slow.", "C"), ("Neither A nor C nor D.", "B"),
        ("It is not A, B or D.", "C"), ("A, B and C are wrong.", "D"),
        ("Not A. Not B either. Give C.", "C"), ("Not B. Start D.", "D"),
        ("Neither A nor C.", None), ("Not A, not B, not D.", None), ("None of them.", None),
        ("Not A.", None), ("If it is not A, B or D.", None), ("We can rule out A, C and D.", None),
    ],
)  # fmt: skip
def test_the_option_that_a_denial_of_all_others_leaves_is_the_answer(
    text: str, label: str | None
) -> None:
    assert drug(text) == label


def test_of_two_options_a_denial_leaves_the_other() -> None:
    assert read_choice("Not A. Drugs alone will not do.", options_of(TWO)) == "B"
    kinds = options_among(["benign", "malignant"])
    assert read_choice("The lesion is not benign.", kinds) == "malignant"
    assert read_choice("It is not clearly benign.", kinds) is None
    assert read_choice("Not benign or malignant.", kinds) is None


def test_a_denial_leaves_nothing_where_the_exception_is_asked_for() -> None:
    assert drug("None of A, B, or D.", "All are anticoagulants EXCEPT:") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Do not wait for aspirin (A). Alteplase must be given at once.", "D"),
        ("Warfarin must be stopped. Give heparin.", "B"),
        ("Heparin should be given, or warfarin should be started.", None),
        ("Aspirin should not be given. The INR must be checked.", None),
        ("The clot must be lysed. This calls for the use of alteplase.", "D"),
        ("The patient takes warfarin. I need the INR.", None),
        ("Warfarin is a coumarin. It is given by mouth.", None),
        ("Avoid aspirin, heparin and warfarin.", None),
        ("The only drug that should not be given is aspirin.", None),
    ],
)  # fmt: skip
def test_the_only_option_that_should_be_given_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


def test_the_only_one_that_is_so_is_the_answer_where_the_question_asks_so() -> None:
    drugs = "Three are contraindicated: A, C, D. The only one that is not is heparin (B)."
    assert drug(drugs, WORST) == "B"
    assert drug("The only one that is not safe is warfarin.", "Which drug is best?") is None
    assert drug("The one to avoid is C.", "Which drug is contraindicated?") == "C"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Probably not.", "no"), ("Almost certainly not, since it is small.", "no"),
        ("Not really.", "no"), ("Unlikely.", "no"), ("I don't think so.", "no"),
        ("It does not.", "no"), ("nope", "no"), ("It seems likely.", "yes"), ("Definitely.", "yes"),
        ("It does.", "yes"), ("yep, it does", "yes"), ("I think so.", "yes"), ("Y", "yes"),
        ("It is unclear.", "maybe"), ("The results are inconclusive.", "maybe"),
        ("It may or may not; the trial was small.", "maybe"), ("Perhaps.", "maybe"),
        ("It depends.", "maybe"), ("Yes and no. In men it does.", "maybe"),
        ("Yes and no", None), ("Not necessarily.", None), ("Not only in men.", None),
        ("Not sure what you mean.", None), ("Unknown", None), ("It is not small.", None),
        ("Definitely! Please share the abstract.", None), ("Certainly. Which study?", None),
    ],
)  # fmt: skip
def test_yes_no_and_maybe_in_other_words(text: str, answer: str | None) -> None:
    assert word(text, "yes", "no", "maybe") == answer


def test_maybe_in_other_words_counts_where_it_is_an_option() -> None:
    assert word("It is unclear.", "yes", "no") is None
    assert word("Yes and no. In men it does.", "yes", "no") is None
    assert word("Probably not.", "yes", "no") == "no"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("This is not true. It is safe.", "B"), ("That's incorrect.", "B"), ("Not true.", "B"),
        ("No, this is wrong.", "B"), ("This statement is correct.", "A"),
        ("Yes, that is right.", "A"),
        ("This is not necessarily true.", None), ("It is not safe.", None),
    ],
)  # fmt: skip
def test_true_and_false_in_other_words(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(TRUTH)) == label


@pytest.mark.parametrize("right", DRUGS)
@pytest.mark.parametrize(
    ("form", "tick", "cross", "between"),
    [
        ("{t} {m}", "✅", "❌", "\n"), ("- {m} {t}", "✅", "❌", "\n"), ("{l} {m}", "✓", "✗", "\n"),
        ("- {m} {l}. {t}", "[x]", "[ ]", "\n"), ("**{t}**: {m}", "✅", "❌", "\n\n"),
        ("{t} - a drug {m}", "✅", "❌", "\n"), ("{l} {m}", "✅", "❌", ", "),
        ("{l}. {t} {m}", "✓", "✗", " "), ("{t} {m}", "✔", "", "\n"),
    ],
)  # fmt: skip
def test_the_only_ticked_option_of_a_list_is_the_answer(
    form: str, tick: str, cross: str, between: str, right: str
) -> None:
    marks = {label: tick if label == right else cross for label in DRUGS}
    lines = [form.format(l=label, t=text, m=marks[label]) for label, text in DRUGS.items()]
    assert drug(between.join(lines)) == right


@pytest.mark.parametrize(
    "text",
    [
        "- ✅ Aspirin\n- ✅ Heparin\n- ❌ Warfarin", "A ✅, B ✅, C ❌, D ❌",
        "Aspirin\nHeparin\nWarfarin\nAlteplase", "- Aspirin\n- Heparin",
    ],
)  # fmt: skip
def test_a_list_of_options_without_one_that_is_marked_is_no_answer(text: str) -> None:
    assert drug(text) is None
