"""Cells, a pair and boards that tests of boards and of their text share."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.domain.policy import ComparisonRules
from medhelm_spark.statistics.board import Leaderboard, build_board
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import BoardPair, adjusted

CELL = BoardCell(
    model="smollm2",
    model_deployment="local/smollm2",
    locality="local",
    scenario_name="pubmed_qa",
    display_name="PubMedQA",
    category="Medical Research Assistance",
    subcategory="Conducting Literature Research",
    access_level="public",
    main_metric="exact_match",
    lower_is_better=False,
    split="test",
    count=100,
    num_unscored=0,
    mean=0.412,
    ci_low=0.38,
    ci_high=0.45,
)
OTHER = replace(CELL, model="always_yes", model_deployment="imported/always_yes", mean=0.55)
NOTE = replace(
    CELL,
    scenario_name="aci_bench",
    display_name="ACI-Bench",
    category="Clinical Note Generation",
    main_metric="aci_bench_accuracy",
    count=9,
    num_unscored=1,
    mean=3.25,
    ci_low=3.0,
    ci_high=3.5,
    jury_evidence=JuryEvidence.NOT_VALIDATED,
    jury_coverage=0.5,
)


def values(*counted: tuple[float, float, int]) -> Sequence[np.ndarray]:
    """Values of two models from (first, second, number of instances); NaN for none."""
    sizes = [size for _, _, size in counted]
    return [np.repeat([pair[side] for pair in counted], sizes).astype(float) for side in (0, 1)]


(PAIR,) = adjusted(
    [
        BoardPair(
            scenario_name="pubmed_qa",
            display_name="PubMedQA",
            main_metric="exact_match",
            first="local/smollm2",
            second="imported/always_yes",
            difference=paired_difference(
                *values((1, 0, 5), (0, 1, 15), (1, 1, 70), (1, np.nan, 10))
            ),
            lower_is_better=False,
        )
    ]
)


def board_of(
    cells: Iterable[BoardCell], pairs: Iterable[BoardPair] = (), notes: Iterable[str] = ()
) -> Leaderboard:
    """The board with the policy's own coverage floor."""
    board = build_board(cells, notes, coverage_floor=ComparisonRules().coverage_floor)
    return replace(board, pairs=tuple(pairs))
