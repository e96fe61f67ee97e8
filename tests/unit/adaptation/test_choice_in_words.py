"""Which option a text chooses, in longer and stranger words than those of `test_choice`."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.thinking import split_thinking

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Metoprolol", "E": "Hepatitis C"}
ERROR = {
    "A": "Note the error in the file",
    "B": "Call the pharmacist before the dose is given",
    "C": "Report the error to the board",
    "D": "Give the dose as it is written",
}

READ = [
    ("<answer> B <\\answer>", "B"),
    ("The most likely drug is warfarin.", "C"),
    ("Heparin. Aspirin does not help.", "B"),
    ("B is incorrect. C is correct.", "C"),
    ("The drug that helps is heparin, because it acts at once.", "B"),
    ("Looking at this case, heparin is indicated. Answer: B", "B"),
    ("The most likely answer is B. Heparin.", "B"),
    (
        "Given this picture, the most appropriate next step in management is:\n\nB. Heparin",
        "B",
    ),
    ("B. Heparin\n\nThe patient presents with..., A. Aspirin is not enough.", "B"),
    ("The answer is B: Heparin is indicated for acute PE.", "B"),
    ("Correct answer: B", "B"),
    ("Correct Answer: (B) Heparin", "B"),
    ("The correct choice is option (B).", "B"),
    ("Answer choice B is correct.", "B"),
    ("Choice B: Heparin. This is the correct answer because...", "B"),
    ("I would go with B.", "B"),
    ("My answer: B", "B"),
    ("My final answer is B.", "B"),
    ("> B", "B"),
    ("- B", "B"),
    ("B\n", "B"),
    ("b.heparin", "B"),
    ("B.Heparin", "B"),
    ("(b)", "B"),
    ("Selected option: B", "B"),
    ("Selected: B", "B"),
    ("Prediction: B", "B"),
    ("Option: B", "B"),
    ("choice: B", "B"),
    ("**Final Answer:** The final answer is **B**. I hope it is correct.", "B"),
    ("The best treatment is heparin (Option B).", "B"),
    ("Thus, the answer is likely B.", "B"),
    ("So the answer should be B) Heparin.", "B"),
    ("Hence, option B is the correct answer.", "B"),
    ("Hence option B.", "B"),
    ("Heparin (B)", "B"),
    ("Heparin is the correct answer.", "B"),
    ("The correct answer is heparin, which is choice B.", "B"),
    ("The answer is heparin.", "B"),
    ("It's B.", "B"),
    ("I believe the answer is B, though A is also plausible.", "B"),
    ("I believe the answer to be B.", "B"),
    ("The answer that best fits is B.", "B"),
    ("Among the options given, B is the best.", "B"),
    ("Out of these, (B) Heparin is the most appropriate treatment.", "B"),
    ("Given the above, the correct option would be B.", "B"),
    ("The answer is A, not B.", "A"),
    ("It is neither A nor B. The answer is C.", "C"),
    ("A is wrong. B is wrong. D is wrong. So C.", "C"),
    ("Not A, not B, so the answer must be C.", "C"),
    ("Eliminate A and B. Choose C.", "C"),
    ("The answer isn't A; it's C.", "C"),
    ("While A is tempting, C is the best choice.", "C"),
    ("I was going to say A, but I'll go with C.", "C"),
    ("Answer: C (Warfarin)", "C"),
    ("The answer is option C) Warfarin.</s>", "C"),
    ("ANSWER IS C", "C"),
    ("the answer is c", "C"),
    ("answer is (c) warfarin", "C"),
    ("The diagnosis is hepatitis C.", "E"),
    ("The answer is hepatitis C.", "E"),
    ("A) Aspirin", "A"),
    ("A.", "A"),
    ("A", "A"),
    ("Answer: A", "A"),
    ("Option A is correct.", "A"),
    ("<think>\nmaybe A\n</think>\n\nB", "B"),
    ("Answer\n======\nB", "B"),
    ("Answer：B", "B"),
    ("The answer is ‘B’.", "B"),
    ("The answer is “B”.", "B"),
    ("The answer is *B*.", "B"),
    ("The answer is __B__", "B"),
    ("\\[\\boxed{\\textbf{(B)}}\\]", "B"),
    ("\\boxed{B. Heparin}", "B"),
    ("$$\\boxed{\\text{B) Heparin}}$$", "B"),
    ("**The answer is:** \n\n**B**", "B"),
    ("1. The patient has PE.\n2. Heparin is first line.\n\n**Answer:** B", "B"),
    ('```json\n{\n  "explanation": "A is wrong",\n  "answer": "B"\n}\n```', "B"),
    ('{"step_by_step_thinking": "...", "answer_choice": "B"}', "B"),
    ('{"answer": ["B"]}', "B"),
    ('{"A": false, "answer": "B"}', "B"),
    (
        "Let's think step by step. Aspirin blocks COX. Heparin acts at once. Final answer is B",
        "B",
    ),
    ("The answer is B.\n\nA is incorrect because the answer is not A.", "B"),
    ("B (Heparin)", "B"),
    ("B: because it works", "B"),
    ("B, because it works", "B"),
    ("B – Heparin works immediately.", "B"),
    ("B is the answer", "B"),
    ("B is right", "B"),
    ("Option B", "B"),
    ("Option B: Heparin", "B"),
    ("option b", "B"),
    ("choice B", "B"),
    ("letter B", "B"),
    ("Answer B", "B"),
    ("The correct answer is letter B.", "B"),
    ("Sure! The answer is B.", "B"),
    ("Sure, here is my answer:\n\nB", "B"),
    ("Heparin\n\nHeparin works fast.", "B"),
    ("Treatment of choice: Heparin", "B"),
    ("The drug of choice is heparin.", "B"),
    ("The answer is C; A and B are wrong.", "C"),
    ("The answer is C, while A is also used.", "C"),
    ("The best answer is C. Both A and B are wrong.", "C"),
    ("C. Both A and B are wrong.", "C"),
    ("C is correct, A and B are incorrect.", "C"),
    ("Correct: C", "C"),
    ("The correct one is C.", "C"),
    ("The right answer would be C - Warfarin", "C"),
    ("**C** is the best answer.", "C"),
    ("The answer: C.", "C"),
    ("C).", "C"),
    ("C:", "C"),
    ("C\n\nC", "C"),
    ("C.\nC.\nC.", "C"),
    ("Answer: C\nAnswer: C\nAnswer: C", "C"),
    ("The options are aspirin, heparin, warfarin. The best treatment is heparin.", "B"),
    ("Reasoning: the patient has PE.\nAnswer: B\nConfidence: 90%", "B"),
    ("B\nConfidence: 90%", "B"),
    ("Answer: B (90% confidence)", "B"),
    ("[B]", "B"),
    ("{B}", "B"),
    ("<B>", "B"),
    ("Answer: <B>", "B"),
    ("Answer: [B]", "B"),
    ("The answer is [B] Heparin.", "B"),
    ("assistant\n\nB", "B"),
    ("Assistant: B", "B"),
    ("Response: B", "B"),
    ("Output: B", "B"),
    ("A: (B)", "B"),
    ("A: B", "B"),
    ("1. B", "B"),
    ("The final answer is (B) Heparin", "B"),
    ("Final Decision: B", "B"),
    ("In conclusion, B.", "B"),
    ("Conclusion: B", "B"),
    ("So the final answer is \n\nB", "B"),
    ("The best answer is therefore B.", "B"),
    ("The single best answer is B.", "B"),
    ("Best answer: B.", "B"),
    ("The correct answer to this question is B: Heparin.", "B"),
    ("Of the answer choices, B fits best. Answer: B.", "B"),
    ("The correct option among the given choices is B) Heparin", "B"),
    ("Answer is B.", "B"),
    ("answer = B", "B"),
    ("answer=B", "B"),
    ("Answer -> B", "B"),
    ("Answer => B", "B"),
    ("Answer – B", "B"),
    ("Answer - B", "B"),
    ("Ans: B", "B"),
    ("Ans B", "B"),
    ("the ans is B", "B"),
    ("The answer is\tB", "B"),
    ("The answer is...B", "B"),
    ("The answer is: B) Heparin. Because A) Aspirin is wrong.", "B"),
    ("The correct answer is not A but B.", "B"),
    ("The correct answer is not (A), but rather (B).", "B"),
    ("It's not A. It's B.", "B"),
    ("A would be wrong here; B is the correct answer.", "B"),
    ("Not A; rather B.", "B"),
    ("Correct answer is B, Heparin", "B"),
    ("Correct answer: B, because A is wrong", "B"),
    ("The most appropriate management is heparin.", "B"),
    ("The most likely option is B.", "B"),
    ("The most likely diagnosis is B.", "B"),
    ("The best next step is (B) Heparin.", "B"),
    ("The best initial treatment is B. Heparin", "B"),
    ("The next best step in management is:\n**B. Heparin**", "B"),
]

UNREADABLE = [
    "Aspirin (D)",
    "Heparin should be started. Aspirin should be given.",
    "Which answer is A?",
    "vitamin A",
    "(B) (C)",
    "The patient was given",
    "A and B are both correct.",
    "The answer could be A or B, depending on renal function.",
    "Without more information I cannot choose between A and B.",
    "Aspirin, heparin and warfarin are all used.",
    "A patient on",
    "Hepatitis A is the diagnosis.",
    "A 54-year-old man presents with chest pain.",
    "A: I do not know.",
    "As a doctor, I would need more information.",
    "Answer: All of the above",
    "Answer: None",
    "Answer: A B C D",
    "ABCD",
    "AB",
    "A, B and C",
    "A & B",
    "(A) and (C)",
    "The answer is C, A and B are wrong.",
    "A, B are both correct",
    "The answer is A, B.",
    "A) Aspirin\nB) Heparin\nC) Warfarin\nD) Metoprolol\nE) Hepatitis C\n",
    "Options:\nA. Aspirin\nB. Heparin\n",
    "The patient has a PE. The options include aspirin, heparin and warfarin.",
    "The patient is on warfarin. He has a PE. We should think about the next step",
    "The answer is unclear.",
    "The answer is A...or maybe B.",
    "I cannot determine whether A or B is correct.",
    "Either A or B.",
    "A? B?",
    "not B",
    "Not heparin.",
    "None of these",
    "The correct answer is F.",
    "The correct answer is none of the above.",
]

LONG = [
    "The nurse should call the pharmacist before the dose is given.\n\n"
    "The correct answer is: **B) Call the pharmacist before the dose is given**",
    "**Answer: B**\n\n**Explanation:**\nSafety comes first. Option A would be late. "
    "Option C is too much. Option D is unsafe.",
    "The correct answer is **(B) Call the pharmacist before the dose is given**.\n\n"
    "Here's why the other options are wrong:\n- **(A)** late\n- **(C)** too much\n- **(D)** unsafe",
    "## Step 1\nConsider the options.\n\n## Step 2\nWeigh them.\n\n"
    "The final answer is: $\\boxed{B}$",
    "Let's analyze each option:\n\n"
    "A. Note the error in the file - right, but late.\n\n"
    "B. Call the pharmacist before the dose is given - this is the best action.\n\n"
    "C. Report the error to the board - too much.\n\n"
    "D. Give the dose as it is written - unsafe.\n\nTherefore, the correct answer is B.",
]


def read(text: str, options: dict[str, str]) -> str | None:
    return read_choice(split_thinking(text)[0], options_of(options))


@pytest.mark.parametrize(("text", "letter"), READ, ids=[repr(text)[:60] for text, _ in READ])
def test_a_text_that_chooses(text: str, letter: str) -> None:
    assert read(text, DRUGS) == letter


@pytest.mark.parametrize("text", UNREADABLE, ids=[repr(text)[:60] for text in UNREADABLE])
def test_a_text_that_chooses_nothing_or_several(text: str) -> None:
    assert read(text, DRUGS) is None


@pytest.mark.parametrize("text", LONG, ids=[repr(text)[:60] for text in LONG])
def test_a_long_text_about_long_options(text: str) -> None:
    assert read(text, ERROR) == "B"


def test_an_options_text_in_other_words_follows_its_label() -> None:
    assert read("B. call a pharmacist first", ERROR) == "B"
    assert read("The answer is B. call a pharmacist first", ERROR) == "B"
    assert read("B. burgdorferi", ERROR) is None
    assert read("A file is kept", ERROR) is None


def test_letters_whose_texts_nobody_knows() -> None:
    options = options_among(["B"])
    assert read_choice("B) something else", options) == "B"
    assert read_choice("The correct answer is C. Klebsiella", options) == "C"
    assert read_choice("The answer is I.", options) == "I"
    assert read_choice("I think so", options) is None
    assert read_choice("B cells", options) is None


@pytest.mark.parametrize("right", ["urgent", "Emergency"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I choose urgent over emergency.", "urgent"),
        ("I choose emergency over urgent.", "emergency"),
        ("**Routine**", "routine"),
        ("urgent or routine", None),
        ("I cannot tell.", None),
    ],
)
def test_the_benchmarks_options_are_known_whichever_is_right(
    text: str, expected: str | None, right: str
) -> None:
    options = options_among([right], ("urgent", "emergency", "routine"))
    spelled = right if expected == right.lower() else expected
    assert read_choice(text, options) == spelled, "as the instance's reference spells it"


@pytest.mark.parametrize("right", ["Y", "N"])
@pytest.mark.parametrize(
    ("text", "expected"), [("Y", "Y"), ("The answer is (n).", "N"), ("A", None)]
)
def test_declared_letters_are_all_that_there_are(
    text: str, expected: str | None, right: str
) -> None:
    assert read_choice(text, options_among([right], ("Y", "N"))) == expected
