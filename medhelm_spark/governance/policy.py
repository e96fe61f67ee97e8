"""May text of this access level reach this place? What the policy does not list is denied."""

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
    twice, both lists must allow the locality: adding a list never opens a door.
    """
    source = policy.origin or "policy"
    lists = [places for level, places in policy.allowed if level == access_level]
    if not lists:
        return Decision(
            allowed=False, rule=f"{source}: {access_level or 'no level'} allows nothing"
        )
    places = [place for place in Locality if all(place in listed for listed in lists)]
    allowed = locality in places
    shown = ", ".join(places) or "nothing"
    rule = f"{source}: {access_level} allows {shown}"
    if not allowed:
        rule += f", not {locality or 'an unknown locality'}"
    return Decision(allowed=allowed, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The policy as an engine asks it, just before a request's text is sent.

    Travels to executors: it holds the policy and each deployment's locality, nothing else. A task
    asks the same few questions for every request: each is answered once.
    """

    policy: Policy
    localities: Mapping[str, Locality]
    _answers: dict[tuple[str, AccessLevel], Decision] = field(default_factory=dict)

    def __call__(self, request: Request) -> Decision:
        """Decide for one request; a deployment that the gate does not know is denied."""
        asked = (request.model_deployment, request.access_level)
        if asked not in self._answers:
            locality = self.localities.get(request.model_deployment)
            self._answers[asked] = decide(self.policy, request.access_level, locality)
        return self._answers[asked]


def gate_for(
    policy: Policy, deployments: Mapping[str, Deployment]
) -> Callable[[Request], Decision]:
    """The gate of a stage, for deployments by the name that requests give them."""
    return Gate(policy=policy, localities={k: d.locality for k, d in deployments.items()})
