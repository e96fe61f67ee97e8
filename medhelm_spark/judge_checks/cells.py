"""The evidence behind the juries of a board's cells, by judge cards (`features`)."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.judge_checks.cards import deciding_cards, is_trusting
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.reader import Reader

_WITHOUT_CARD = (JuryEvidence.STATED, JuryEvidence.NOT_VALIDATED)


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, with the verdict of current cards on their juries, for ranks and scores."""
    cards = deciding_cards(reader, runs)
    return [
        replace(
            run, cell=replace(run.cell, jury_evidence=_evidence_of(own, run.cell.jury_evidence))
        )
        if (own := cards.get(run.run_spec.run_spec_id))
        and run.cell
        and run.cell.jury_evidence in _WITHOUT_CARD
        else run
        for run in runs
    ]


def _evidence_of(cards: Sequence[JudgeCard | None], otherwise: JuryEvidence) -> JuryEvidence:
    """The evidence of the cards of a run's juries; a None card is one that no card decides."""
    if any(card is not None and not is_trusting(card) for card in cards):
        return JuryEvidence.UNTRUSTED
    return otherwise if None in cards else JuryEvidence.VALIDATED
