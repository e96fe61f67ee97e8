"""The policy file: what is not written is denied."""

import pytest

from medhelm_spark.config.policy import load_policy, policy_in_force
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Network
from medhelm_spark.domain.retention import Retention
from medhelm_spark.errors import ConfigError


def test_the_shipped_policy_lets_only_public_text_leave() -> None:
    policy = load_policy(conf_path("policy.yaml"))
    assert dict(policy.allowed) == {
        AccessLevel.PUBLIC: tuple(Locality),
        AccessLevel.GATED: (Locality.LOCAL,),
        AccessLevel.PRIVATE: (Locality.LOCAL,),
    }


def test_the_version_follows_the_rules_and_not_their_order(write) -> None:
    first = load_policy(write("a.yaml", "allowed: {public: [local, baa], private: [local]}"))
    same = load_policy(write("b.yaml", "allowed: {private: [local], public: [baa, local]}"))
    other = load_policy(write("c.yaml", "allowed: {private: [local], public: [local]}"))
    assert first.version == same.version != other.version
    assert AccessLevel.GATED not in dict(first.allowed)


def test_how_long_rows_are_kept(write) -> None:
    text = "allowed: {public: [local]}\nretention: {superseded_days: 90}"
    policy = load_policy(write("a.yaml", text))
    assert policy.retention == Retention(superseded_days=90, lease_days=7, file_days=7)
    assert load_policy(conf_path("policy.yaml")).retention == Retention()
    # It decides about nothing that a number rests on.
    assert policy.version == load_policy(write("b.yaml", "allowed: {public: [local]}")).version
    site = write("c.yaml", "retention: {superseded_days: 60}")
    assert policy_in_force(conf_path("policy.yaml"), None, site).retention.superseded_days == 60


@pytest.mark.parametrize(
    ("key", "least"), [("superseded_days", 1), ("lease_days", 1), ("file_days", 7)]
)
def test_what_a_running_job_may_read_is_kept(write, key: str, least: int) -> None:
    text = f"allowed: {{public: [local]}}\nretention: {{{key}: {least - 1}}}"
    with pytest.raises(ConfigError, match=rf"{key} is {least - 1}; allowed: .* {least} on"):
        load_policy(write("a.yaml", text))


def test_what_a_release_needs_is_part_of_the_version(write) -> None:
    without = load_policy(write("a.yaml", "allowed: {public: [local]}"))
    stated = "allowed: {public: [local]}\nrelease: {require: {provenance: true}}"
    required = load_policy(write("b.yaml", stated))
    assert (dict(without.release.required), dict(required.release.required)) == (
        {},
        {"provenance": True},
    )
    assert without.version != required.version
    shipped = conf_path("policy.yaml")
    assert load_policy(shipped).release.required["approval_note"] is True
    site = write("c.yaml", "release: {require: {provenance: true}}")
    assert policy_in_force(shipped, None, site).release == required.release


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("allowed: {publik: [local]}", "allowed.publik is 'publik'; allowed: 'public', 'gated'"),
        ("allowed: {public: [moon]}", "allowed.public[0] is 'moon'; allowed: 'local', 'tenant'"),
        ("allowed: {public: local}", "allowed.public is 'local'; allowed: a list"),
        ("allowed: {}\nnetworks: {moon: []}", "networks.moon is 'moon'; allowed: 'local'"),
        ("allowed: {}\nnetworks: {local: [10.0.0.1/8]}", "networks.local[0] is '10.0.0.1/8'"),
        ("allowed: {}\nnetworks: {local: [a.org]}", "is 'a.org'; allowed: an address or a range"),
        (
            "allowed: {}\nnetworks: {local: 10.0.0.0/8}",
            "networks.local is '10.0.0.0/8'; allowed: a",
        ),
        (
            "allowed: {}\nnetworks: {local: [{cidr: 10.0.0.1, http: true}]}",
            "unknown key networks.local[0].http; did you mean 'plain_http'?",
        ),
        ("allow: {}", "unknown key allow; did you mean 'allowed'?"),
        (
            "allowed: {}\nrelease: {require: {min_instance: 5}}",
            "unknown key release.require.min_instance; did you mean 'min_instances'?",
        ),
        (
            "allowed: {}\nrelease: {require: {judge_coverage: 98.0}}",
            "release.require.judge_coverage is 98.0; allowed: 0 to 1",
        ),
        (
            "allowed: {}\nrelease: {require: {min_instances: 0}}",
            "release.require.min_instances is 0; allowed: a whole number from 1 on",
        ),
        (
            "allowed: {}\nrelease: {require: {max_interval_width: 0.0}}",
            "release.require.max_interval_width is 0.0; allowed: a number above 0",
        ),
    ],
)
def test_unknown_levels_and_localities_are_refused(write, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_policy(write("policy.yaml", text))
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "# allowed:\n"])
def test_a_file_without_a_key_is_no_policy(write, text: str) -> None:
    shipped = conf_path("policy.yaml")
    with pytest.raises(ConfigError, match=r"policy.yaml: the document is empty"):
        load_policy(write("policy.yaml", text), load_policy(shipped))


def test_networks_are_ranges_or_addresses_by_locality(write) -> None:
    text = """
allowed: {private: [local, tenant]}
networks:
  tenant: [10.20.0.0/16, {cidr: 10.21.0.7, plain_http: true}]
  local: [127.0.0.1/32, "::1"]
"""
    policy = load_policy(write("policy.yaml", text))
    assert policy.networks == (
        (Locality.LOCAL, (Network(cidr="127.0.0.1/32"), Network(cidr="::1"))),
        (
            Locality.TENANT,
            (Network(cidr="10.20.0.0/16"), Network(cidr="10.21.0.7", plain_http=True)),
        ),
    )
    assert policy.version != load_policy(write("a.yaml", text.replace(".7", ".8"))).version
