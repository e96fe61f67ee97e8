"""Decision: may text of this access level reach this place?"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Network, Reach


class IncompleteJury(StrEnum):
    """What an answer gets that some judges of its jury gave no usable verdict on.

    UNSCORED: no score. AVAILABLE: the mean of the verdicts that are there, which moves with the
    strictness of the judges that failed.
    """

    UNSCORED = "unscored"
    AVAILABLE = "available"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a mean needs before it is compared with another model's.

    `coverage_floor` is the share of a cell's answers, 0 to 1, that must have a score.
    """

    coverage_floor: float = 0.95
    incomplete_jury: IncompleteJury = IncompleteJury.UNSCORED


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which localities may see text of which access level, and which means may be compared.

    A level or locality that is not listed is denied. `networks` are those in which the servers of a
    locality are: gated and private text goes to no other (`governance.reach`).
    """

    allowed: tuple[tuple[AccessLevel, tuple[Locality, ...]], ...]
    version: str
    origin: str = ""
    comparison: Comparison = field(default_factory=Comparison)
    networks: tuple[tuple[Locality, tuple[Network, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one question, with the rule that gave it.

    `reach` is where a server may be that the text is sent to; without it only public text may be
    sent to a server.
    """

    allowed: bool
    rule: str
    reach: Reach | None = None


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
