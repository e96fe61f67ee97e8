"""Decision: may text of this access level reach this place?"""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.scenario import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which localities may see text of which access level; what is not listed is denied."""

    allowed: tuple[tuple[AccessLevel, tuple[Locality, ...]], ...]
    version: str
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one question, with the rule that gave it."""

    allowed: bool
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDecision:
    """Row of `policy_decisions`: a decision as taken; `role` is model, judge or metric."""

    suite: str
    run_name: str
    role: str
    subject: str
    model_deployment: str
    locality: str
    access_level: AccessLevel
    allowed: bool
    rule: str
    policy_version: str
    decided_at: datetime
