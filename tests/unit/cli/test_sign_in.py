"""The file by which people sign in to the dashboard: what is refused before a server starts."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli.sign_in import SignIn, sign_in_of
from medhelm_spark.config.policy import load_policy
from medhelm_spark.domain.policy import Policy, PolicyTrust
from medhelm_spark.errors import ConfigError

PERSON = {"issuer": "https://login.test", "subject": "1", "text": "gated"}
SECRET = "planted-secret-of-the-client"
AUTH = {
    "redirect_uri": "https://board.test/oauth2callback",
    "cookie_secret": "planted-cookie-secret-of-forty-characters",
    "client_id": "dashboard",
    "client_secret": SECRET,
    "server_metadata_url": "https://login.test/.well-known/openid-configuration",
}


def policy_with(folder: Path, **viewers: object) -> Policy:
    path = folder / "policy.yaml"
    document = {"allowed": {"public": ["local"]}, **({"viewers": viewers} if viewers else {})}
    path.write_text(yaml.safe_dump(document))
    return load_policy(path)


def file_with(folder: Path, **changed: str | None) -> str:
    settings = {key: value for key, value in {**AUTH, **changed}.items() if value is not None}
    path = folder / "sign_in.toml"
    path.write_text("[auth]\n" + "".join(f'{key} = "{value}"\n' for key, value in settings.items()))
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return policy_with(tmp_path, people=[PERSON])


def test_a_sign_in_that_is_set_up(tmp_path: Path, policy: Policy) -> None:
    pytest.importorskip("authlib")
    path = file_with(tmp_path)
    found = sign_in_of(policy, path, tmp_path)
    assert found == SignIn(file=Path(path), host="board.test", is_binding=False)
    binding = replace(policy, standing=PolicyTrust.BINDING)
    sign_in = sign_in_of(binding, path, tmp_path)
    assert sign_in is not None
    assert sign_in.is_binding


def test_without_viewers_nobody_signs_in(tmp_path: Path) -> None:
    policy = policy_with(tmp_path)
    assert sign_in_of(policy, None, tmp_path) is None
    with pytest.raises(ConfigError, match="lists no viewers"):
        sign_in_of(policy, file_with(tmp_path), tmp_path)


def test_viewers_without_a_sign_in_are_refused(tmp_path: Path, policy: Policy) -> None:
    with pytest.raises(ConfigError, match="the setting sign_in is missing"):
        sign_in_of(policy, None, tmp_path)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"client_id": None}, "auth.client_id is missing"),
        ({"cookie_secret": "short"}, "auth.cookie_secret has 5 characters"),
        ({"redirect_uri": "http://board.test/oauth2callback"}, "allowed: https"),
        ({"redirect_uri": "https://board.test/other"}, "with /oauth2callback"),
        ({"server_metadata_url": "http://login.test/x"}, "allowed: https"),
        ({"server_metadata_url": "ftp://127.0.0.1/x"}, "allowed: https"),
    ],
)
def test_a_wrong_file_is_refused_and_its_secret_not_repeated(
    tmp_path: Path, policy: Policy, changed: dict[str, str | None], sentence: str
) -> None:
    pytest.importorskip("authlib")
    with pytest.raises(ConfigError, match=sentence) as refused:
        sign_in_of(policy, file_with(tmp_path, **changed), tmp_path)
    assert SECRET not in str(refused.value)


def test_a_file_that_others_read_is_refused(tmp_path: Path, policy: Policy) -> None:
    pytest.importorskip("authlib")
    path = file_with(tmp_path)
    Path(path).chmod(0o640)
    with pytest.raises(ConfigError, match="open to others"):
        sign_in_of(policy, path, tmp_path)


def test_a_file_that_is_no_toml_is_not_quoted(tmp_path: Path, policy: Policy) -> None:
    pytest.importorskip("authlib")
    path = Path(file_with(tmp_path))
    path.write_text(f"client_secret = {SECRET}")
    with pytest.raises(ConfigError, match="TOMLDecodeError") as refused:
        sign_in_of(policy, str(path), tmp_path)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("viewers", "sentence"),
    [
        ({"people": []}, "viewers.people is missing"),
        ({"people": [PERSON], "hours": 0}, "viewers.hours is 0"),
        ({"people": [{**PERSON, "group": "ward"}]}, "one of subject and group"),
        ({"people": [{"issuer": "https://login.test"}]}, "one of subject and group"),
        ({"people": [{**PERSON, "text": None, "may_rate": True}]}, "may_rate needs text"),
        ({"people": [{**PERSON, "subject": None, "group": "a", "name": "b"}]}, "of a subject"),
        ({"people": [{**PERSON, "text": "secret"}]}, "secret"),
    ],
)
def test_viewers_that_are_wrong_name_their_key(
    tmp_path: Path, viewers: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        policy_with(tmp_path, **viewers)
