"""Answers in other forms: checklists, ranges, a last letter, articles, hidden text, cut reasons."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
EXCEPT = "All of these prevent clots EXCEPT:"


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def among(text: str, *options: str) -> str | None:
    return read_choice(text, options_of(dict(zip("ABCD", options, strict=False))))


def of_class(text: str, *classes: str) -> str | None:
    is_yes_no = classes == ("yes", "no")
    method = ExtractionMethod.YES_NO if is_yes_no else ExtractionMethod.CHOICE
    return read_answer(text, AnswerExtraction(method=method), output_mapping={}, references=classes)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Aspirin: no.\nHeparin: yes.\nWarfarin: no.", "B"),
        ("Let's see:\nA → too weak, no.\nB → fast, yes.\nC → slow, no.", "B"),
        ("Aspirin: no.\nHeparin: yes.\nWarfarin: yes.", None),
        ("Aspirin: no.\nHeparin: yes, in adults.\nWarfarin: no.", None),
        ("Fever: yes.\nHeparin: no.\nWarfarin: no.", None),
        ("Heparin: yes.\nWarfarin: no.", None),
    ],
)
def test_the_only_yes_of_a_checklist_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


def test_a_checklist_is_not_read_where_the_exception_is_asked_for() -> None:
    assert drug("Aspirin: no.\nHeparin: no.\nAlteplase: yes.", EXCEPT) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It acts at once. Answer B.", "B"),
        ("Warfarin is slow, aspirin is weak. B", "B"),
        ("C\n\nEdit: warfarin is slow. B", "B"),
        ("It acts at once. Is it answer B?", None),
        ("Heparin is not answer B.", None),
        ("Compare it with vit. C", None),
        ("A is possible. C", None),
        ("B is a pill and acts slowly. C", None),
        ("It's C. No, B. Hmm. I can't settle this.", None),
    ],
)
def test_a_letter_as_the_last_sentence_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("60 to 100 bpm", "B"),
        ("somewhere from 60 up to 100 beats/min", "B"),
        ("The normal rate is between 60 and 100.", "B"),
        ("60100", None),
        ("60 or 100", None),
    ],
)
def test_a_range_is_read_in_words(text: str, label: str | None) -> None:
    assert among(text, "20-40", "60-100", "110-140") == label


def test_a_number_is_no_range_without_its_hyphen() -> None:
    assert among("After 34 weeks.", "1-2 weeks", "3-4 weeks", "5-6 weeks") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("C'est le béribéri, bien sûr. Le scorbut est dû à un manque de vitamine C.", "B"),
        ("La réponse est la pellagre.", "C"),
        ("Ce n'est pas la pellagre.", None),
        ("C'est le béribéri ou la pellagre.", None),
    ],
)
def test_an_options_article_belongs_to_its_text(text: str, label: str | None) -> None:
    assert among(text, "Le scorbut", "Le béribéri", "La pellagre") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("したがって答えはドパミンとなります。", "B"), ("正解はドパミンです。", "B"),
        ("答えはドパミンではない。", None), ("答えはセロトニンかドパミンです。", None),
    ],
)  # fmt: skip
def test_a_japanese_ending_is_no_part_of_an_options_text(text: str, label: str | None) -> None:
    assert among(text, "セロトニン", "ドパミン") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Doğru cevap B şıkkıdır. Etkisi hızlıdır.", "B"), ("Yanıt: B", "B"),
        ("Doğru cevap B şıkkı değildir.", None),
        ("TL;DR → ||B||\n\nAspirin (A) is weak.", "B"), ("| A || B || C |", None),
        ("It's either A or B for me. If forced, I'd go with B.", "B"),
        ("If I had to choose one, B.", "B"), ("Heparin is our answer.", "B"),
        ("Purely in the setting of an exam, you would pick B.", "B"),
        ("You would pick B if she were pregnant.", None),
        ("Selected: the second of the four.", "B"), ("Selected: the second of the three.", None),
        ("1. Aspirin\nWeak.\n2. Heparin\nFast - this is our answer.\n3. Warfarin\nSlow.", "B"),
        ("A. Aspirin\nB. Heparin\nC. Warfarin\nIt is fast - this is the answer.", None),
        ('{"correct_answer_number": "B", "total_options": 4}', "B"), ('{"solution": "B"}', "B"),
        ("Final label = B", "B"), ("The consensus is clear: heparin.", "B"),
        ("For the second part of your question though, heparin is by far the best, "
         "ten times as fast as warfarin.", "B"),
    ],
)  # fmt: skip
def test_other_statements_of_an_answer_are_read(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is (B): it acts at once and", "B"), ("I'd choose B here, since it acts", "B"),
        ("The answer is B, which acts at once and", "B"),
        ("Heparin is the correct answer because it", "B"),
        ("It is urgent, so she gets heparin (option B) at once. Patients with", "B"),
        ("The answer is B: at least if the", None), ("Could the answer be B: it acts", None),
        ("The rash suggests heparin (option B). Let me look at", None),
        ("So let us begin with heparin (option B). It acts", None),
        ("Option B: The drug acts at once. This option is", None),
        ("Let's analyze each answer: A: it acts on", None), ("Answer analysis: A - it acts", None),
        ("To find the answer: aspirin, which acts on", None),
    ],
)  # fmt: skip
def test_a_cut_reply_states_its_answer_before_an_explanation(text: str, label: str | None) -> None:
    assert drug(text, is_cut=True) == label


def test_what_a_sentence_calls_the_exception_is_the_exception() -> None:
    text = "A, B and C thin the blood. D, by contrast, dissolves clots, so that's the exception."
    assert drug(text, EXCEPT) == "D"


def test_a_contraindication_is_what_the_question_asks_for() -> None:
    question = "Which is a contraindication to heparin?"
    text = "This is a textbook item: warfarin is an absolute contraindication to it."
    assert drug(text, question) == "C"
    assert drug("Warfarin is a clear contraindication here.") is None


def test_initials_are_read_after_words_that_state_them() -> None:
    assert among("Sounds like a DVT to me!", "Cellulitis", "Deep vein thrombosis") == "B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Not indicated. Small polyps are left.", "no"), ("It is not needed here.", "no"),
        ("The advice is clear: no, they must not be combined. Ask your doctor.", "no"),
        ("The advice is clear: no change is needed.", None), ("Final label = yes.", "yes"),
    ],
)  # fmt: skip
def test_yes_and_no_are_read_in_other_words(text: str, expected: str | None) -> None:
    assert of_class(text, "yes", "no") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Any fever at this age has to be handled as urgent. Please go at once.", "urgent"),
        ("Some fevers must be handled as urgent, but this one is routine.", None),
    ],
)
def test_a_class_is_what_a_case_must_be_handled_as(text: str, expected: str | None) -> None:
    assert of_class(text, "urgent", "routine") == expected


def test_a_class_is_what_the_sentiment_comes_out_as() -> None:
    text = "Despite the negative effect he is glad, so the sentiment comes out as positive."
    assert of_class(text, "positive", "negative") == "positive"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is A... sorry, B. Heparin acts at once.", "B"),
        ("The answer is A. Sorry about the length. B. Heparin is slow.", "A"),
        ("The answer would be A.\n\nHmm, let me look at the wording once more. It asks for the "
         "fastest. I therefore revise my previous answer from A to B.", "B"),
        ("It's A. I won't revise my answer from A to B. A acts at once.", "A"),
        ("The answer is A. Hmm, let me check that again. Yes, A fits.", "A"),
        ("She has a clot → needs a drug that acts at once → so nothing slow → C", "C"),
        ("A | B | C | D", None),
        ("Det är heparin (alternativ B), medan aspirin (A) är svagt.", "B"),
        ("The drug of choice here is heparin, option B.", "B"),
        ("Heparin would be appropriate. Had she bled, I'd have said alteplase.", "B"),
        ("Aspirin or heparin would be appropriate.", None),
        ("Aspirin would not be appropriate.", None),
    ],
)  # fmt: skip
def test_more_statements_and_corrections_are_read(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("C thins the blood. Thus option D is the one that's not true.", "D"),
        ("Option D is the one that's true.", None),
        ("Is option D the one that's not true?", None),
    ],
)
def test_the_one_that_is_not_so_is_the_exception(text: str, label: str | None) -> None:
    assert drug(text, "Which is not true about clots?") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The drug for this is heparin (B), which acts. The other options are slow and", "B"),
        ("The drug for this is heparin (B), which acts at once. Next comes", None),
        ("The drug for this is not heparin (B), which acts. The other options are", None),
        ("The second choice is heparin (B), which acts. The others are", None),
        ("If he bleeds the drug is heparin (B), which acts. The other options are", None),
        ("The wrong drug is heparin (B), which acts at once. The other options are", None),
    ],
)
def test_a_cut_reply_that_turns_to_the_other_options_has_answered(
    text: str, label: str | None
) -> None:
    assert drug(text, is_cut=True) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"category": 2, "category_name": "Delayed"}', "2"),
        ('{"category": 1, "category_name": "Delayed"}', None),
        ('{"category": 2, "category_name": "Delayed", "next": "Minor"}', None),
        ('{"rejected": 2, "rejected_name": "Delayed"}', None),
    ],
)
def test_a_label_and_its_text_in_two_members_are_the_answer(text: str, label: str | None) -> None:
    options = {"1": "Immediate", "2": "Delayed", "3": "Minor"}
    assert read_choice(text, options_of(options)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Dissection of the aorta.", "B"),
        ("Dissection of an artery.", None),
        ("Not dissection of the aorta.", None),
        ("Rupture of the aorta.", None),
    ],
)
def test_an_option_of_two_words_is_read_turned_round(text: str, label: str | None) -> None:
    assert among(text, "Stable angina", "Aortic dissection", "Aortic stenosis") == label


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"label": "positive | negative | mixed"}', None), ('{"label": "mixed"}', "mixed"),
        ("So the overall sentiment is mixed: it has positive and negative parts.", "mixed"),
        ("The overall sentiment is positive or negative.", None),
        ("With a pulse of 130 this falls under negative (beyond the mixed range).", "negative"),
        ("This falls under mixed to negative.", None),
    ],
)  # fmt: skip
def test_a_class_is_stated_for_the_whole(text: str, expected: str | None) -> None:
    assert of_class(text, "positive", "negative", "mixed") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ESI level: 3. He needs two resources (labs and CT).", "3"),
        ("ESI level: 3 or 4.", None),
        ("ESI level: 3-4.", None),
    ],
)
def test_a_level_is_read_after_its_colon(text: str, expected: str | None) -> None:
    assert of_class(text, "1", "2", "3", "4", "5") == expected


def test_a_contracted_not_is_an_options_not() -> None:
    text = "The claim is about zinc. So there isn't enough information to verify it."
    assert of_class(text, "supported", "refuted", "not enough information") == (
        "not enough information"
    )
    assert of_class("It isn't supported.", "supported", "refuted", "not enough data") is None
