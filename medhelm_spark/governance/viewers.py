"""Whom the policy lets sign in to the dashboard, as the dashboard's pages ask it."""

from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.registry import policy_of
from medhelm_spark.config.settings import named_policy
from medhelm_spark.domain.viewer_rules import ViewerRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewersInForce:
    """The rules of the policy in force."""

    rules: ViewerRules
    is_binding: bool
    """Whether the policy is; another one shows no more than the page without a sign-in."""


def viewers_in_force(site: Path | None) -> ViewersInForce:
    """Who signs in now.

    `site` is the folder of the site's own configuration. A policy in a catalog's table is not read
    here, where there is no Spark: `serve` refuses one that lists viewers.

    Raises:
        ConfigError: the policy cannot be read.
    """
    named = named_policy()
    if named and isinstance(named.location, str):
        return ViewersInForce(rules=ViewerRules(), is_binding=False)
    policy = policy_of(site)
    return ViewersInForce(rules=policy.viewers, is_binding=policy.is_binding)
