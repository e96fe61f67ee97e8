"""Whether a jury's scores moved: the same requests, sent again on the day of the check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.judge_checks.juries import CheckedJury
from medhelm_spark.judge_checks.planting import Planted
from medhelm_spark.judge_checks.stored import AnswerName
from medhelm_spark.judge_checks.tables import JudgeCard, PlantedVerdict
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader

_CARDS = "SELECT * FROM {{judge_cards}} WHERE {scenario}"
_REPEATS = f"""
SELECT * FROM {{{{planted_verdicts}}}} WHERE planted = '{Planted.REPEAT}' AND {{checks}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheck:
    """The newest check of another day of the same judges and rubric, with its repeated requests."""

    checked_at: datetime
    scores: Mapping[AnswerName, float]
    """The mean of all judges, of the answers on which each judge had a usable verdict."""


def last_check(reader: Reader, jury: CheckedJury, at: datetime) -> LastCheck | None:
    """The check before this one; None where on no other day a check asked the judges.

    Args:
        reader: the lake.
        jury: the jury that is checked.
        at: the moment of the check.
    """
    where = among("scenario_name", [jury.scenario_name])
    cards: list[JudgeCard] = reader.rows(_CARDS.format(scenario=where), JudgeCard)
    own = {
        card.check_id: card.checked_at
        for card in cards
        if (card.suite, card.jury_part) == (jury.suite, jury.part)
        and card.checked_at.date() < at.date()
    }
    if not own:
        return None
    rows: list[PlantedVerdict] = reader.rows(
        _REPEATS.format(checks=among("check_id", own)), PlantedVerdict
    )
    by_check: dict[str, list[PlantedVerdict]] = {}
    for row in rows:
        by_check.setdefault(row.check_id, []).append(row)
    for check_id in sorted(by_check, key=lambda each: own[each], reverse=True):
        if scores := mean_scores(by_check[check_id], len(jury.judges)):
            return LastCheck(checked_at=own[check_id], scores=scores)
    return None


def mean_scores(rows: Sequence[PlantedVerdict], judges: int) -> dict[AnswerName, float]:
    """The mean of all judges by answer, where each has a usable verdict."""
    by_answer: dict[AnswerName, list[float]] = {}
    for row in rows:
        if row.score is not None:
            name = (row.run_spec_id, row.instance_id, row.trial_index)
            by_answer.setdefault(name, []).append(row.score)
    return {
        name: sum(own) / judges for name, own in sorted(by_answer.items()) if len(own) == judges
    }
