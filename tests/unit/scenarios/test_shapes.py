"""What each shape makes of a row."""

from typing import Any

import pytest

from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.scenarios import (
    PARSERS,
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


def parse(scenario: ScenarioCard, **fields: object) -> ParsedInput:
    return PARSERS[scenario.shape].parse(Record(source_file="f", row=1, fields=fields), scenario)


def right_and_wrong(found: ParsedInput) -> list[tuple[str, bool]]:
    return [(reference.text, reference.is_correct) for reference in found.references]


def test_passage_with_labelled_sections() -> None:
    scenario = card(
        "multiple_choice",
        fields={**QUESTION, "context": "C", "labels": "L"},
        options={"choices": "yes|no|maybe", "passage_prefix": "Context: "},
    )
    found = parse(
        scenario, Q="Does it?", A="no", C=["One.", "Two."], L=["AIMS AND METHODS", "RESULTS"]
    )
    assert found.input == ("Context: Aims And Methods. One.\nResults. Two.\n\nQuestion: Does it?\n")
    assert right_and_wrong(found) == [("yes", False), ("no", True), ("maybe", False)]
    with pytest.raises(BadRecord, match="uneven_lists"):
        parse(scenario, Q="q", A="no", C=["One."], L=[])
    with pytest.raises(BadRecord, match="unknown_answer"):
        parse(scenario, Q="q", A="No", C=["One."], L=["X"])


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
    scenario = card(
        "multiple_choice", fields={**QUESTION, "options": "O"}, options={"answer_form": form}
    )
    found = parse(scenario, Q="q", A=answer, O=options)
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
    scenario = card(
        "multiple_choice", fields={**QUESTION, "options": "O"}, options={"answer_form": form}
    )
    with pytest.raises(BadRecord, match="unknown_answer"):
        parse(scenario, Q="q", A=answer, O=["a", "b", "c"])


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
        ({"Q": b"\xff", "A": "a", "O": ["a"]}, "not_text"),
        ({"Q": "half \ud83d", "A": "a", "O": ["a"]}, "not_unicode"),
        ({"Q": float("nan"), "A": "a", "O": ["a"]}, "missing_field"),
    ],
)
def test_bad_rows_of_multiple_choice(fields: dict[str, object], reason: str) -> None:
    scenario = card("multiple_choice", fields={**QUESTION, "options": "O"})
    with pytest.raises(BadRecord, match=reason):
        parse(scenario, **fields)


def test_free_text_under_its_heading_from_either_column() -> None:
    scenario = card(
        "free_text",
        fields={"input": "src|dialogue", "reference": "tgt|note"},
        options={"heading": "Talk:"},
    )
    for fields in ({"src": "hi", "tgt": "N"}, {"dialogue": "hi", "note": "N"}):
        found = parse(scenario, **fields)
        assert found.input == "Talk:\n\nhi"
        assert found.references == (Reference(text="N", tags=("correct",)),)
    assert parse(card("free_text", fields={"input": "a"}), a="hi") == ParsedInput(input="hi")
    with pytest.raises(BadRecord, match="empty_answer"):
        parse(scenario, src="hi", tgt="")


def test_template_takes_hostile_values_as_they_are() -> None:
    template = "{{json}} $x {a}\\1{a.b}{a}"
    assert template_columns(template) == ("a", "a.b")
    for value in HOSTILE:
        text = render(template, {"a": value, "a.b": "{a}"})
        assert text == "{json} $x " + value + "\\1{a}" + value


@pytest.mark.attack("inputs", "a prompt template that names attributes or items of a value")
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


def test_a_row_without_an_id_has_none_where_a_column_of_ids_is_named() -> None:
    """Its row's number may be the id of another row."""
    with pytest.raises(BadRecord, match="empty_id"):
        parse(tabular(id_column="mrn"), note="n", correct_answer="a", id="7")


@pytest.mark.parametrize(
    "value", ["[", "no", '{"a": 1}', '"text"', "[[1]]", "[null]", "[{}]", "3", 4]
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


def test_a_template_stands_for_the_question() -> None:
    scenario = card(
        "multiple_choice",
        fields={"answer": "A"},
        options={"template": "{Q}: {L}", "choices": "yes|no", "answers": "1=yes|0=no"},
    )
    assert required_columns(scenario) == ("A", "Q", "L")
    found = parse(scenario, Q="q", L=["a", "b"], A=" 0")
    assert found.input == "q: a\nb"
    assert right_and_wrong(found) == [("yes", False), ("no", True)]
    for answer in ("2", "", True):
        with pytest.raises(BadRecord, match=r"unknown_answer|empty_answer"):
            parse(scenario, Q="q", L="l", A=answer)
    truth = card(
        "multiple_choice",
        fields=scenario.fields,
        options={**scenario.options, "answers": "True=yes"},
    )
    assert right_and_wrong(parse(truth, Q="q", L="l", A=True))[0] == ("yes", True)


def test_options_from_columns_and_from_a_list_of_objects() -> None:
    columns = {"question": "Q", "answer": "A", "option.A": "a", "option.B": "b"}
    scenario = card(
        "multiple_choice", fields=columns, options={"answer_form": "letter", "trim": '"'}
    )
    found = parse(scenario, Q="q", A="B", a='one"\n', b=' "two"')
    assert right_and_wrong(found) == [("one", False), (' "two', True)]
    with pytest.raises(BadRecord, match="missing_field"):
        parse(scenario, Q="q", A="B", a="one")
    keyed = {"answer_form": "letter", "option_key": "id", "option_text": "text"}
    scenario = card("multiple_choice", fields={**QUESTION, "options": "O"}, options=keyed)
    rows = [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]
    assert right_and_wrong(parse(scenario, Q="q", A="2", O=rows)) == [("x", False), ("y", True)]
    for bad, reason in (([{"id": "1"}], "missing_field"), (["x"], "not_a_list")):
        with pytest.raises(BadRecord, match=reason):
            parse(scenario, Q="q", A="1", O=bad)


CORRECTION = {"input": "S", "flag": "F", "sentence_id": "I", "correction": "C"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"S": "0 a.", "F": "2"}, "unknown_answer"),
        ({"S": "0 a.", "F": ""}, "empty_answer"),
        ({"S": "0 a.", "F": "1", "I": "-1", "C": "b."}, "unknown_answer"),
        ({"S": "0 a.", "F": "1", "I": "0", "C": " "}, "empty_answer"),
        ({"S": " ", "F": "0"}, "empty_input"),
    ],
)
def test_bad_rows_of_error_correction(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        parse(card("error_correction", fields=CORRECTION), **fields)


def test_error_correction() -> None:
    scenario = card("error_correction", fields=CORRECTION)
    assert right_and_wrong(parse(scenario, S="0 a.\n1 b.\n", F="1", I="1", C="c.")) == [
        ("1 c.", True)
    ]
    right = parse(scenario, S="0 a.\n1 b.\n", F="0", I="-1", C="NA")
    assert (right.input, right_and_wrong(right)) == ("0 a.\n1 b.", [("CORRECT", True)])


@pytest.mark.parametrize("weight", ["x", "-1", "nan", "inf"])
def test_weights_that_are_none(weight: str) -> None:
    scenario = card(
        "panel", fields={"weight.no": "n", "weight.yes": "y"}, options={"template": "{q}"}
    )
    with pytest.raises(BadRecord, match="unknown_answer"):
        parse(scenario, q="q", n="1", y=weight)


def test_free_text_from_a_template_with_the_reference_cut_out() -> None:
    scenario = card(
        "free_text",
        fields={"reference": "r"},
        options={"template": "<{t}>", "cut_reference": "t"},
    )
    found = parse(scenario, t="one two one", r="two")
    assert (found.input, right_and_wrong(found)) == ("<one  one>", [("two", True)])
    constant = card("free_text", options={"template": "{t}", "reference_text": "0"})
    assert right_and_wrong(parse(constant, t="x")) == [("0", True)]
    with pytest.raises(BadRecord, match="empty_input"):
        parse(constant, t="  ")


def test_tables_of_a_schema_without_tables_make_no_question() -> None:
    scenario = card("text_to_sql", fields={"question": "q", "query": "s", "schema": "d"})
    with pytest.raises(BadRecord, match="empty_input"):
        parse(scenario, q="how many?", s="SELECT 1", d="DROP TABLE x;")
