"""May text of an access level be sent to a locality? What the policy does not list is denied."""

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.policy import Decision, Policy


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
