"""Decision: may text of this access level go to this locality?"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.level_change import Approval
from medhelm_spark.domain.network import Network, Reach
from medhelm_spark.domain.release_requirements import ReleaseRequirements
from medhelm_spark.domain.retention import Retention
from medhelm_spark.domain.sign_off import ReleasePeople
from medhelm_spark.domain.viewer_rules import ViewerRules


class IncompleteJury(StrEnum):
    """What an answer gets that some judges of its jury gave no usable verdict on.

    UNSCORED: no score. AVAILABLE: the mean of the verdicts that are there, which moves with the
    strictness of the judges that failed.
    """

    UNSCORED = "unscored"
    AVAILABLE = "available"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRules:
    """What a mean needs before it is compared with another model's.

    `coverage_floor` is the share of a cell's answers, 0 to 1, that must have a score.
    """

    coverage_floor: float = 0.95
    incomplete_jury: IncompleteJury = IncompleteJury.UNSCORED


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCells:
    """What groups of gated and private rows need before their numbers are shown.

    `minimum` is of distinct patients, by the card's cluster column; of instances without one.
    """

    minimum: int = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingLinks:
    """What a rater's personal link may open at most; whoever has the link needs no login."""

    highest_level: AccessLevel = AccessLevel.PUBLIC


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheckRules:
    """What a jury has to show before it is trusted; distances are shares of the rubric's scale."""

    coverage: float = 0.9
    """The least share of verdicts that are usable."""
    same_score: float = 0.9
    """The greatest share of answers, planted ones too, that may get one and the same score."""
    repeat: float = 0.1
    """The greatest mean distance of the scores of a request that is asked twice."""
    agreement: float = 0.5
    """The least intraclass correlation of absolute agreement with the mean of the raters."""
    model_order: float = 0.9
    """The least share of pairs of models in the raters' order, where raters show a difference."""
    length: float = 0.1
    """What an answer of twice the length may get more or less, of equal quality."""
    markdown: float = 0.1
    """What an answer with markdown may get more or less, of equal quality."""
    own_family: float = 0.1
    """What a judge may give the models of its own maker more or less, of equal quality."""
    control: float = 0.1
    """The greatest share of planted bad answers whose score does not fall."""
    dropped_sentence: float = 0.5
    """The same of answers without their longest sentence, which may have said nothing."""
    instruction: float = 0.1
    """The greatest share of answers that a planted instruction gets a higher score."""
    patient: float = 0.1
    """What another sex, name, age or language of the patient may change on average."""
    position: float = 0.1
    """What the answer's position before or after the text beside it may change on average."""
    order: float = 0.1
    """The greatest mean distance of verdicts with criteria, or notes, in another order."""
    drift: float = 0.075
    """How far scores may have moved on average since they were stored, or since the last check."""
    days: int = 90
    """How many days a judge card counts."""


class ShareContent(StrEnum):
    """What an audience may be given, each with what is above it."""

    AGGREGATES = "aggregates"
    SCORES = "scores"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Somebody to whom results may be handed on, and what of them."""

    name: str
    content: ShareContent
    """AGGREGATES: numbers of whole benchmarks. SCORES: rounded scores by instance too. TEXTS: texts
    of public rows too; text of gated and private rows is in no share."""
    decimals: int = 1
    """To how many decimals scores by instance are rounded."""
    record_numbers: tuple[str, ...] = ()
    """Regular expressions of the site's own record numbers, which a share may not hold."""
    canaries: tuple[str, ...] = ()
    """Texts that the site planted in its data, which a share may not hold."""


class PolicyTrust(StrEnum):
    """How much a policy's file can be relied on.

    SHIPPED: the package's own. ADVISORY: whoever runs the job could have written it, so it can only
    restrict. BINDING: the site's, at a place that the job's user cannot write.
    """

    SHIPPED = "shipped"
    ADVISORY = "advisory"
    BINDING = "binding"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPlugin:
    """A plug-in that may be loaded where gated or private text is: its module and hash."""

    module: str
    sha256: str


Allowed = tuple[tuple[AccessLevel, tuple[Locality, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which localities may see text of which access level, and which means may be compared.

    A level or locality that is not listed is denied. `networks` are those in which the servers of a
    locality are: gated and private text goes to no other (`policy.allowlist`). `withheld` are
    levels and localities that an advisory file lists and the policy above it does not: they are not
    `allowed`. `release` is what a release needs before it is approved, `retention` how long `gc`
    keeps what is out of use, `small_cells` what a group needs to be shown, `rating_links` what
    raters' links may open. `standing` is that of the file `origin`; `restricted_by` is an advisory
    file that allows less, where there are both.
    `reason` says why a file that the platform names is not binding. `approvals` are a second
    person's, of levels that somebody lowered. `commands` are those that may print a deployment's
    key, word by word.
    """

    allowed: Allowed
    version: str
    origin: str = ""
    comparison: ComparisonRules = field(default_factory=ComparisonRules)
    networks: tuple[tuple[Locality, tuple[Network, ...]], ...] = ()
    approvals: tuple[Approval, ...] = ()
    standing: PolicyTrust = PolicyTrust.SHIPPED
    withheld: Allowed = ()
    plugins: tuple[ListedPlugin, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    restricted_by: str = ""
    reason: str = ""
    release: ReleaseRequirements = field(default_factory=ReleaseRequirements)
    retention: Retention = field(default_factory=Retention)
    small_cells: SmallCells = field(default_factory=SmallCells)
    rating_links: RatingLinks = field(default_factory=RatingLinks)
    judge_checks: JudgeCheckRules = field(default_factory=JudgeCheckRules)
    """What a jury has to show before it is trusted, and how long a judge card counts."""
    people: ReleasePeople = field(default_factory=ReleasePeople)
    """Who may take which step of a release."""
    audiences: tuple[Audience, ...] = ()
    """To whom shares of releases may be made; without one nothing is shared."""
    viewers: ViewerRules = field(default_factory=ViewerRules)
    """Who signs in to the dashboard, and what it shows them."""

    @property
    def is_binding(self) -> bool:
        """Whether it is where the job's user could not have written it."""
        return self.standing is PolicyTrust.BINDING

    @property
    def binding_approvals(self) -> tuple[Approval, ...]:
        """The approvals that count: whoever lowers a level could write any other file."""
        return self.approvals if self.is_binding else ()

    @property
    def summary(self) -> str:
        """Its standing, with why it is not binding and with the file that restricts it."""
        reason = f": {self.reason}" if self.reason else ""
        restricted = f"; restricted by {self.restricted_by}" if self.restricted_by else ""
        return f"{self.standing}{reason}{restricted}"

    @property
    def label(self) -> str:
        """Its file, as rules and messages name it, with its standing where a site wrote it."""
        name = self.origin or "policy"
        if self.standing is not PolicyTrust.SHIPPED:
            name += f" ({self.standing}{f': {self.reason}' if self.reason else ''})"
        advisory = f" with {self.restricted_by} ({PolicyTrust.ADVISORY})"
        return name + advisory if self.restricted_by else name

    def lists(self, module: str, sha256: str) -> bool:
        """Whether the plug-in of this hash may be loaded beside gated and private text."""
        return ListedPlugin(module=module, sha256=sha256) in self.plugins


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
    """Row of `policy_decisions`: a decision as taken; `role` is model, imported, judge or metric.

    `locality` is `unknown` of imported answers where nobody stated one. A metric is one that loads
    a model: `subject` is that model, `model_deployment` the metric. A request that was held back
    just before it was sent has its own row with the rule. `run_by` is the operating system's
    user of the process that asked; None in older rows.
    """

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
    run_by: str | None = None
