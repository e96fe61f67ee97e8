"""Scenarios of MedHELM's leaderboard that this project describes and refuses to run."""

from dataclasses import dataclass

from medhelm_spark.domain.scenario import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """What a scenario is, in the words of a card, and why it is refused (a clause, no sentence)."""

    name: str
    display_name: str
    description: str
    access_level: AccessLevel
    size: int
    category: str
    subcategory: str
    what: str
    who: str
    when: str
    reason: str


NOT_RUN = (
    NotRun(
        name="health_admin_bench",
        display_name="HealthAdminBench",
        description="A language model works in simulated hospital portals through a web browser: "
        "prior authorisations, appeals against denials, orders of equipment. Checks of the "
        "portal's state and a judge give points for each step that was reached.",
        access_level=AccessLevel.PUBLIC,
        size=135,
        category="Administration and Workflow",
        subcategory="Overseeing Financial Activities",
        what="prior authorisation, appeals/denials, equipment orders in simulated portals",
        who="Hospital Administrator",
        when="Any",
        reason="it drives a web browser, which is not an evaluation of text; run it with its own "
        "harness",
    ),
)
