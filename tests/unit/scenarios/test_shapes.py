"""What each shape makes of a row."""

from typing import Any

import pytest

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.scenarios import (
    EXPLANATIONS,
    PARSERS,
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    check_card,
    required_columns,
)
from medhelm_spark.scenarios.template import render, template_columns
from tests.unit.scenarios.cards import card
from tests.unit.scenarios.test_csv import HOSTILE

QUESTION = {"question": "Q", "answer": "A"}


def parse(of: ScenarioCard, **fields: object) -> ParsedInput:
    return PARSERS[of.shape].parse(Record(source_file="f", row=1, fields=fields), of)


def right_and_wrong(found: ParsedInput) -> list[tuple[str, bool]]:
    return [(reference.text, reference.is_correct) for reference in found.references]


def test_passage_with_labelled_sections() -> None:
    of = card(
        "multiple_choice",
        fields={**QUESTION, "context": "C", "labels": "L"},
        options={"choices": "yes|no|maybe", "passage_prefix": "Context: "},
    )
    found = parse(of, Q="Does it?", A="no", C=["One.", "Two."], L=["AIMS AND METHODS", "RESULTS"])
    assert found.input == ("Context: Aims And Methods. One.\nResults. Two.\n\nQuestion: Does it?\n")
    assert right_and_wrong(found) == [("yes", False), ("no", True), ("maybe", False)]
    with pytest.raises(BadRecord, match="uneven_lists"):
        parse(of, Q="q", A="no", C=["One."], L=[])
    with pytest.raises(BadRecord, match="unknown_answer"):
        parse(of, Q="q", A="No", C=["One."], L=["X"])


@pytest.mark.parametrize(
    ("form", "answer", "options"),
    [
        ("text", "b", ["a", "b", "c"]),
        ("text", "b", '["a", "b", "c"]'),
        ("letter", "B", ["a", "b", "c"]),
        ("letter", " B ", {"A": "a", "B": "b", "C": "c"}),
        ("letter", "2", '{"1": "a", "2": "b", "3": "c"}'),
        ("index", "1", ["a", "b", "c"]),
        ("index", 1, ["a", "b", "c"]),
        ("number", "2", ("a", "b", "c")),
    ],
)
def test_ways_to_name_the_answer(form: str, answer: object, options: object) -> None:
    of = card("multiple_choice", fields={**QUESTION, "options": "O"}, options={"answer_form": form})
    found = parse(of, Q="q", A=answer, O=options)
    assert found.input == "q"
    assert right_and_wrong(found) == [("a", False), ("b", True), ("c", False)]


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("letter", "D"),
        ("letter", "b"),
        ("index", "3"),
        ("index", "-1"),
        ("number", "0"),
        ("index", "1.0"),
    ],
)
def test_answers_that_name_no_option(form: str, answer: str) -> None:
    of = card("multiple_choice", fields={**QUESTION, "options": "O"}, options={"answer_form": form})
    with pytest.raises(BadRecord, match="unknown_answer"):
        parse(of, Q="q", A=answer, O=["a", "b", "c"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"A": "a", "O": ["a"]}, "missing_field"),
        ({"Q": None, "A": "a", "O": ["a"]}, "missing_field"),
        ({"Q": " \n", "A": "a", "O": ["a"]}, "empty_input"),
        ({"Q": "q", "A": "", "O": ["a"]}, "empty_answer"),
        ({"Q": "q", "A": "a", "O": "a"}, "not_a_list"),
        ({"Q": "q", "A": "a", "O": None}, "not_a_list"),
        ({"Q": "q", "A": "a", "O": ["a", None]}, "missing_field"),
        ({"Q": ["q"], "A": "a", "O": ["a"]}, "not_text"),
        ({"Q": True, "A": "a", "O": ["a"]}, "not_text"),
        ({"Q": "half \ud83d", "A": "a", "O": ["a"]}, "not_unicode"),
        ({"Q": float("nan"), "A": "a", "O": ["a"]}, "missing_field"),
    ],
)
def test_bad_rows_of_multiple_choice(fields: dict[str, object], reason: str) -> None:
    of = card("multiple_choice", fields={**QUESTION, "options": "O"})
    with pytest.raises(BadRecord, match=reason):
        parse(of, **fields)


def test_free_text_under_its_heading_from_either_column() -> None:
    of = card(
        "free_text",
        fields={"input": "src|dialogue", "reference": "tgt|note"},
        options={"heading": "Talk:"},
    )
    for fields in ({"src": "hi", "tgt": "N"}, {"dialogue": "hi", "note": "N"}):
        found = parse(of, **fields)
        assert found.input == "Talk:\n\nhi"
        assert found.references == (Reference(text="N", tags=("correct",)),)
    assert parse(card("free_text", fields={"input": "a"}), a="hi") == ParsedInput(input="hi")
    with pytest.raises(BadRecord, match="empty_answer"):
        parse(of, src="hi", tgt="")


def test_template_takes_hostile_values_as_they_are() -> None:
    template = "{{json}} $x {a}\\1{a.b}{a}"
    assert template_columns(template) == ("a", "a.b")
    for value in HOSTILE:
        text = render(template, {"a": value, "a.b": "{a}"})
        assert text == "{json} $x " + value + "\\1{a}" + value


def test_template_reaches_no_attribute_or_index() -> None:
    secret = type("Secret", (str,), {"inner": "leaked"})("x")
    for field in ("a.inner", "a[0]", "a.__class__", "0"):
        assert template_columns("{" + field + "}") == (field,)
        with pytest.raises(BadRecord, match="missing_field"):
            render("{" + field + "}", {"a": secret})


@pytest.mark.parametrize(
    "template", ["{", "}", "{a", "{}", "{a!r}", "{a:>9}", "{a:{b}}", "{a}{ }{}"]
)
def test_templates_that_are_refused(template: str) -> None:
    with pytest.raises(ConfigError, match="prompt template"):
        template_columns(template)


def tabular(**options: str) -> ScenarioCard:
    return card(options={"template": "Note: {note}", **options})


def test_tabular_references_and_id() -> None:
    found = parse(
        tabular(), note="n", correct_answer="001", incorrect_answers='["NA", 1.50, ""]', id="7"
    )
    assert found.input == "Note: n"
    assert found.source_id == "7"
    assert right_and_wrong(found) == [("001", True), ("NA", False), ("1.50", False), ("", False)]
    assert (
        parse(tabular(id_column="mrn"), note="n", correct_answer="a", id="7", mrn="x").source_id
        == "x"
    )
    assert parse(tabular(), note="n", correct_answer="a", incorrect_answers="").source_id is None


@pytest.mark.parametrize(
    "value", ["[", "no", '{"a": 1}', '"text"', "[[1]]", "[null]", "[true]", "3", 4]
)
def test_broken_incorrect_answers(value: object) -> None:
    with pytest.raises(BadRecord, match="broken_incorrect_answers"):
        parse(tabular(), note="n", correct_answer="a", incorrect_answers=value)


def test_only_a_jury_needs_no_answer() -> None:
    with pytest.raises(BadRecord, match="empty_answer"):
        parse(tabular(), note="n", correct_answer=" ")
    jury = card(metric="jury_score", options={"template": "{note}"})
    assert parse(jury, note="n").references == ()
    assert required_columns(jury) == ("note",)
    assert required_columns(tabular(id_column="mrn")) == ("note", "mrn", "correct_answer")


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        ("tabluar", {}, "unknown shape 'tabluar'. Did you mean 'tabular'"),
        ("tabular", {}, "template is missing"),
        ("free_text", {}, "input is missing"),
        ("free_text", {"fields": {"input": "a", "inptu": "b"}}, "unknown field 'inptu'"),
        (
            "free_text",
            {"fields": {"input": "a"}, "options": {"head": "b"}},
            "unknown option 'head'",
        ),
        ("multiple_choice", {"fields": QUESTION}, "give the options"),
        (
            "multiple_choice",
            {"fields": QUESTION, "options": {"choices": "a|b", "answer_form": "roman"}},
            "unknown answer_form 'roman'",
        ),
    ],
)
def test_cards_that_do_not_fit_their_shape(
    shape: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        check_card(card(shape, **changes))


def test_every_reason_is_explained() -> None:
    assert set(EXPLANATIONS) == set(BadReason)
