"""The tables of judge checks: planted verdicts and judge cards."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.request import VerdictStatus
from medhelm_spark.lake.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedVerdict:
    """Row of `planted_verdicts`: one judge's verdict on one planted answer; it has no text."""

    check_id: str
    planted: str
    """What was done, as `wrong dose`."""
    run_spec_id: str
    instance_id: str
    trial_index: int
    judge: str
    request_id: str
    """The judge's request, the first one where it is asked item by item; empty where the pipeline
    sends no such answer."""
    status: VerdictStatus
    score: float | None
    """The mean of the criteria, or the share of points; None without a usable verdict."""
    stored_score: float | None
    """The same judge's score of the stored answer."""
    number: int | None = None
    """Which of the instructions was planted, from 1 on."""
    distance: float | None = None
    """The mean distance of its criteria from the criteria of the unchanged request of the same day,
    as a share of their scales; of the repeated request from the stored verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """Row of `judge_cards`: what a check of a jury came to, until when, and on what it rests."""

    card_id: str
    """The hash of `content`, `jury_part`, the scenario and the dates."""
    check_id: str
    suite: str
    scenario_name: str
    annotator: str
    jury: str
    rubric: str
    rubric_version: str
    judges: tuple[str, ...]
    fingerprints: tuple[str, ...]
    """The identities of the judges' deployments, in the order of `judges`."""
    jury_part: str
    """The jury as `Stat.comparability` names it: the card is of numbers with this part alone."""
    trusted: tuple[str, ...]
    """The uses for which the jury is trusted."""
    untrusted: tuple[str, ...]
    checked_at: datetime
    checked_by: str
    """The operating system's user, which nobody has checked."""
    ends_at: datetime
    """From this moment on the card does not count."""
    policy_version: str
    content: str
    """The lines of evidence and the verdicts of all uses, as JSON."""


TABLES = (
    Table(
        name="planted_verdicts",
        row=PlantedVerdict,
        key=("check_id", "planted", "run_spec_id", "instance_id", "trial_index", "judge"),
        indexed=("check_id",),
        description="What judges said of planted answers; no stage and no board reads it.",
    ),
    Table(
        name="judge_cards",
        row=JudgeCard,
        key=("card_id",),
        indexed=("scenario_name",),
        description="What checks of juries came to, for which uses, and until when.",
    ),
)
