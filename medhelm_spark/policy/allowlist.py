"""How far gated and private text may travel: a stated locality, and the networks listed for it.

Public text is bound by the policy's list of localities alone.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import BY_NAME, Deployment, Locality
from medhelm_spark.domain.network import LOOPBACK, Network, Reach, Route, address_of, why_not
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.policy.policy import decide


def reach_of(policy: Policy, locality: Locality, nodes: Sequence[str] = ()) -> Reach:
    """The peers of a locality: the networks that the policy lists, no others.

    Where it lists none, `local` is the loopback address, the machine that asks and this job's
    `nodes` (addresses); every other locality has no peers.
    """
    listed = dict(policy.networks)
    if locality in listed:
        return Reach(networks=listed[locality])
    if locality is not Locality.LOCAL:
        return Reach()
    own = [Network(cidr=node) for node in nodes if address_of(node)]
    return Reach(networks=(*LOOPBACK, *own), own_machine=True)


def confined(
    policy: Policy,
    access_level: AccessLevel | str | None,
    deployment: Deployment,
    route: Route,
    nodes: Sequence[str] = (),
) -> Decision:
    """The policy's answer for one deployment, with the peers that its text may be sent to."""
    decision = decide(policy, access_level, deployment.locality)
    locality = deployment.locality
    if not decision.allowed and _is_unstated_name(deployment):
        return replace(decision, rule=f"{decision.rule}; {_unstated(deployment)}")
    if not decision.allowed or access_level == AccessLevel.PUBLIC or locality is None:
        return decision
    reach = reach_of(policy, locality, nodes)
    refusal = _refusal(policy, deployment, route, reach)
    if refusal:
        return Decision(allowed=False, rule=refusal)
    return replace(decision, reach=reach)


def _is_unstated_name(deployment: Deployment) -> bool:
    return deployment.origin == BY_NAME and not deployment.is_locality_stated


def _unstated(deployment: Deployment) -> str:
    return (
        f"a name alone does not state where its model runs; say it with --attest-locality PLACE, "
        f"which is one of {', '.join(Locality)}, or write below `model_deployments:` in "
        "model_deployments.yaml of your site folder: "
        f"{listing(deployment)}"
    )


def listing(deployment: Deployment) -> str:
    """The line of `model_deployments.yaml` that lists a deployment, with PLACE for its locality.

    To the lake it is then the same model, whose earlier answers are used again.
    """
    spec = json.dumps({"args": dict(deployment.args)})
    return (
        f"- {{name: {json.dumps(deployment.name)}, engine: {deployment.engine}, locality: PLACE, "
        f"client_spec: {spec}}}"
    )


def _refusal(policy: Policy, deployment: Deployment, route: Route, reach: Reach) -> str:
    """What keeps gated and private text from this deployment, whatever its locality."""
    where = f"{deployment.origin}: " if deployment.origin else ""
    where += f"deployment {deployment.name!r}"
    if not deployment.is_locality_stated:
        if _is_unstated_name(deployment):
            return _unstated(deployment)
        allowed = ", ".join(Locality)
        return (
            f"{where} does not state where it runs, and an address is no proof of it; write "
            f"`locality:` with one of {allowed} beside its `engine`"
        )
    if not route.is_known:
        return (
            f"{where}: engine {deployment.engine!r} does not say where it sends text; its plug-in "
            "has to state `destinations`, `Destinations.IN_PROCESS` for one that keeps text in "
            "this process (docs/plugins.md)"
        )
    if route.hub_names:
        return (
            f"{where}: args.{route.hub_names[0]} is a name of a hub, which loading would ask over "
            "the network; give the path of a folder (/... or ./...)"
        )
    if not route.urls:
        return ""
    if not reach.networks:
        return (
            f"{policy.label} lists no networks for {deployment.locality}; add the addresses of its "
            f"servers, such as `networks: {{{deployment.locality}: [10.20.0.0/16]}}`"
        )
    for url in route.urls:
        # A name is looked up when text is sent. So is this machine's own address.
        host = urlsplit(url).hostname or ""
        if address_of(host) and not reach.own_machine:
            is_encrypted = urlsplit(route.urls[0]).scheme == "https"
            reason = why_not(reach, host, is_encrypted=is_encrypted)
            if reason:
                return f"{where} sends to {host}: {reason}, as {policy.label} has it"
    return ""
