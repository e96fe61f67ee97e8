"""HOCON reads its own folder, and neither the environment nor an address."""

from pathlib import Path

import pytest

from medhelm_spark.errors import ConfigError
from medhelm_spark.hocon import parse_hocon
from tests.attacks import Listener

KEY = "sk-planted-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        "a: ${MY_KEY}",
        "a: ${?MY_KEY}",
        'a: "x"${MY_KEY}',
        "MY_KEY: ${MY_KEY}",
        "MY_KEY: ${?MY_KEY}",
        "a: [{b: ${MY_KEY}}]",
        'include "more.conf"',
    ],
)
@pytest.mark.attack("secrets", "a run entry or key file that reads a variable of the environment")
def test_the_environment_is_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    (tmp_path / "more.conf").write_text("a: ${MY_KEY}")
    with pytest.raises(ConfigError) as caught:
        parse_hocon(text, tmp_path / "run.conf")
    assert "run.conf, line 1: a" in str(caught.value)
    assert "is not read here; write the value itself" in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "form",
    [
        'include "URL/x.conf"',
        'include url("URL/x.conf")',
        'include required(url("URL/x.conf"))',
        'INCLUDE URL("URL/x.conf")',
        'a { include "URL/x.conf" }',
        'include "more.conf"',
    ],
)
@pytest.mark.attack("network", "an include of an address in HOCON")
def test_no_address_is_included(tmp_path: Path, outside: Listener, form: str) -> None:
    (tmp_path / "more.conf").write_text(f'include url("{outside.url}/x.conf")')
    with pytest.raises(ConfigError):
        parse_hocon(form.replace("URL/", f"{outside.url}/"), tmp_path / "run.conf")
    assert not outside.received


@pytest.mark.parametrize(
    "form",
    [
        'include "/etc/passwd"',
        'include "../key.conf"',
        'include file("../key.conf")',
        'include "../k*.conf"',
        'include "file:///etc/passwd"',
        'include package("medhelm_spark:errors.py")',
        'include "link.conf"',
    ],
)
@pytest.mark.attack("secrets", "an include of a file elsewhere in HOCON")
def test_no_file_elsewhere_is_included(tmp_path: Path, form: str) -> None:
    (tmp_path / "key.conf").write_text(f'key: "{KEY}"')
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "link.conf").symlink_to(tmp_path / "key.conf")
    with pytest.raises(ConfigError, match="an include, is not read here") as caught:
        parse_hocon(form, folder / "run.conf")
    assert KEY not in str(caught.value)


UNFOLDING = "\n".join(
    ["a0: [x, x, x, x]", *(f"a{n}: [{', '.join([f'${{a{n - 1}}}'] * 9)}]" for n in range(1, 18))]
)
"""Each line has nine times the values of the one before."""


@pytest.mark.parametrize(
    "text",
    [
        UNFOLDING,
        "a: 1\nb: ${a}",
        'a: "${a}"',
        "# ${a}\na: 1",
        'a { b = 1 }include "x.conf"',
        'a: 1\n\ufeffInClUdE\u00a0required(file("x.conf"))',
        "include\n  classpath(x)",
    ],
)
@pytest.mark.attack("inputs", "HOCON whose substitutions unfold to billions of values")
def test_a_substitution_and_an_include_are_refused_wherever_they_stand(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "x.conf").write_text("key: 1")
    with pytest.raises(ConfigError, match=r"run\.conf, line \d: an? .* is not read here"):
        parse_hocon(text, tmp_path / "run.conf")


def test_words_that_only_look_so_are_read(tmp_path: Path) -> None:
    text = 'include: 1\nincluded_files = [2]\na: "we include all, $5 {x}"'
    read = parse_hocon(text, tmp_path / "run.conf")
    assert read == {"include": 1, "included_files": [2], "a": "we include all, $5 {x}"}


@pytest.mark.attack("inputs", "YAML and HOCON of 50,000 brackets")
def test_deep_brackets_end_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not valid HOCON"):
        parse_hocon("a: " + "[" * 50_000, tmp_path / "run.conf")
