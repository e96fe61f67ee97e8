"""A deployment's secret is named by reference; nothing here reads it."""

import pytest

from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.credentials import load_credentials

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
