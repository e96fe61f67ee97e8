"""Answers read by a declared method: values out of JSON and patterns, words, letters."""

import time

import pytest

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import STRICT, AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Iron"}
CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def json_field(field: str) -> AnswerExtraction:
    return AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field=field)


def regex(pattern: str) -> AnswerExtraction:
    return AnswerExtraction(method=ExtractionMethod.REGEX, pattern=pattern)


@pytest.mark.parametrize("text", ["B", " B. ", "The answer is (B).", "", "{}"])
def test_strict_leaves_the_text_as_it_is(text: str) -> None:
    assert read_answer(text, STRICT, output_mapping=DRUGS) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "12 mg"}', "12 mg"),
        ('Here it is:\n```json\n{"answer": "12 mg", "why": "weight"}\n```\nDone.', "12 mg"),
        ('{"answer": 12.5}', "12.5"),
        ('{"answer": 4.20}', "4.20"),
        ('{"answer": -0.000020}', "-0.000020"),
        ('{"answer": 1.0E2}', "1.0E2"),
        ('{"answer": [4.20, {"low": 3.10}]}', '[4.20, {"low": 3.10}]'),
        ("{'answer': 4.20}", "4.20"),
        ("{'answer': [-4.20]}", "[-4.20]"),
        ('{"answer": 4.20, "why": "the weigh', "4.20"),
        ('{"answer": true}', "true"),
        ('{"answer": ["a", "b"]}', '["a", "b"]'),
        ('{"why": "line\nbreak", "answer": "x"}', "x"),
        ('{"answer": "draft"} and finally {"answer": "12 mg"}', "12 mg"),
        ('{"answer": "12 mg", "others": [{"answer": "1 mg"}]}', "12 mg"),
        ('{"answer": "12 mg", "why": "the weigh', "12 mg"),
        ('{"answer": "12 mg", "why": "so",}', "12 mg"),
        ("{'answer': '12 mg', 'why': 'so'}", "12 mg"),
        ('{"Answer": "12 mg"}', "12 mg"),
        ('{"answer": "12 mg"} in the form {"answer": "<dose>"}', "12 mg"),
        ('{"answer": "12 mg"}\n\nExample of the format: {"answer": "1 mg"}', "12 mg"),
        ('{"answer": "..."}', None),
        ('{"answer": null}', None),
        ('{"answer": ""}', None),
        ('{"answer": "12 m', None),
        ('{"result": "12 mg"}', None),
        ("answer: 12 mg", None),
        ("[1, 2]", None),
        ("", None),
    ],
)
def test_a_json_field(text: str, expected: str | None) -> None:
    assert read_answer(text, json_field("answer"), output_mapping={}) == expected


def test_a_path_goes_into_objects() -> None:
    text = '{"result": {"code": "I10", "answer": "x"}}'
    assert read_answer(text, json_field("result.code"), output_mapping={}) == "I10"
    assert read_answer('{"a.b": "1"}', json_field("a.b"), output_mapping={}) == "1"
    assert read_answer(text, json_field("result.none"), output_mapping={}) is None


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"grade ([0-4])", "grade 2", "2"),
        (r"grade ([0-4])", "Perhaps grade 1. No: grade 3.", "3"),
        (r"[0-4]", "3 of 4", "4"),
        (r"score (\d)|stage (\d)", "stage 2", "2"),
        (r"grade ([0-4])", "no grade", None),
        (r"grade (\d?)", "grade ", None),
    ],
)
def test_a_pattern(pattern: str, text: str, expected: str | None) -> None:
    assert read_answer(text, regex(pattern), output_mapping={}) == expected


@pytest.mark.parametrize("text", ["b", "B) Heparin", "Heparin", "(B)"])
def test_a_value_is_an_option_where_options_were_shown(text: str) -> None:
    quoted = f'{{"answer": "{text}"}}'
    assert read_answer(quoted, json_field("answer"), output_mapping=DRUGS) == "B"
    assert read_answer(f"Answer: {text}", regex("Answer: (.*)"), output_mapping=DRUGS) == "B"
    assert read_answer("Answer: x", regex("Answer: (.*)"), output_mapping=DRUGS) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", "yes"),
        ("Yes.", "yes"),
        ("**No**", "no"),
        ("No, mitochondria play a role in it.", "no"),
        ("No, no, no", "no"),
        ("Yes, there is no doubt about it.", "yes"),
        ("Yes mitochondria do that.", "yes"),
        ("Answer: yes.", "yes"),
        ("The answer is no.", "no"),
        ("The answer is not yes. The answer is no.", "no"),
        ("Final answer: **maybe**", "maybe"),
        ("\\boxed{yes}", "yes"),
        ('{"answer": "no", "why": "Yes was my first thought."}', "no"),
        ('{"answer": true}', "yes"),
        ("The trial was small.\n\nNo", "no"),
        ("I would say yes.", "yes"),
        ("Based on the abstract, no.", "no"),
        ("The trial was small. No.", "no"),
        ('{"answer": "no"}', "no"),
        ('{"answer_choice": "no", "why": "No difference was found."}', "no"),
        ("So it is a no.", "no"),
        ("Some would say yes, others no.", None),
        ("True", "yes"),
        ("Maybe", "maybe"),
        ("Yes, no", None),
        ("Yes and no", None),
        ("Yes/No", None),
        ("yes or no", None),
        ("No evidence was found in the trial.", None),
        ("There is no evidence.", None),
        ("The answer is not yes.", None),
        ("It cannot be determined.", None),
        ("", None),
    ],
)
def test_yes_and_no(text: str, expected: str | None) -> None:
    assert read_answer(text, YES_NO, output_mapping={}, references=["yes", "no"]) == expected
    options = {"A": "yes", "B": "no", "C": "maybe"}
    letters = {text: letter for letter, text in options.items()}
    letter = None if expected is None else letters[expected]
    assert read_answer(text, YES_NO, output_mapping=options) == letter
    assert read_answer(text, CHOICE, output_mapping=options) == letter


def test_a_word_is_given_as_the_references_spell_it() -> None:
    assert read_answer("yes, surely", YES_NO, output_mapping={}, references=["Yes"]) == "Yes"
    assert read_answer("no", YES_NO, output_mapping={}, references=["Yes"]) == "no"
    assert read_answer("Yes", YES_NO, output_mapping={}, references=["True", "False"]) == "yes"
    assert read_answer("False.", YES_NO, output_mapping={}, references=["True", "False"]) == "False"


def test_the_letters_of_a_benchmark_that_names_the_right_one_only() -> None:
    def letter(text: str, *references: str, question: str = "") -> str | None:
        return read_answer(
            text, CHOICE, output_mapping={}, references=references, question=question
        )

    assert letter("The answer is (C).", "B") == "C"
    assert letter("The answer is (k).", "B") is None
    assert letter("The answer is K.", "K") == "K"
    assert letter("The answer is (C).", "b", "c") == "c"
    assert letter("2", "1", "2", "3") == "2"
    question = "Which?\nA. aspirin\nB. heparin\nC. iron\n\nReply with a letter."
    assert letter("It should be heparin.", "B", question=question) == "B"
    assert letter("D", "B", question=question) is None
    inline = "Which? Answer Choices: (A) aspirin (B) heparin (C) iron"
    assert letter("Iron.", "B", question=inline) == "C"
    assert letter("B. iron", "B", question=inline) is None


def test_references_that_are_texts_are_the_options() -> None:
    words = ["urgent", "emergency", "routine"]

    def word(text: str) -> str | None:
        return read_answer(text, CHOICE, output_mapping={}, references=words)

    assert word("Urgent: see a doctor today") == "urgent"
    assert word("This is an emergency.") == "emergency"
    assert word("This is not an emergency.") is None
    assert word("Act urgently.") is None
    assert word("urgent or routine") is None
    assert word("The answer is routine. Nothing urgent was told.") == "routine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is urgent.", "urgent"),
        ("Not urgent.", None),
        ("The patient should be seen today.", None),
        ("No fracture.", None),
    ],
)
def test_a_row_may_have_the_right_answer_alone(text: str, expected: str | None) -> None:
    assert read_answer(text, CHOICE, output_mapping={}, references=["urgent"]) == expected
    assert read_answer(text, CHOICE, output_mapping={"A": "urgent"}) == (expected and "A")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("blank", ["...", "**", "\u200b", "\ufeff"])
def test_an_answer_without_a_plain_text_names_nothing(blank: str) -> None:
    for text, expected in (("She is stable.\nSee her today.", None), ("Heparin", "heparin")):
        references = ["heparin", blank, "iron"]
        assert read_answer(text, CHOICE, output_mapping={}, references=references) == expected
        assert read_answer(text, CHOICE, output_mapping={}, references=[blank]) is None


@pytest.mark.parametrize("option", ["[image]", ""])
def test_options_that_all_have_the_same_text_are_read_by_their_letters(option: str) -> None:
    options = dict.fromkeys("ABCD", option)
    for text, expected in (("It depends on what is shown.", None), ("The answer is C.", "C")):
        assert read_answer(text, CHOICE, output_mapping=options) == expected


def test_options_that_share_a_text_or_hold_another() -> None:
    options = {"A": "hepatitis", "B": "viral hepatitis", "C": "same", "D": "same", "E": ""}
    assert read_answer("This is viral hepatitis.", CHOICE, output_mapping=options) == "B"
    assert read_answer("This is hepatitis.", CHOICE, output_mapping=options) == "A"
    assert read_answer("same", CHOICE, output_mapping=options) is None
    assert read_answer("D) same", CHOICE, output_mapping=options) == "D"
    assert read_answer("", CHOICE, output_mapping=options) is None


def test_numbers_as_options_are_not_read_inside_other_numbers() -> None:
    options = {"A": "5 mg", "B": "2.5 mg", "C": "0.5"}
    assert read_answer("2.5 mg", CHOICE, output_mapping=options) == "B"
    assert read_answer("One gives 2.5 mg.", CHOICE, output_mapping=options) == "B"
    assert read_answer("0.55", CHOICE, output_mapping=options) is None


HOSTILE = [
    "(" * 5_000,
    "{" * 5_000,
    '{"a":' * 5_000,
    "answer " * 5_000,
    "answer is " * 5_000,
    "A " * 5_000,
    "A, " * 5_000,
    "**" * 5_000,
    "\\boxed{" * 5_000,
    "<a " * 5_000,
    "option A " * 5_000,
    "the correct " * 5_000,
    "not " * 5_000,
    "\n" * 10_000,
    " " * 10_000 + "x",
    "aspirin " * 5_000,
    "final answer\n" * 5_000,
    "B.\n" * 5_000,
    "-\n" * 5_000,
    "答案" * 5_000,
    "answer: " * 5_000,
    '"answer": ' * 5_000,
    '{"answer": "B" ' * 5_000,
    "so b, " * 5_000,
    "aspirin is correct " * 3_000,
    "\n \n" * 10_000,
    "no sign of " * 5_000,
    "the least likely answer " * 3_000,
    "the answer is b. however, " * 3_000,
    "a in adults and " * 3_000,
    "none of " * 5_000,
    "let me reconsider. " * 3_000,
    "{'A': 1} " * 5_000,
    '{"A": 0.5} ' * 5_000,
    "1. " * 5_000,
    "A: " * 5_000,
]


HOSTILE_CASES = [
    *(pytest.param(CHOICE, text, id=f"choice-{text[:12]!r}") for text in HOSTILE),
    *(
        pytest.param(json_field("answer"), text, id=f"json_field-{text[:12]!r}")
        for text in HOSTILE
        if set(text) & set("{\"'")  # elsewhere no object is looked for
    ),
]


@pytest.mark.parametrize(("how", "text"), HOSTILE_CASES)
def test_hostile_text_is_read_in_linear_time(how: AnswerExtraction, text: str) -> None:
    started = time.process_time()
    read_answer(text, how, output_mapping=DRUGS)
    assert time.process_time() - started < 2.0
