"""Who may see what in the dashboard, where a site's people sign in to it."""

from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedViewer:
    """A person, or a group of people, whom a policy lists: by `subject` or by `group`."""

    issuer: str
    """The issuer of OpenID Connect who says who somebody is."""
    subject: str | None = None
    """The person's subject (`sub`) in a token of the issuer."""
    group: str | None = None
    """One of the token's groups, for all who are in it."""
    name: str | None = None
    """The person's name in records; None: the subject."""
    text: AccessLevel | None = None
    """The strictest level whose text they read; None: no text, and numbers of benchmarks alone."""
    may_rate: bool = False
    """Whether they rate answers by a link that they have, and write notes on answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewerRules:
    """Who signs in to the dashboard; where nobody is listed, nobody signs in."""

    people: tuple[ListedViewer, ...] = ()
    hours: int = 12
    """How long a sign-in counts."""
    groups_claim: str = "groups"
    """The claim of a token that lists the person's groups."""
