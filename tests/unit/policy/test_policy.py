"""What the policy does not allow in writing is denied, at plan time and before sending."""

import itertools
import pickle

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.network import Route
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.domain.request import Decoding, Request
from medhelm_spark.policy.gate import gate_for
from medhelm_spark.policy.policy import decide

POLICY = Policy(
    allowed=(
        (AccessLevel.PUBLIC, tuple(Locality)),
        (AccessLevel.GATED, (Locality.LOCAL, Locality.TENANT)),
    ),
    version="v1",
    origin="policy.yaml",
)
levels = st.sampled_from(AccessLevel)
localities = st.sampled_from(Locality)
policies = st.builds(
    lambda allowed: Policy(allowed=tuple(allowed), version="v"),
    st.lists(st.tuples(levels, st.lists(localities).map(tuple)), max_size=5),
)


@pytest.mark.parametrize(
    ("level", "locality", "allowed", "rule"),
    [
        ("gated", Locality.LOCAL, True, "policy.yaml: gated allows local, tenant"),
        (
            AccessLevel.PUBLIC,
            "external",
            True,
            "policy.yaml: public allows local, tenant, baa, external",
        ),
        ("gated", Locality.BAA, False, "policy.yaml: gated allows local, tenant, not baa"),
        ("gated", None, False, "policy.yaml: gated allows local, tenant, not an unknown locality"),
        ("gated", "", False, "policy.yaml: gated allows local, tenant, not an unknown locality"),
        ("gated", "Local", False, "policy.yaml: gated allows local, tenant, not Local"),
        ("private", Locality.LOCAL, False, "policy.yaml: private allows nothing"),
        ("secret", Locality.LOCAL, False, "policy.yaml: secret allows nothing"),
        (None, Locality.LOCAL, False, "policy.yaml: no level allows nothing"),
    ],
)
def test_decisions_and_the_rules_that_gave_them(
    level: AccessLevel | str | None, locality: Locality | str | None, allowed: bool, rule: str
) -> None:
    assert decide(POLICY, level, locality) == Decision(allowed=allowed, rule=rule)


def test_an_empty_list_allows_nothing_and_the_rule_says_so() -> None:
    policy = Policy(allowed=((AccessLevel.PRIVATE, ()),), version="v")
    decision = decide(policy, AccessLevel.PRIVATE, Locality.LOCAL)
    assert decision == Decision(allowed=False, rule="policy: private allows nothing, not local")


@given(policies, levels, localities)
def test_only_what_is_listed_is_allowed(
    policy: Policy, level: AccessLevel, locality: Locality
) -> None:
    lists = [allowed_localities for listed, allowed_localities in policy.allowed if listed == level]
    expected = bool(lists) and all(locality in allowed_localities for allowed_localities in lists)
    assert decide(policy, level, locality).allowed == expected


@given(policies, levels, st.text())
def test_unknown_places_and_levels_are_always_denied(
    policy: Policy, level: AccessLevel, word: str
) -> None:
    if word not in list(Locality):
        assert not decide(policy, level, word).allowed
    if word not in list(AccessLevel):
        assert not any(decide(policy, word, locality).allowed for locality in Locality)
    assert not decide(policy, level, None).allowed
    assert not decide(policy, None, Locality.LOCAL).allowed


@given(policies, st.tuples(levels, st.lists(localities).map(tuple)), levels, localities)
def test_a_further_list_for_a_listed_level_can_only_restrict(
    policy: Policy,
    further: tuple[AccessLevel, tuple[Locality, ...]],
    level: AccessLevel,
    locality: Locality,
) -> None:
    longer = Policy(allowed=(*policy.allowed, further), version="v")
    before, after = decide(policy, level, locality), decide(longer, level, locality)
    listed = any(known == level for known, _ in policy.allowed)
    assert not (listed and after.allowed and not before.allowed)


@given(st.lists(levels), st.lists(levels))
def test_no_combination_lowers_the_level(first: list[AccessLevel], more: list[AccessLevel]) -> None:
    combined = strictest(first + more)
    assert all(combined.strictness >= level.strictness for level in first + more)
    if first and more:
        assert combined == strictest([strictest(first), strictest(more)])
    assert strictest([]) == AccessLevel.PRIVATE


def test_under_a_policy_that_narrows_a_derived_row_reaches_no_more_than_its_parents() -> None:
    for first, second in itertools.product(AccessLevel, repeat=2):
        for locality in Locality:
            if decide(POLICY, strictest([first, second]), locality).allowed:
                assert decide(POLICY, first, locality).allowed
                assert decide(POLICY, second, locality).allowed


def deployment(name: str, locality: Locality) -> Deployment:
    return Deployment(
        name=name, model="m", engine="openai", locality=locality, args={"base_url": "inside"}
    )


def request(model_deployment: str, level: AccessLevel) -> Request:
    return Request(
        request_id="r",
        model_deployment=model_deployment,
        messages=(),
        text="t",
        decoding=Decoding(max_tokens=1),
        access_level=level,
    )


def test_the_gate_is_pickled_and_decides_for_every_request() -> None:
    known = {
        "site/a": deployment("site/a", Locality.LOCAL),
        "cloud/b": deployment("cloud/b", Locality.EXTERNAL),
    }
    routes = {name: Route(urls=("https://127.0.0.1/v1",)) for name in known}
    packed = pickle.dumps(gate_for(POLICY, known, routes))
    gate = pickle.loads(packed)
    assert gate(request("site/a", AccessLevel.GATED)).allowed
    assert gate(request("cloud/b", AccessLevel.PUBLIC)).allowed
    assert not gate(request("cloud/b", AccessLevel.GATED)).allowed
    assert not gate(request("site/a", AccessLevel.PRIVATE)).allowed
    assert b"inside" not in packed


def test_the_gate_denies_a_deployment_it_does_not_know() -> None:
    decision = gate_for(POLICY, {}, {})(request("new/c", AccessLevel.PUBLIC))
    assert not decision.allowed
    assert decision.rule.endswith("not an unknown locality")
