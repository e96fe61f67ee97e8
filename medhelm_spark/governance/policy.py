"""May text of an access level be sent to a locality? What the policy does not list is denied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.domain.request import Request


def decide(
    policy: Policy, access_level: AccessLevel | str | None, locality: Locality | str | None
) -> Decision:
    """Ask the policy one question.

    An access level or locality that is unknown or not listed is denied. Where a level is listed
    twice, both lists must allow the locality: a further list can only restrict.
    """
    source = policy.label
    lists = [localities for level, localities in policy.allowed if level == access_level]
    if not lists:
        return Decision(
            allowed=False, rule=f"{source}: {access_level or 'no level'} allows nothing"
        )
    localities = [each for each in Locality if all(each in listed for listed in lists)]
    is_allowed = locality in localities
    rule = f"{source}: {access_level} allows {', '.join(localities) or 'nothing'}"
    if not is_allowed:
        rule += f", not {locality or 'an unknown locality'}"
        if any(level == access_level and locality in over for level, over in policy.withheld):
            rule += " (listed there, but an advisory policy can only restrict: docs/governance.md)"
    return Decision(allowed=is_allowed, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The policy as engines ask it, just before a request's text is sent.

    It is serialized to executors, with the policy and each deployment's locality. Decisions are
    cached, because a task asks the same few for every request.
    """

    policy: Policy
    localities: Mapping[str, Locality | None]
    _decisions: dict[tuple[str, AccessLevel], Decision] = field(default_factory=dict)

    def __call__(self, request: Request) -> Decision:
        """Decide for one request; a deployment that the gate does not know is denied."""
        key = (request.model_deployment, request.access_level)
        if key not in self._decisions:
            locality = self.localities.get(request.model_deployment)
            self._decisions[key] = decide(self.policy, request.access_level, locality)
        return self._decisions[key]


def gate_for(
    policy: Policy, deployments: Mapping[str, Deployment]
) -> Callable[[Request], Decision]:
    """The gate of a stage, for deployments by the name that requests give them."""
    return Gate(policy=policy, localities={k: d.locality for k, d in deployments.items()})
