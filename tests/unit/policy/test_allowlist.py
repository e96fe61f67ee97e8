"""How far private text may travel: stated localities, listed networks, no downloads."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.network import LOOPBACK, Network, Reach, Route
from medhelm_spark.domain.policy import Policy
from medhelm_spark.policy.allowlist import confined, reach_of

POLICY = Policy(
    allowed=(
        (AccessLevel.PUBLIC, tuple(Locality)),
        (AccessLevel.PRIVATE, (Locality.LOCAL, Locality.TENANT)),
    ),
    version="v1",
    origin="policy.yaml",
)
LISTED = replace(POLICY, networks=((Locality.TENANT, (Network(cidr="10.20.0.0/16"),)),))
SERVER = Route(urls=("https://llm.hospital.example/v1",))
HERE = Route()


def deployment(locality: Locality = Locality.LOCAL, **fields: object) -> Deployment:
    return Deployment(name="a/b", model="b", engine="openai", locality=locality, **fields)  # type: ignore[arg-type]


def test_local_is_this_machine_and_the_machines_of_the_job() -> None:
    reach = reach_of(POLICY, Locality.LOCAL, ("10.0.0.7", "not an address"))
    assert reach == Reach(networks=(*LOOPBACK, Network(cidr="10.0.0.7")), own_machine=True)


def test_what_a_policy_lists_stands_instead() -> None:
    policy = replace(POLICY, networks=((Locality.LOCAL, LOOPBACK[:1]),))
    assert reach_of(policy, Locality.LOCAL, ("10.0.0.7",)) == Reach(networks=LOOPBACK[:1])


@pytest.mark.attack("network", "private text for a locality that a policy allows without networks")
def test_no_locality_but_local_has_networks_by_itself() -> None:
    decision = confined(POLICY, AccessLevel.PRIVATE, deployment(Locality.TENANT), SERVER)
    assert not decision.allowed
    assert decision.rule == (
        "policy.yaml lists no networks for tenant; add the addresses of its servers, such as "
        "`networks: {tenant: [10.20.0.0/16]}`"
    )
    allowed = confined(LISTED, AccessLevel.PRIVATE, deployment(Locality.TENANT), SERVER)
    assert allowed.allowed
    assert allowed.reach == Reach(networks=(Network(cidr="10.20.0.0/16"),))


def test_a_locality_that_nobody_stated_is_refused_with_the_key_to_write() -> None:
    target = deployment(is_locality_stated=False, origin="site/model_deployments.yaml")
    decision = confined(POLICY, AccessLevel.PRIVATE, target, SERVER)
    assert not decision.allowed
    assert decision.rule == (
        "site/model_deployments.yaml: deployment 'a/b' does not state where it runs, and an "
        "address is no proof of it; write `locality:` with one of local, tenant, baa, external "
        "beside its `engine`"
    )
    assert confined(POLICY, AccessLevel.PUBLIC, target, SERVER).allowed


@pytest.mark.attack("network", "a model by the name of a hub, loaded beside private text")
def test_a_name_of_a_hub_is_refused_beside_private_text() -> None:
    route = Route(hub_names=("model=qwen/qwen2.5",))
    decision = confined(POLICY, AccessLevel.PRIVATE, deployment(), route)
    assert not decision.allowed
    assert "args.model=qwen/qwen2.5 is a name of a hub" in decision.rule
    assert confined(POLICY, AccessLevel.PUBLIC, deployment(), route).allowed
    assert confined(POLICY, AccessLevel.PRIVATE, deployment(), HERE).allowed


@pytest.mark.parametrize("level", [AccessLevel.GATED, AccessLevel.PRIVATE])
@pytest.mark.attack("network", "an engine of a plug-in that does not say where it sends text")
def test_an_engine_that_does_not_say_where_it_sends_gets_public_text_alone(
    level: AccessLevel,
) -> None:
    everything = tuple((each, tuple(Locality)) for each in AccessLevel)
    policy, no_progress = replace(LISTED, allowed=everything), Route(is_known=False)
    decision = confined(policy, level, deployment(), no_progress)
    assert not decision.allowed
    assert decision.rule == (
        "deployment 'a/b': engine 'openai' does not say where it sends text; its plug-in has to "
        "state `destinations`, `Destinations.IN_PROCESS` for one that keeps text in this process "
        "(docs/plugins.md)"
    )
    assert confined(policy, AccessLevel.PUBLIC, deployment(), no_progress).allowed


@pytest.mark.attack(
    "network", "an address outside the listed networks, or plain http to one inside"
)
@pytest.mark.parametrize(
    ("urls", "words"),
    [
        (("https://10.21.0.5/v1",), "a/b' sends to 10.21.0.5: its address is in no network"),
        (("http://10.20.0.5/v1",), "a/b' sends to 10.20.0.5: plain http outside this machine"),
        (("https://10.20.0.5/v1", "http://10.21.0.5"), "a/b' sends to 10.21.0.5: its address"),
        (("https://10.20.0.5/v1",), ""),
        (("https://10.20.0.5/v1", "http://10.20.0.6"), ""),
    ],
)
def test_what_an_address_shows_is_refused_before_anything_runs(
    urls: tuple[str, ...], words: str
) -> None:
    target = deployment(Locality.TENANT)
    decision = confined(LISTED, AccessLevel.PRIVATE, target, Route(urls=urls))
    assert decision.allowed is not bool(words)
    assert words in decision.rule


def test_public_text_is_bound_by_localities_alone() -> None:
    decision = confined(POLICY, AccessLevel.PUBLIC, deployment(Locality.EXTERNAL), SERVER)
    assert decision.allowed
    assert decision.reach is None
