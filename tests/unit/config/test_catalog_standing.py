"""A policy in a catalog's table binds only users who cannot change it, nor what is above it."""

import os
from dataclasses import replace

import pytest

from medhelm_spark.config import settings
from medhelm_spark.config.policy import policy_in_force
from medhelm_spark.config.policy_trust import why_ours_in_catalog
from medhelm_spark.config.registry import explain, policy_of
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.settings import named_policy
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.policy_table import OWNED, OWNER, PolicyTable, Right
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.policy import decide

NAME = "hospital.governance.policy"
TEXT = "allowed: {public: [local], private: [local, tenant]}"


def right(securable: str, holder: str, name: str, *, is_ours: bool = False) -> Right:
    return Right(securable=securable, holder=holder, name=name, is_ours=is_ours)


OWNERS = tuple(right(securable, "officers", OWNER) for securable in OWNED)
READER = right("table", "analysts", "SELECT", is_ours=True)
TABLE = PolicyTable(
    name=NAME,
    text=TEXT,
    kind="MANAGED",
    rights=(
        *OWNERS,
        READER,
        right("schema", "analysts", "USE SCHEMA", is_ours=True),
        right("catalog", "analysts", "CREATE SCHEMA", is_ours=True),
        right("catalog", "engineers", "MODIFY"),
    ),
)


def test_a_table_that_the_user_may_only_read_is_binding() -> None:
    assert why_ours_in_catalog(TABLE) is None
    policy = policy_in_force(conf_path("policy.yaml"), TABLE, None)
    assert policy.label == f"{NAME} (binding)"
    assert decide(policy, AccessLevel.PRIVATE, Locality.TENANT).allowed
    assert not decide(policy, AccessLevel.GATED, Locality.LOCAL).allowed


@pytest.mark.parametrize("securable", OWNED)
@pytest.mark.attack("policy", "a binding policy in a table whose owner, or one above, runs the job")
def test_an_owner_is_not_bound(securable: str) -> None:
    rights = tuple(replace(each, is_ours=each.securable == securable) for each in OWNERS)
    reason = why_ours_in_catalog(replace(TABLE, rights=(*rights, READER)))
    assert reason == f"this user has OWNER of the {securable} as officers"


@pytest.mark.parametrize("securable", ["table", "schema", "catalog"])
@pytest.mark.parametrize("name", ["MODIFY", "ALL PRIVILEGES", "MANAGE", "SOMETHING NEW"])
@pytest.mark.attack("policy", "a binding policy in a table that a group of the user may change")
def test_whoever_may_change_it_is_not_bound(securable: str, name: str) -> None:
    more = right(securable, "analysts", name, is_ours=True)
    reason = why_ours_in_catalog(replace(TABLE, rights=(*TABLE.rights, more)))
    assert reason == f"this user has {name} of the {securable} as analysts"
    assert (
        why_ours_in_catalog(replace(TABLE, rights=(*TABLE.rights, replace(more, is_ours=False))))
        is None
    )


@pytest.mark.attack("policy", "a binding policy in a table of a colleague's own schema")
def test_a_colleague_cannot_bind_for_the_user() -> None:
    rights = tuple(
        replace(each, holder="colleague") if each.securable in ("table", "schema") else each
        for each in TABLE.rights
    )
    rights = (*(each for each in rights if each.holder != "analysts"), READER)
    reason = why_ours_in_catalog(replace(TABLE, rights=rights))
    assert reason == "table, schema and catalog do not belong to one owner"


@pytest.mark.attack("policy", "a binding policy in a table whose files lie open in a bucket")
def test_only_a_managed_table_is_binding() -> None:
    for kind in ("EXTERNAL", "VIEW", "", "MANAGED, MANAGED"):
        assert "no managed table" in str(why_ours_in_catalog(replace(TABLE, kind=kind)))


@pytest.mark.parametrize("securable", OWNED)
def test_what_the_catalog_does_not_show_is_not_binding(securable: str) -> None:
    visible = tuple(
        each for each in TABLE.rights if (each.securable, each.name) != (securable, OWNER)
    )
    reason = why_ours_in_catalog(replace(TABLE, rights=visible))
    assert reason == f"its catalog does not show who owns the {securable}"
    hidden = tuple(each for each in TABLE.rights if each != READER)
    assert "by which right" in str(why_ours_in_catalog(replace(TABLE, rights=hidden)))


def test_a_catalog_that_cannot_be_asked_makes_it_advisory_with_the_reason() -> None:
    table = PolicyTable(name=NAME, text=TEXT, reason="its catalog does not tell (SomeError)")
    policy = policy_in_force(conf_path("policy.yaml"), table, None)
    assert policy.label == f"{NAME} (advisory: its catalog does not tell (SomeError))"
    assert not decide(policy, AccessLevel.PRIVATE, Locality.TENANT).allowed


def test_the_platform_names_a_table_where_it_would_name_a_file(monkeypatch, write) -> None:
    monkeypatch.setattr(settings, "PLATFORM_FILE", write("etc/settings.yaml", f"policy: {NAME}"))
    monkeypatch.setattr(settings, "why_ours", lambda _: None)
    assert named_policy() == settings.NamedPolicy(location=NAME)
    names: list[str] = []

    def read(name: str) -> PolicyTable:
        names.append(name)
        return TABLE

    assert policy_of(None, read).is_binding
    site = write("site/policy.yaml", "allowed: {private: [tenant]}").parent
    registry = load_site(site, tables=read)
    assert registry.policy.label == f"{NAME} (binding) with {site / 'policy.yaml'} (advisory)"
    (row,) = (row for row in explain(registry) if row.kind == "policy")
    assert row.file == NAME and row.name.startswith("policy (binding; restricted by ")
    assert names == [NAME, NAME]
    with pytest.raises(ConfigError, match=f"policy {NAME}: a table is read through Spark"):
        policy_of(None)


@pytest.mark.attack("policy", "another team's laxer table, picked by a variable")
def test_a_table_that_only_a_variable_names_is_not_binding(monkeypatch) -> None:
    monkeypatch.setenv("MEDHELM_SPARK_POLICY", NAME)
    policy = policy_of(None, lambda _: TABLE)
    assert policy.label.startswith(f"{NAME} (advisory: named by MEDHELM_SPARK_POLICY, which ")
    assert not decide(policy, AccessLevel.PRIVATE, Locality.TENANT).allowed


@pytest.mark.attack("policy", "a settings file of the job's own user, which picks a laxer table")
def test_a_table_binds_a_job_of_roots_and_no_user_who_could_name_another(
    write, monkeypatch
) -> None:
    monkeypatch.setattr(settings, "PLATFORM_FILE", write("etc/settings.yaml", f"policy: {NAME}"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert policy_of(None, lambda _: TABLE).is_binding
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    assert policy_of(None, lambda _: TABLE).label.startswith(f"{NAME} (advisory: ")


def test_what_is_wrong_in_its_text_names_the_table() -> None:
    with pytest.raises(ConfigError, match=rf"{NAME}: unknown key alowed"):
        policy_in_force(conf_path("policy.yaml"), replace(TABLE, text="alowed: {}"), None)
