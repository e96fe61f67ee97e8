"""The policy as engines ask it, just before a request's text is sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.network import Route
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.domain.request import Request
from medhelm_spark.policy.allowlist import confined
from medhelm_spark.policy.policy import decide


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingGate:
    """Asked for every request; a decision names the peers that the text may be sent to.

    It can be pickled and has no arguments of a deployment.
    """

    policy: Policy
    decisions: Mapping[tuple[str, AccessLevel], Decision]

    def __call__(self, request: Request) -> Decision:
        """Decide for one request; a deployment that the gate does not list is denied."""
        known = self.decisions.get((request.model_deployment, request.access_level))
        return known or decide(self.policy, request.access_level, None)


def gate_for(
    policy: Policy,
    deployments: Mapping[str, Deployment],
    routes: Mapping[str, Route],
    nodes: Sequence[str] = (),
) -> Callable[[Request], Decision]:
    """The gate of a stage, for deployments by the names in requests.

    `routes` are what their engines say of the network, by the same names; `nodes` are the addresses
    of this job's machines.
    """
    decisions = {
        (name, level): confined(policy, level, deployment, routes[name], nodes)
        for name, deployment in deployments.items()
        for level in AccessLevel
    }
    return SendingGate(policy=policy, decisions=decisions)
