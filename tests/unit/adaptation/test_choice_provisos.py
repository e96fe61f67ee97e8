"""Answers after a proviso, in wrapped JSON, at a pointer, after a check, and misspelt."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def triage(text: str) -> str | None:
    return read_choice(text, options_among(["urgent", "soon", "routine"]))


def finding(text: str) -> str | None:
    return read_choice(text, options_among(["normal", "abnormal"]))


def word(text: str) -> str | None:
    return read_answer(text, YES_NO, output_mapping={}, references=["yes", "no", "maybe"])


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I can't replace a nurse. Because you want one word: soon.", "soon"),
        ("I'm not able to triage people. If you insist: routine.", "routine"),
        ("I cannot examine her, but based only on the message: urgent.", "urgent"),
        ("This is no advice. As a label: urgent", "urgent"),
        ("I do not know her history. If I had to choose: soon, as the pain is new.", "soon"),
        ("I cannot see the wound. Judging by the text: routine.", "routine"),
        ("I can't say for sure. In short: urgent.", "urgent"),
    ],
)
def test_the_class_after_a_proviso_and_a_colon_is_the_answer(text: str, label: str) -> None:
    assert triage(text) == label


@pytest.mark.parametrize(
    "text",
    [
        "I can't say. In general: urgent. In this patient it may be routine.",
        "I cannot triage. If you insist: urgent or soon.",
        "I can't decide. In general: urgent, but it depends on her age.",
        "I cannot say. Based on the text: not urgent.",
        "I can't choose. Going by the text: urgent?",
        "I cannot say. In principle: soon, if the fever stays.",
        "I can't say. Judging by the text: urgent, unless the fever goes.",
        "I cannot help. In general: urgent (or soon).",
    ],
)
def test_a_class_after_a_proviso_that_is_limited_is_none(text: str) -> None:
    assert triage(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I can only speak generally. In general: yes, it is contraindicated.", "yes"),
        ("I cannot see the film, but judging from the report: no.", "no"),
        ("I can't give advice. In general: yes, but not in this patient.", None),
    ],
)
def test_a_word_after_a_proviso_is_the_answer(text: str, answer: str | None) -> None:
    assert word(text) == answer


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Heart normal, lungs normal, a nodule. In summary, the film is abnormal.", "abnormal"),
        ("The heart is normal. All in all the scan is best described as abnormal.", "abnormal"),
        ("No abnormal shadow is seen. Altogether this report is normal.", "normal"),
        ("Lungs are normal; there is fluid. On the whole the chest x-ray is abnormal.", "abnormal"),
        ("An abnormal rib was queried. So, overall, the image is normal.", "normal"),
        ("The spleen is normal. To conclude, the examination is clearly abnormal.", "abnormal"),
        ("The lungs are abnormal. Overall the heart is normal.", None),
        ("The heart is normal. Overall the report is not abnormal.", "normal"),
        ("The rib is abnormal. Overall the report is normal, except for the rib.", None),
        ("The rib is abnormal. Overall the report is normal or abnormal.", None),
    ],
)
def test_what_the_whole_is_called_at_the_end_is_the_answer(text: str, label: str | None) -> None:
    assert finding(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Statement A is true. Statement B is false, as it acts at once. C and D are true.", "B"),
        ("A is true. B is true. C is true. D is untrue.", "D"),
        ("Option A: true. Option B: true. Option C is incorrect. Option D: true.", "C"),
        ("Statement D is wrong because it lyses clots.", "D"),
        ("Statements A, B and D are true. Statement C is not.", "C"),
        ("A is correct. B is correct. C is not correct. D is correct.", "C"),
        ("Statement A is false. Statement B is false. C and D are true.", None),
        ("Statement A is true.", None),
    ],
)
def test_the_statement_that_is_called_false_is_the_false_one(text: str, label: str | None) -> None:
    assert drug(text, "Which statement about these drugs is false?") == label


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('[{"label": "yes", "score": 0.8}, {"label": "no", "score": 0.2}]', "yes"),
        ('[{"label": "no", "prob": 0.6}, {"label": "maybe", "prob": 0.4}]', "no"),
        ('[{"label": "yes", "score": "12%"}, {"label": "no", "score": "88%"}]', "no"),
        ('[{"label": "maybe", "likelihood": 0.5}, {"label": "no", "likelihood": 0.3}]', "maybe"),
        ('{"results": [{"label": "yes", "score": 0.1}, {"label": "no", "score": 0.9}]}', "no"),
        ('```json\n[{"label":"yes","score":1},{"label":"no","score":0}]\n```', "yes"),
        ('[{"label": "yes", "score": 0.5}, {"label": "no", "score": 0.5}]', None),
    ],
)
def test_the_label_of_the_highest_score_is_the_answer(text: str, answer: str | None) -> None:
    assert word(text) == answer


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"choices": [{"index": 0, "answer": "B", "text": "Heparin"}]}', "B"),
        ('{"results": [{"answer": "C"}]}', "C"),
        ('{"predictions": [{"answer": "D", "reason": "it lyses"}]}', "D"),
        ('{"data": [{"final_answer": "A"}]}', "A"),
        ('{"outputs": [{"selected_option": "B", "id": 7}]}', "B"),
        ('<output>{"response": [{"choice": "C. Warfarin"}]}</output>', "C"),
        ('{"choices": [{"answer": "B", "correct": false}]}', None),
        ('{"choices": [{"answer": "B", "text": "Aspirin"}]}', None),
        ('{"results": [{"answer": "B"}, {"answer": "C"}]}', None),
    ],
)
def test_an_answer_in_a_list_of_one_is_read(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Label: urgent (she bleeds, so not routine)", "urgent"),
        ("Class: routine (no new pain)", "routine"), ("Triage: soon (within a week).", "soon"),
        ("Category: urgent (chest pain)", "urgent"),
        ("Priority: routine (not urgent at all)", "routine"),
        ("Label: urgent (or soon)", None), ("Label: urgent (maybe routine)", None),
        ("Output: soon (since the rash spreads)", "soon"), ("Level: urgent (rest pain)", "urgent"),
    ],
)  # fmt: skip
def test_a_class_with_a_reason_in_brackets_is_read(text: str, label: str | None) -> None:
    assert triage(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1. Aspirin: slow\n2. Heparin: at once ⬅️ **this one**\n3. Warfarin: slow", "B"),
        ("A. Aspirin\nB. Heparin\nC. Warfarin <- this\nD. Alteplase", "C"),
        ("- Aspirin\n- Heparin\n- Warfarin\n- Alteplase 👈", "D"),
        ("Aspirin - weak\nHeparin - fast, this one\nWarfarin - slow", "B"),
        ("A) Aspirin\nB) Heparin <-- my answer\nC) Warfarin", "B"),
        ("* Aspirin ← here\n* Heparin\n* Warfarin", "A"),
        ("1. Aspirin ⬅️\n2. Heparin ⬅️\n3. Warfarin", None),
        ("Aspirin - weak\nHeparin - fast, not this one\nWarfarin - slow", None),
        ("Aspirin - weak\nHeparin - fast, why this one?\nWarfarin - slow", None),
        ("Aspirin <- platelets\nHeparin <- thrombin\nWarfarin <- wrong", None),
    ],
)
def test_the_line_of_a_list_that_is_pointed_at_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is B.\n\nWait, let me check. It acts, so the answer stands. Aspirin", "B"),
        ("Answer: C. Let me double-check. Yes, my choice holds. Warfarin has", "C"),
        ("I choose D. However, let me look again. The answer is unchanged; alteplase is", "D"),
        ("The answer is A. Hmm, let me think. It is small. My answer remains the same. In", "A"),
        ("The answer is B.\nLet me verify this. The answer still stands. Heparin can be", "B"),
        ("The answer is C.\n\nActually, dose matters, and the answer does not change. With", "C"),
        ("The answer is B.\n\nWait, let me check. It is slow, so the answer", None),
        ("The answer is B. The answer stands. Wait, let me check. Aspirin may", None),
    ],
)  # fmt: skip
def test_an_answer_that_stands_after_a_check_counts_in_a_cut_text(
    text: str, label: str | None
) -> None:
    assert drug(text, is_cut=True) == label


ORGANS = {
    "A": "Gallbladder", "B": "Bone density", "C": "O negative", "D": "Pancreatic duct",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("its the gall bladder", "A"), ("gallblader? no", None), ("o negativ", "C"),
        ("bone densitiy, ofc", "B"), ("It is the pancraetic duct.", "D"), ("galbladder", "A"),
        ("The answer is gallbladdder.", "A"), ("bone denisty", "B"), ("o neggative it is", "C"),
        ("O positive", None), ("not the galbladder", None),
    ],
)  # fmt: skip
def test_an_options_word_with_one_slip_is_that_word(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(ORGANS)) == label


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("dysphasia", {"A": "Dysphagia", "B": "Ataxia"}),
        ("tracheostomy", {"A": "Tracheotomy", "B": "Intubation"}),
        ("cystine", {"A": "Cysteine", "B": "Glycine"}), ("adduction", {"A": "Abduction", "B": "F"}),
        ("atypical", {"A": "Typical", "B": "Mixed"}), ("peroneal", {"A": "Perineal", "B": "Ulnar"}),
        ("quinidine", {"A": "Quinine", "B": "Chloroquine"}),
    ],
)  # fmt: skip
def test_another_word_is_no_slip(text: str, options: dict[str, str]) -> None:
    assert read_choice(text, options_of(options)) is None
