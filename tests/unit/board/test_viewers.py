"""Who looks: identified by where the server is bound and by what a browser sends."""

from datetime import UTC, datetime, timedelta

import pytest

from medhelm_spark.board import Viewer, viewer_of
from medhelm_spark.board.viewers import signed_in
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.viewer_rules import ListedViewer, ViewerRules
from medhelm_spark.errors import PolicyError

HERE = {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("127.0.0.1", HERE),
        ("localhost", {"Host": "localhost:8000"}),
        ("::1", {"Host": "[::1]:8501", "origin": "http://[::1]:8501"}),
    ],
)
def test_a_browser_at_this_machine(address: str, headers: dict[str, str]) -> None:
    assert viewer_of(address, headers) is Viewer.THIS_MACHINE


@pytest.mark.attack("dashboard", "a server bound to every address, asked by a forged Host")
@pytest.mark.parametrize("address", ["0.0.0.0", "::", "", None, "10.1.2.3", "unix:/run/socket"])
def test_a_server_that_others_reach(address: str | None) -> None:
    assert viewer_of(address, HERE) is Viewer.ANYONE


@pytest.mark.attack("dashboard", "another site's name, origin or proxy before a local server")
@pytest.mark.parametrize(
    "sent",
    [
        {"Host": "evil.test:8501"},
        {"Host": "127.0.0.1.evil.test"},
        {"Host": "127.0.0.1@evil.test"},
        {"Host": "evil.test", "Origin": "http://evil.test"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"X-Forwarded-For": "10.0.0.9"},
        {"via": "1.1 proxy"},
        {"Forwarded": "for=10.0.0.9"},
        {"X-Forwarded-Proto": "https"},
        {"CF-Connecting-IP": "10.0.0.9"},
    ],
)
def test_a_request_that_came_otherwise(sent: dict[str, str]) -> None:
    assert viewer_of("127.0.0.1", HERE | sent) is Viewer.ANYONE


def test_a_request_without_a_host_is_anyones() -> None:
    assert viewer_of("127.0.0.1", {}) is Viewer.ANYONE


ISSUER, NOW = "https://login.test", datetime(2026, 5, 1, 12, tzinfo=UTC)
RULES = ViewerRules(
    people=(
        ListedViewer(issuer=ISSUER, subject="ada", name="Ada L.", text=AccessLevel.PRIVATE),
        ListedViewer(issuer=ISSUER, group="ward", text=AccessLevel.GATED, may_rate=True),
        ListedViewer(issuer=ISSUER, group="board"),
    ),
    hours=2,
)


def named(came: Viewer = Viewer.THIS_MACHINE, *, is_binding: bool = True, **claims) -> Viewer:
    claims = {"iss": ISSUER, "sub": "somebody", "iat": NOW.timestamp() - 60, **claims}
    return signed_in(claims, RULES, NOW, came=came, is_binding=is_binding)


def test_a_person_and_a_group_see_what_the_policy_lists() -> None:
    ada = named(sub="ada")
    assert (ada.name, ada.text, ada.may_write) == ("Ada L.", AccessLevel.PRIVATE, False)
    assert ada.identified_by == ISSUER
    nurse = named(groups=["ward", "board"])
    assert (nurse.name, nurse.text, nurse.may_write) == ("somebody", AccessLevel.GATED, True)
    assert nurse.may_see(AccessLevel.GATED)
    assert not nurse.may_see(AccessLevel.PRIVATE)
    assert not nurse.may_see("a level of a later version")
    director = named(groups="board")
    assert director.text is None
    assert not director.may_see(AccessLevel.PUBLIC)
    both = named(sub="ada", groups=["ward"])
    assert (both.text, both.may_write) == (AccessLevel.PRIVATE, True)


@pytest.mark.attack("dashboard", "a sign-in by another issuer, in no group, or from yesterday")
@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "ada", "iss": "https://other.test"},
        {"sub": "Ada"},
        {"sub": ""},
        {"sub": None, "groups": ["ward"]},
        {"groups": ["ward2"]},
        {"groups": []},
        {"sub": "ada", "iat": NOW.timestamp() - timedelta(hours=2).total_seconds()},
        {"sub": "ada", "iat": None},
        {"sub": "ada", "iat": "now"},
    ],
)
def test_who_is_not_listed_or_signed_in_long_ago_sees_nothing(claims) -> None:
    with pytest.raises(PolicyError, match=r"do not list you|sign in again"):
        named(**claims)


@pytest.mark.attack("dashboard", "viewers of a policy that whoever serves could have written")
def test_only_a_binding_policy_shows_more_than_the_page_without_a_sign_in() -> None:
    assert named(Viewer.ANYONE, sub="ada").text is AccessLevel.PRIVATE
    elsewhere = named(Viewer.ANYONE, sub="ada", groups=["ward"], is_binding=False)
    assert (elsewhere.text, elsewhere.may_write) == (AccessLevel.PUBLIC, False)
    assert named(sub="ada", is_binding=False).text is AccessLevel.PRIVATE
    assert named(Viewer.ANYONE, groups="board", is_binding=False).text is None
