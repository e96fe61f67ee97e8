"""HELM's run-entry grammar and HOCON files."""

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.run import RunEntry
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.run_entries import (
    conf_folder,
    load_conf,
    load_confs,
    parse_entry,
    parse_flags,
    parse_value,
    up_to_priority,
)


@pytest.mark.parametrize(
    ("text", "name", "args"),
    [
        ("pubmed_qa", "pubmed_qa", {}),
        ("pubmed_qa:model=a/b", "pubmed_qa", {"model": "a/b"}),
        ("x:n=3,t=0.5,s=abc", "x", {"n": 3, "t": 0.5, "s": "abc"}),
        ("x:n=-1,e=1e3", "x", {"n": -1, "e": 1000.0}),
        ("x:model=ollama/qwen2.5:7b", "x", {"model": "ollama/qwen2.5:7b"}),
        ("x:path=a=b", "x", {"path": "a=b"}),
        (" x : a = 1 , b = 2 ", "x", {"a": 1, "b": 2}),
        ("x:flag=true,none=None", "x", {"flag": "true", "none": "None"}),
        ("x:v=nan,w=inf", "x", {"v": "nan", "w": "inf"}),
    ],
)
def test_grammar(text: str, name: str, args: dict[str, object]) -> None:
    assert parse_entry(text, where="flag") == RunEntry(name=name, args=args, where="flag")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no name"),
        (":model=a/b", "has no name"),
        ("x:", "nothing after it"),
        ("x:a=1,", "nothing after it"),
        ("x:a=1,,b=2", "nothing after it"),
        ("x:a", "has 'a' where key=value is expected"),
        ("x:a=", "has 'a=' where key=value is expected"),
        ("x:=1", "has the key ''"),
        ("x:a b=1", "has the key 'a b'"),
        ("x:a=1,a=2", "gives 'a' twice"),
    ],
)
def test_broken_entries_say_where_and_what(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_flags(["good", text])
    assert str(caught.value).startswith(f"--run-entries: run entry {text!r}")
    assert message in str(caught.value)


@given(st.integers())
def test_whole_numbers_are_read_back(number: int) -> None:
    assert parse_value(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_are_read_back(number: float) -> None:
    assert parse_value(str(number)) == number


KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z][A-Za-z/._:=-]{0,8}[A-Z]", fullmatch=True)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5))
def test_what_is_written_by_the_grammar_is_read_back(args: dict[str, str]) -> None:
    text = "name:" + ",".join(f"{key}={value}" for key, value in args.items())
    assert parse_entry(text, where="flag").args == {k: parse_value(v) for k, v in args.items()}


CONF = """
# a comment
entries: [
  {description: "one:model=acme/small", priority: 1}, // another
  {"description": "two", priority: 3, groups: ["g", "h"],}
  {description: "three"}
]
"""


def test_hocon_with_comments_and_missing_commas(write) -> None:
    path = write("a.conf", CONF)
    one, two, three = load_conf(path)
    assert one == RunEntry(
        name="one", args={"model": "acme/small"}, priority=1, where=f"{path}:entries[0]"
    )
    assert (two.groups, two.priority) == (("g", "h"), 3)
    assert three.priority is None
    assert conf_folder(one) == path.parent
    assert conf_folder(parse_entry("x", where="--run-entries")) is None


def test_files_are_concatenated(write) -> None:
    first = write("a.conf", 'entries: [{description: "x"}]')
    second = write("b.conf", 'entries: [{description: "y"}]')
    assert [entry.name for entry in load_confs([first, second])] == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('entries: [{description: "x"', ", line 1, column 28: not valid HOCON"),
        ("{", ", line 1, column 2: not valid HOCON"),
        ("a: 1\nentries = ${a}", ", line 2: a substitution, ${...}, is not read here"),
        ('include "base.conf"\nentries: []', ", line 1: an include, is not read here"),
        ("", "has no key 'entries'; it has 0 keys."),
        ("entires: []", "has no key 'entries'; it has 1 key."),
        ("[1, 2]", "is a list; allowed: keys and values"),
        ("entries: 3", "entries is 3; allowed: a list"),
        ('entries: ["x"]', "entries[0] is 'x'; allowed: a mapping"),
        ("entries: [{priority: 1}]", "entries[0].description is missing"),
        ('entries: [{descripton: "x"}]', "did you mean 'description'?"),
        ('entries: [{description: "x", priority: "1"}]', "priority is '1'; allowed: a whole"),
        ('entries: [{description: "x"}, {description: "y:"}]', ":entries[1]: run entry 'y:' has"),
    ],
)
def test_broken_files_name_the_file_and_print_nothing(write, capfd, text, message) -> None:
    path = write("a.conf", text)
    with pytest.raises(ConfigError) as caught:
        load_conf(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.attack("rest", "a file of data in place of run entries, quoted in the error")
@pytest.mark.parametrize(
    "text",
    [
        '{"MRN-0042": {"note": "Jane Roe"}}',
        "a: 1\nb = ${MRN-0042}",
        "MRN-0042 = {a: ${MRN-0042.b}, b: ${MRN-0042.a}}",
        "MRN-0042 = {a: 1}\nb = [${MRN-0042}] Jane",
        "Jane Roe, MRN-0042 has fever",
        "MRN-0042: [Jane",
    ],
)
def test_data_in_place_of_run_entries_is_not_quoted(write, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_conf(write("a.conf", text))
    assert not [word for word in ("MRN", "0042", "Jane", "Roe") if word in str(caught.value)]


def test_priority_keeps_what_is_at_most_it_and_what_has_none() -> None:
    entries = [parse_entry(f"e{p}", where="", priority=p) for p in (1, 2, 3, None)]
    assert [entry.name for entry in up_to_priority(entries, 2)] == ["e1", "e2", "eNone"]
    assert len(up_to_priority(entries, None)) == 4


def test_a_conf_written_by_medhelm_users(real_data) -> None:
    entries = load_conf(real_data / "helm_output_sample" / "entries.conf")
    assert [entry.priority for entry in entries] == [1, 1, 1]
    assert entries[1].args["model_deployment"] == "simple/model1"
