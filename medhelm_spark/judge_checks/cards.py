"""Judge cards: which cards count, and the runs whose juries a card trusts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.moments import now
from medhelm_spark.judge_checks.lines import Trust, Use
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader

CURRENT, ENDED, CHANGED = "current", "ended", "changed since"

NEEDED = frozenset({Use.RANK, Use.ABSOLUTE})
"""What boards and releases use a jury for: they print means, and rank models by them."""

_CARDS = "SELECT * FROM {{judge_cards}} WHERE {scenarios}"


def hash_of(card: JudgeCard) -> str:
    """The hash of a card's content: its `card_id`, unless somebody changed the card."""
    dates = {name: getattr(card, name).isoformat() for name in ("checked_at", "ends_at")}
    return content_id({**asdict(card), "card_id": "", **dates})


def status_of(card: JudgeCard, at: datetime) -> str:
    """Whether a card counts at a moment."""
    if hash_of(card) != card.card_id:
        return CHANGED
    return CURRENT if at < card.ends_at else ENDED


def trusted_runs(reader: Reader, runs: Sequence[BoardRun]) -> frozenset[str]:
    """The ids of the runs each of whose juries a current card trusts to rank and to score.

    Of several cards of a jury the newest one that trusts it or calls it untrusted counts; a card
    that is inconclusive changes nothing.
    """
    return frozenset(
        unit
        for unit, cards in deciding_cards(reader, runs).items()
        if all(card is not None and is_trusting(card) for card in cards)
    )


def untrusting_cards(reader: Reader, runs: Sequence[BoardRun]) -> Mapping[str, str]:
    """By run a sentence that names the card which calls one of the run's juries untrusted."""
    return {
        unit: f"judge card {card.card_id[:8]} of {card.checked_at:%Y-%m-%d} calls its jury "
        f"{Trust.UNTRUSTED} for {', '.join(card.untrusted)}"
        for unit, cards in deciding_cards(reader, runs).items()
        for card in cards
        if card is not None and not is_trusting(card)
    }


def deciding_cards(
    reader: Reader, runs: Sequence[BoardRun]
) -> Mapping[str, tuple[JudgeCard | None, ...]]:
    """By run with a jury the newest current card that decides about each of its juries."""
    parts = {run.run_spec.run_spec_id: _parts(run) for run in runs if run.run_spec.annotators}
    if not any(parts.values()):
        return {}
    scenarios = among("scenario_name", {run.run_spec.scenario_name for run in runs})
    rows: list[JudgeCard] = reader.rows(_CARDS.format(scenarios=scenarios), JudgeCard)
    decided = _decided(rows, now())
    return {
        run.run_spec.run_spec_id: tuple(
            decided.get((run.run_spec.scenario_name, part)) for part in sorted(own)
        )
        for run in runs
        if (own := parts.get(run.run_spec.run_spec_id))
    }


def is_trusting(card: JudgeCard) -> bool:
    """Whether a card trusts its jury for what boards and releases use it for."""
    return set(card.trusted) >= NEEDED


def _parts(run: BoardRun) -> frozenset[str]:
    """The juries behind the stats of a run, as `Stat.comparability` names them."""
    texts = {(stat.comparability or {}).get(JURY, "") for stat in run.stats}
    return frozenset(part for text in texts for part in text.split("; ") if part)


def _decided(cards: Iterable[JudgeCard], at: datetime) -> Mapping[tuple[str, str], JudgeCard]:
    """By scenario and jury the newest current card that trusts the jury or calls it untrusted."""
    decided: dict[tuple[str, str], JudgeCard] = {}
    for card in sorted(cards, key=lambda card: card.checked_at):
        is_deciding = is_trusting(card) or set(card.untrusted) & NEEDED
        if is_deciding and status_of(card, at) == CURRENT:
            decided[card.scenario_name, card.jury_part] = card
    return decided
