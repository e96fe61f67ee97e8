"""Judge cards: which of them count, and the runs whose juries they show to be trusted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.moments import now
from medhelm_spark.judge_checks.lines import Use
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader

CURRENT, ENDED, CHANGED = "current", "ended", "changed since"

NEEDED = frozenset({Use.RANK, Use.ABSOLUTE})
"""What boards and releases use a jury for: they print means, and rank models by them."""

_CARDS = "SELECT * FROM {{judge_cards}} WHERE {scenarios}"


def hash_of(card: JudgeCard) -> str:
    """The hash of all that a card says, which is its `card_id` as long as nobody changed it."""
    dates = {name: getattr(card, name).isoformat() for name in ("checked_at", "ends_at")}
    return content_id({**asdict(card), "card_id": "", **dates})


def status_of(card: JudgeCard, at: datetime) -> str:
    """Whether a card counts at a moment."""
    if hash_of(card) != card.card_id:
        return CHANGED
    return CURRENT if at < card.ends_at else ENDED


def trusted_runs(reader: Reader, runs: Sequence[BoardRun]) -> frozenset[str]:
    """The ids of the runs each of whose juries a current card trusts to rank and to score.

    Of several cards of a jury the newest one counts that trusts it or not: one that decides nothing
    takes nothing away.
    """
    parts = {run.run_spec.run_spec_id: _parts(run) for run in runs if run.run_spec.annotators}
    if not any(parts.values()):
        return frozenset()
    scenarios = among("scenario_name", {run.run_spec.scenario_name for run in runs})
    rows: list[JudgeCard] = reader.rows(_CARDS.format(scenarios=scenarios), JudgeCard)
    decided = _decided(rows, now())
    return frozenset(
        run.run_spec.run_spec_id
        for run in runs
        if (own := parts.get(run.run_spec.run_spec_id))
        and all(decided.get((run.run_spec.scenario_name, part)) for part in own)
    )


def _parts(run: BoardRun) -> frozenset[str]:
    """The juries that the stats of a run rest on, as `Stat.comparability` names them."""
    texts = {(stat.comparability or {}).get(JURY, "") for stat in run.stats}
    return frozenset(part for text in texts for part in text.split("; ") if part)


def _decided(cards: Iterable[JudgeCard], at: datetime) -> Mapping[tuple[str, str], bool]:
    """By scenario and jury whether the newest current card that decides trusts it."""
    held: dict[tuple[str, str], bool] = {}
    for card in sorted(cards, key=lambda card: card.checked_at):
        is_trusted, is_untrusted = set(card.trusted) >= NEEDED, set(card.untrusted) & NEEDED
        if (is_trusted or is_untrusted) and status_of(card, at) == CURRENT:
            held[card.scenario_name, card.jury_part] = is_trusted
    return held
