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
    assert "run.conf: ${MY_KEY} is a variable of the environment, which is not" in str(caught.value)
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
    with pytest.raises(ConfigError, match="allowed: a file of the same folder") as caught:
        parse_hocon(form, folder / "run.conf")
    assert KEY not in str(caught.value)


def test_what_the_file_says_itself_is_substituted(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.conf").write_text('model: "acme/big"')
    text = 'include "more/base.conf"\na: ${model}\nb: ${?not_set_anywhere}\nc: ${a}" x"'
    tree = parse_hocon(text, tmp_path / "run.conf")
    assert (tree["a"], tree.get("b"), tree["c"]) == ("acme/big", None, "acme/big x")
