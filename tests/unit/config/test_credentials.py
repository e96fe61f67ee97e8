"""Secrets are named by reference and read only when asked for."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from medhelm_spark.config.credentials import load_credentials, resolve_secret
from medhelm_spark.errors import ConfigError, SetupError

RUNTIME = {"DATABRICKS_RUNTIME_VERSION": "17.3"}
CREDENTIALS = """
openaiApiKey: "key-of-openai"
openaiOrgId: org-1
deployments: { "openai/special": "key-of-special" }
"""


def test_a_deployments_own_key_wins_over_its_hosts(write) -> None:
    path = write("credentials.conf", CREDENTIALS)
    credentials = load_credentials(path)
    special, usual = credentials.reference("openai/special"), credentials.reference("openai/gpt")
    assert special == f"credentials:{path}#deployments:openai/special"
    assert usual == f"credentials:{path}#openaiApiKey"
    assert resolve_secret(special) == "key-of-special"
    assert resolve_secret(usual) == "key-of-openai"
    assert credentials.reference("acme/x") is None
    assert credentials.setting("openai/gpt", "OrgId") == "org-1"
    assert "key-of-openai" not in repr(credentials)


def test_an_absent_file_holds_no_keys(tmp_path) -> None:
    assert load_credentials(tmp_path / "credentials.conf").reference("openai/gpt") is None


def test_a_broken_file_is_named_without_its_text(write) -> None:
    path = write("credentials.conf", 'openaiApiKey: "sk-12345')
    with pytest.raises(ConfigError) as caught:
        load_credentials(path)
    assert str(path) in str(caught.value)
    assert "sk-12345" not in str(caught.value)


def test_environment_and_scope_variables() -> None:
    environ = {"A_KEY": "a", "MEDHELM_SPARK_SECRET_LLM_GPT_4O": "b"}
    assert resolve_secret("env:A_KEY", environ=environ) == "a"
    assert resolve_secret("secret:llm/gpt-4o", environ=environ) == "b"


@pytest.mark.parametrize(
    ("reference", "cure"),
    [
        ("env:NO_SUCH_KEY", "set the environment variable NO_SUCH_KEY"),
        ("secret:llm/none", "set MEDHELM_SPARK_SECRET_LLM_NONE, or create the secret llm/none"),
        ("credentials:/nowhere/credentials.conf#xApiKey", "add the key to /nowhere/credentials"),
    ],
)
def test_a_missing_secret_says_what_to_do(reference: str, cure: str) -> None:
    with pytest.raises(SetupError) as caught:
        resolve_secret(reference, environ={})
    assert cure in str(caught.value)


def test_a_literal_is_not_repeated() -> None:
    with pytest.raises(SetupError) as caught:
        resolve_secret("sk-12345", environ={})
    assert "sk-12345" not in str(caught.value)


def _platform(monkeypatch, get) -> None:
    module = ModuleType("databricks.sdk.runtime")
    dbutils = SimpleNamespace(secrets=SimpleNamespace(get=get))
    monkeypatch.setattr(module, "dbutils", dbutils, raising=False)
    for name in ("databricks", "databricks.sdk"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "databricks.sdk.runtime", module)


def test_databricks_scopes_are_asked_where_there_is_no_variable(monkeypatch) -> None:
    _platform(monkeypatch, lambda scope, key: f"{scope}+{key}")
    assert resolve_secret("secret:llm/gpt", environ=RUNTIME) == "llm+gpt"


def test_a_scope_that_refuses_is_one_sentence(monkeypatch) -> None:
    def refuse(scope: str, key: str) -> str:
        raise PermissionError("long platform text")

    _platform(monkeypatch, refuse)
    with pytest.raises(SetupError, match=r"refused the secret llm/gpt \(PermissionError\)"):
        resolve_secret("secret:llm/gpt", environ=RUNTIME)
