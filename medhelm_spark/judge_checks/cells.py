"""The evidence behind the juries of a board's cells, by judge cards (`features`)."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.judge_checks.cards import trusted_runs
from medhelm_spark.lake.reader import Reader

_WITHOUT_CARD = (JuryEvidence.STATED, JuryEvidence.NOT_VALIDATED)


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, those validated whose jury a current card trusts to rank and to score."""
    trusted = trusted_runs(reader, runs)
    return [
        replace(run, cell=replace(run.cell, jury_evidence=JuryEvidence.VALIDATED))
        if run.run_spec.run_spec_id in trusted
        and run.cell
        and run.cell.jury_evidence in _WITHOUT_CARD
        else run
        for run in runs
    ]
