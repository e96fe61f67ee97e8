"""Keys are found by reference, and never shown."""

import sys

import pytest

from medhelm_spark.engines.secrets import is_reference, resolve, secret_variable
from medhelm_spark.errors import SetupError

KEY = "sk-planted-0123456789"
CREDENTIALS = """
# openaiApiKey: "sk-planted-older"
openaiApiKey: "sk-planted-old"
openaiApiKey: "sk-planted-openai" // the last one counts
vllmApiKey = sk-planted-vllm
old { vllmApiKey: "sk-planted-elsewhere" }
deployments: { "x/azure/gpt-4o": no,
  "azure/gpt-4o": "sk-planted-azure", "azure/o3:free": "two words, one # key" }
"""


def test_a_key_in_the_environment(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    assert resolve("env:MY_KEY", where="here") == KEY


def test_white_space_around_a_key_is_no_part_of_it(monkeypatch, tmp_path):
    # a secret of Kubernetes that was made from a file ends with a line
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    assert resolve("env:MY_KEY", where="here") == KEY
    (tmp_path / "key").write_text(f"{KEY}\r\n")
    assert resolve(f"file:{tmp_path / 'key'}", where="here") == KEY
    monkeypatch.setenv("MY_KEY", " \n")
    with pytest.raises(SetupError, match="no key found for env:MY_KEY"):
        resolve("env:MY_KEY", where="here")


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\t", "\u200b"])
def test_a_key_that_no_header_may_carry_is_refused_and_not_shown(monkeypatch, inside):
    monkeypatch.setenv("MY_KEY", f"sk-planted{inside}second")
    with pytest.raises(SetupError, match="line break or cannot be printed") as caught:
        resolve("env:MY_KEY", where="here")
    assert "planted" not in str(caught.value)
    assert "second" not in str(caught.value)


def test_a_key_of_a_secret_scope_by_its_variable(monkeypatch):
    assert secret_variable("llm/gpt-4o") == "MEDHELM_SPARK_SECRET_LLM_GPT_4O"
    monkeypatch.setenv("MEDHELM_SPARK_SECRET_LLM_GPT_4O", KEY)
    assert resolve("secret:llm/gpt-4o", where="here") == KEY


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("openaiApiKey", "sk-planted-openai"),
        ("vllmApiKey", "sk-planted-vllm"),
        ("deployments:azure/gpt-4o", "sk-planted-azure"),
        ("deployments:azure/o3:free", "two words, one # key"),
    ],
)
def test_a_key_of_medhelms_credentials_file(tmp_path, key, expected):
    file = tmp_path / "credentials.conf"
    file.write_text(CREDENTIALS)
    assert resolve(f"credentials:{file}#{key}", where="here") == expected


@pytest.mark.parametrize("key", ["absent", "deployments", "number", "deployments:absent", "old:x"])
def test_what_is_no_key_of_the_file(tmp_path, key):
    file = tmp_path / "credentials.conf"
    file.write_text('number: 0123\nold: { a: b }\ndeployments { "azure/x": no-key }')
    with pytest.raises(SetupError, match="in quotes, to that file"):
        resolve(f"credentials:{file}#{key}", where="here")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (f'openaiApiKey: "{KEY}', "not valid HOCON"),
        (f"a {{ b: x }}\nopenaiApiKey: ${{a}} {KEY}", "line 2: a substitution"),
        (f"a: [{KEY}]\na: ${{b}}", "line 2: a substitution"),
        (f'openaiApiKey: {KEY}\ninclude "more.conf"', "line 2: an include"),
    ],
)
def test_a_broken_file_is_named_and_its_keys_are_not_shown(tmp_path, text, wrong):
    file = tmp_path / "credentials.conf"
    file.write_text(text)
    with pytest.raises(SetupError, match=rf"here: .*credentials\.conf.*{wrong}") as caught:
        resolve(f"credentials:{file}#openaiApiKey", where="here")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "cure"),
    [
        ("env:NOT_SET_ANYWHERE", "set the environment variable NOT_SET_ANYWHERE"),
        ("secret:scope/absent", "MEDHELM_SPARK_SECRET_SCOPE_ABSENT on driver and executors"),
        ("credentials:/no/such/file.conf#openaiApiKey", "readable on every executor"),
    ],
)
def test_a_missing_key_is_named_by_its_reference(reference, cure):
    with pytest.raises(SetupError, match="here: no key found for") as caught:
        resolve(reference, where="here")
    assert reference in str(caught.value)
    assert cure in str(caught.value)


@pytest.mark.parametrize("written_out", [KEY, "", "env:", "Bearer " + KEY])
def test_a_key_written_out_is_refused_and_not_shown(written_out):
    assert not is_reference(written_out)
    with pytest.raises(SetupError, match="by reference") as caught:
        resolve(written_out, where="here")
    assert KEY not in str(caught.value)


def test_off_its_platform_no_secret_scope_is_searched(monkeypatch):
    monkeypatch.delenv("DATABRICKS_RUNTIME_VERSION", raising=False)
    monkeypatch.setitem(sys.modules, "databricks.sdk.runtime", _Scopes({("llm", "key"): KEY}))
    with pytest.raises(SetupError, match="no key found for secret:llm/key"):
        resolve("secret:llm/key", where="here")


def test_a_key_of_a_secret_scope_on_its_platform(monkeypatch):
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "18.0")
    monkeypatch.setitem(sys.modules, "databricks.sdk.runtime", _Scopes({("llm", "key"): KEY}))
    assert resolve("secret:llm/key", where="here") == KEY
    with pytest.raises(SetupError, match="no key found for secret:llm/other"):
        resolve("secret:llm/other", where="here")


class _Scopes:
    """The platform's `dbutils.secrets`, which exists nowhere else."""

    def __init__(self, keys):
        self.dbutils = self.secrets = self
        self.keys = keys

    def get(self, *, scope, key):
        return self.keys[scope, key]
