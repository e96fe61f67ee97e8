"""Ids are the same for the same content, everywhere and always."""

import dataclasses
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.ids import canonical_json, content_id, digest
from medhelm_spark.domain.run import AdapterSpec, AnswerForm

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    colour: Colour


def test_known_values_never_change() -> None:
    """Lakes contain these ids: another algorithm or encoding would ask every question again."""
    assert digest("") == "cae66941d9efbd404e4d88758ea67670"
    assert content_id("pubmed_qa", "1") == digest('["pubmed_qa","1"]')


def test_an_id_is_32_lower_case_hexadecimal_characters() -> None:
    assert len(content_id("a")) == 32
    assert set(content_id("a")) <= set("0123456789abcdef")


def test_canonical_json_sorts_keys_and_keeps_characters() -> None:
    assert canonical_json({"b": 1, "a": "é😀\n"}) == '{"a":"é😀\\n","b":1}'


def test_dataclasses_enums_sets_and_tuples_have_a_form() -> None:
    assert canonical_json(Point(x=1, colour=Colour.RED)) == '{"colour":"red","x":1}'
    assert canonical_json({"b", "a"}) == '["a","b"]'
    assert canonical_json((1, (2, None))) == "[1,[2,null]]"


def test_a_field_that_came_later_is_in_no_id_at_its_default() -> None:
    spec = AdapterSpec()
    before = {
        field.name: getattr(spec, field.name)
        for field in dataclasses.fields(AdapterSpec)
        if field.name != "answer_form"
    }
    assert content_id(spec) == content_id(before)
    forms = {content_id(dataclasses.replace(spec, answer_form=form)) for form in AnswerForm}
    assert len(forms) == len(AnswerForm)


def test_a_value_without_a_form_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="no canonical form for bytes"):
        content_id(b"patient text")


def test_the_border_between_parts_counts() -> None:
    ids = {content_id("a", "b"), content_id("ab"), content_id("a", "b", ""), content_id(["a", "b"])}
    assert len(ids) == 4


def test_numbers_and_their_text_differ() -> None:
    assert content_id(1) != content_id("1")
    assert content_id(None) != content_id("")


def test_lone_surrogates_and_null_bytes_have_an_id() -> None:
    assert digest("\ud800") != digest("\udfff")
    assert digest("a\0b") != digest("ab")


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert content_id(value) == content_id(dict(reversed(value.items())))


def test_another_process_makes_the_same_id() -> None:
    spec = AdapterSpec(instructions="Answer A or B.", stop_sequences=("\n",))
    program = (
        "from medhelm_spark.domain.ids import content_id\n"
        "from medhelm_spark.domain.run import AdapterSpec\n"
        "print(content_id(AdapterSpec(instructions='Answer A or B.', stop_sequences=('\\n',))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert run.stdout.strip() == content_id(spec)


def deployment(**changes: object) -> Deployment:
    args = {"base_url": "http://localhost:1", "revision": "abc", "quantization": "q8_0"}
    fixed = {"name": "local/x", "model": "org/x", "engine": "openai", "locality": Locality.LOCAL}
    serving = frozenset({"base_url"})
    return Deployment(**{**fixed, "args": args, "serving": serving, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"args": {"revision": "abd", "quantization": "q8_0"}},
        {"args": {"revision": "abc", "quantization": "q4_0"}},
        {"name": "local/y"},
        {"model": "org/y"},
        {"engine": "vllm"},
        {"serving": frozenset()},
    ],
)
def test_what_decides_an_answer_changes_the_identity(changes: dict[str, object]) -> None:
    assert deployment(**changes).identity != deployment().identity


@pytest.mark.parametrize(
    "changes",
    [
        {"args": {"base_url": "http://elsewhere:2", "revision": "abc", "quantization": "q8_0"}},
        {"max_concurrency": 64},
        {"locality": Locality.TENANT},
        {"origin": "site/model_deployments.yaml"},
    ],
)
def test_where_and_how_fast_it_is_served_does_not(changes: dict[str, object]) -> None:
    assert deployment(**changes).identity == deployment().identity
