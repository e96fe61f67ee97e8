"""Files into dataclasses: strict types, unknown keys, broken YAML."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.config.loader import load_yaml, validate
from medhelm_spark.config.yaml_text import parse_yaml
from medhelm_spark.errors import ConfigError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    title: str
    colour: Colour = Colour.RED
    ratio: float = 1.0
    parts: tuple[Part, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
    best: Part | None = None
    is_open: bool = False


def test_reads_nested_dataclasses_enums_and_tuples(write) -> None:
    path = write(
        "a.yaml", "title: t\ncolour: blue\nratio: 2\nparts: [{name: p}]\nbest: {name: q}\n"
    )
    assert load_yaml(path, Whole) == Whole(
        title="t", colour=Colour.BLUE, ratio=2.0, parts=(Part(name="p"),), best=Part(name="q")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: 1", "title is 1; allowed: text (put it in quotes)."),
        ("title: true", "title is True; allowed: text (put it in quotes)."),
        ("title:", "title is empty; allowed: text (put it in quotes)."),
        ("title: t\ncolour: green", "colour is 'green'; allowed: 'red' or 'blue'."),
        ("title: t\nratio: '2'", "ratio is '2'; allowed: a number."),
        ("title: t\nis_open: 1", "is_open is 1; allowed: true or false."),
        ("title: t\nis_open: 'yes'", "is_open is 'yes'; allowed: true or false."),
        ("title: t\nparts: [{name: p, size: true}]", "parts[0].size is True; allowed: a whole"),
        ("title: t\nparts: [{name: p, size: 1.5}]", "parts[0].size is 1.5; allowed: a whole"),
        ("title: t\nparts: {name: p}", "parts is a mapping with keys name; allowed: a list."),
        ("title: t\nparts: [p]", "parts[0] is 'p'; allowed: a mapping of keys to values."),
        ("title: t\nextra: {a: 3}", "extra.a is 3; allowed: text (put it in quotes)."),
        ("title: t\nextra: [a]", "extra is a list of 1; allowed: a mapping of keys to values."),
        ("colour: red", "title is missing."),
        ("", "the document is empty; allowed: a mapping of keys to values."),
        ("- a", "the document is a list of 1; allowed: a mapping of keys to values."),
        ("title: t\ncolor: red", "unknown key color; did you mean 'colour'? allowed: title, col"),
        ("title: t\nparts: [{nam: p}]", "unknown key parts[0].nam; did you mean 'name'? allowed: "),
        ("title: t\nbest: {name: p, sise: 1}", "unknown key best.sise; did you mean 'size'?"),
        ("title: t\nxyzzy: 1", "unknown key xyzzy; allowed: title, colour"),
    ],
)
def test_names_file_key_received_and_allowed(write, text: str, message: str) -> None:
    path = write("a.yaml", text)
    with pytest.raises(ConfigError) as caught:
        load_yaml(path, Whole)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_misspelled_key_is_named_before_the_one_it_leaves_missing(write) -> None:
    with pytest.raises(ConfigError, match=r"unknown key titel; did you mean 'title'\?.*1 more"):
        load_yaml(write("a.yaml", "titel: t"), Whole)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("title: [a", ", line "),
        ("title: t\n  colour: red\n", ", line 2, column 9: "),
        ("title: t\ntitle: u\n", ", line 2, column 1: not valid YAML: a key is given twice."),
        ("best: {name: a, name: b}", ", line 1, column 17: not valid YAML: a key is given twice."),
        ("{[a]: b}", "not valid YAML: a key must be plain text"),
        ("title: \x00", "not valid YAML"),
    ],
)
def test_broken_yaml_gives_file_line_and_column(write, text: str, position: str) -> None:
    path = write("a.yaml", text)
    with pytest.raises(ConfigError) as caught:
        load_yaml(path, Whole)
    assert str(path) in str(caught.value)
    assert position in str(caught.value)


@pytest.mark.attack("rest", "a file of data in place of configuration, quoted in the error")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"MRN-0042": {"note": "Jane Roe"}, "MRN-0043": 1}',
            "has no known key (2 keys); allowed: title",
        ),
        ("MRN-0042: Jane Roe", "has no known key (1 key); allowed: title, colour, "),
        ("Jane Roe, MRN-0042", "the document is a text of 18 characters; allowed: a mapping of"),
        ('[{"patient": "MRN-0042"}]', "the document is a list of 1; allowed: a mapping"),
        ("0042.5", "the document is a text of 6 characters"),
        ("42", "the document is a number; allowed: a mapping"),
        ("true", "the document is true or false; allowed: a mapping"),
        ("MRN-0042: a\nMRN-0042: b", ", line 2, column 1: not valid YAML: a key is given twice."),
        ("*MRN-0042", ", line 1, column 1: not valid YAML: found undefined alias."),
        ("- &MRN-0042 a\n- &MRN-0042 b", "not valid YAML: second occurrence."),
        ("a: !<MRN-0042> 3", "not valid YAML: could not determine a constructor for the tag."),
        ("a: !MRN-0042!x 3", "not valid YAML: found undefined tag handle."),
        ("MRN-0042: 'a' Jane", "line 1, column 15: not valid YAML"),
        ("{MRN-0042: Jane Roe", "not valid YAML"),
        ("@MRN-0042", "not valid YAML"),
    ],
)
def test_data_in_place_of_configuration_is_not_quoted(write, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_yaml(write("a.yaml", text), Whole)
    assert message in str(caught.value)
    assert not [word for word in ("MRN", "0042", "Jane", "Roe") if word in str(caught.value)]


def test_one_known_key_makes_a_document_ours(write) -> None:
    for text in ("title: t\nMRN: 1", "colours: red\nMRN: 1\ntitle: t"):
        with pytest.raises(ConfigError, match="unknown key "):
            load_yaml(write("a.yaml", text), Whole)


def test_absent_and_undecodable_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_yaml(tmp_path / "none.yaml", Whole)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_yaml(tmp_path, Whole)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("title: é".encode("latin-1"))
    with pytest.raises(ConfigError, match="byte 7 is not UTF-8"):
        load_yaml(latin, Whole)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: t")
    assert load_yaml(path, Whole).title == "t"


@pytest.mark.parametrize("text", ["no", "yes", "on", "off", "007", "12:30", "2024-05-13", "1_000"])
def test_what_looks_like_text_stays_text(text: str) -> None:
    assert parse_yaml(f"key: {text}", "test") == {"key": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("-3", -3), ("1.5", 1.5), ("1e-3", 0.001), ("true", True), ("~", None), ("", None)],
)
def test_plain_numbers_booleans_and_null(text: str, value: object) -> None:
    assert parse_yaml(f"key: {text}", "test") == {"key": value}


def test_explicit_tags_that_make_no_plain_value_are_refused() -> None:
    data = parse_yaml("title: !!binary aGk=", "test")
    with pytest.raises(ConfigError, match="no plain text or number"):
        validate(data, Whole, "test")
    with pytest.raises(ConfigError, match="not valid YAML"):
        parse_yaml("title: !!python/object:os.system {}", "test")


def test_a_secret_inside_a_misplaced_mapping_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        validate({"title": {"api_key": "sk-123"}}, Whole, "test")
    assert "sk-123" not in str(caught.value)


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Z"])))
def test_any_quoted_text_survives(text: str) -> None:
    quoted = text.replace("'", "''")
    data = parse_yaml(f"title: '{quoted}'", "test")
    assert isinstance(data["title"], str)
    assert validate(data, Whole, "test").title.split() == text.split()


@pytest.mark.attack("inputs", "YAML and HOCON of 50,000 brackets")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "a: " + "{a: " * 50_000,
        "- " * 50_000,
        "? " * 50_000,
        "\n".join(" " * n + "a:" for n in range(500)),
    ],
)
def test_a_deep_document_ends_in_a_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="nested more than 100 levels deep"):
        parse_yaml(text, "x.yaml")
