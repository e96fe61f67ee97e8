"""Two rows on the instances that both have: win rates and tiers where answers are missing."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from medhelm_spark.board.render.board import render
from medhelm_spark.domain.stats import SHARE, UNBOUNDED, MetricInfo
from medhelm_spark.statistics.board import Leaderboard, build_board
from medhelm_spark.statistics.bootstrap import mean_draws
from medhelm_spark.statistics.common import Common, CommonMeans, OnCommon, common_means
from medhelm_spark.statistics.tiers import DecidingColumn, standings
from tests.unit.statistics.cells import CELL

SPREAD = np.random.default_rng(4).permutation(400) / 400
"""How hard each of 400 questions is: a model of skill .7 answers those below .7."""


def right(skill: float, missing: Sequence[int] = ()) -> np.ndarray:
    values = (skill > SPREAD).astype(float)
    values[list(missing)] = np.nan
    return values


def on_common(first: np.ndarray, second: np.ndarray) -> OnCommon:
    both = ~np.isnan(first) & ~np.isnan(second)
    parts = np.stack([first, second])[:, both]
    return OnCommon(both, parts.mean(axis=1), parts)


def units(name: str, n: int = 400) -> np.ndarray:
    generator = np.random.default_rng(abs(sum(map(ord, name))))
    return generator.integers(0, 2**63, n).astype(np.uint64)


def board_of(scenarios: dict[str, dict[str, np.ndarray]]) -> Leaderboard:
    """The board of these answers, by scenario and model."""
    cells, common = [], {}
    for name, models in scenarios.items():
        hashes = units(name)
        for model, values in models.items():
            known = ~np.isnan(values)
            ones = np.ones(int(known.sum()))
            cells.append(
                replace(
                    CELL,
                    model=model,
                    model_deployment=model,
                    scenario_name=name,
                    display_name=name,
                    count=len(ones),
                    num_unscored=int((~known).sum()),
                    mean=float(values[known].mean()),
                    minimum=0.0,
                    maximum=1.0,
                    run_spec_ids=(f"{model} on {name}",),
                    draws=tuple(mean_draws(hashes[known], ones, values[known])),
                )
            )
        pairs = list(combinations(models, 2))
        made = common_means(
            [on_common(models[first], models[second]) for first, second in pairs], hashes, SHARE
        )
        for (first, second), means in zip(pairs, made, strict=True):
            keys = (f"{first} on {name}",), (f"{second} on {name}",)
            common |= {keys: means, keys[::-1]: means.turned}
    return build_board(cells, common=common, coverage_floor=0.9)


def rows_of(board: Leaderboard) -> dict[str, tuple]:
    return {
        row.name: (row.rank, row.mean_win_rate, row.standing and row.standing.tier)
        for row in board.rows
    }


def test_a_model_that_leaves_out_what_it_would_get_wrong_is_not_ranked_first():
    """Five of 100 answers missing, all of them wrong ones: .737 beside .700, and no better."""
    wrong = np.flatnonzero(right(0.7) == 0)[:20]
    board = board_of({"qa": {"whole": right(0.7), "leaves out": right(0.7, wrong)}})
    assert rows_of(board) == {"whole": (1, 0.5, 1), "leaves out": (1, 0.5, 1)}
    cells = {row.name: row.cells[0] for row in board.rows}
    assert cells["leaves out"].mean == pytest.approx(0.7368, abs=1e-4), "its own mean stays"
    text = render(board, "table")
    assert "n=380/400" in text, "beside what is missing"
    assert "win rates and tiers compare two models on the instances that both have" in text
    apart = board_of({"qa": {"whole": right(0.7), "better": right(0.8, wrong)}})
    assert rows_of(apart) == {"better": (1, 1.0, 1), "whole": (2, 0.0, 2)}


def test_complete_rows_have_the_win_rates_and_resamples_of_their_own_means():
    models = {"a": right(0.7), "b": right(0.5), "c": right(0.5)}
    assert {name: row[1] for name, row in rows_of(board_of({"qa": models})).items()} == {
        "a": 1.0,
        "b": 0.25,
        "c": 0.25,
    }
    hashes, ones = units("qa"), np.ones(400)
    (means,) = common_means([on_common(models["a"], models["b"])], hashes, SHARE)
    own = [mean_draws(hashes, ones, models[name]) for name in "ab"]
    assert np.allclose(means.differences, own[0] - own[1], rtol=0, atol=1e-12)
    assert (means.first, means.second, means.share) == (0.7, 0.5, 1.0)
    assert np.array_equal(means.turned.differences, -means.differences)


def test_instances_of_a_cluster_are_drawn_together():
    hashes = np.repeat(units("qa", 40), 10)
    first, second = np.repeat(SPREAD[:40] < 0.7, 10) * 1.0, np.repeat(SPREAD[:40] < 0.4, 10) * 1.0
    (clustered,) = common_means([on_common(first, second)], hashes, SHARE)
    (single,) = common_means([on_common(first, second)], units("qa"), SHARE)
    assert clustered.differences.std() > 2.5 * single.differences.std()
    (few,) = common_means([on_common(first, second)], np.repeat(hashes[::50], 50), SHARE)
    assert few.differences is None, "8 clusters are too few"


def test_means_of_a_scale_that_clips_them_are_clipped():
    clips = replace(UNBOUNDED, minimum=0.0, maximum=1.0, clips_mean=True)
    rows = np.where(SPREAD < 0.9, -1.0, 1.0), SPREAD
    (means,) = common_means([on_common(*rows)], units("qa"), clips)
    assert means.first == 0.0
    assert means.differences.max() <= 0.0


@pytest.mark.parametrize("scale", [SHARE, UNBOUNDED], ids=["share", "open"])
def test_models_that_share_no_instance_are_not_compared(scale: MetricInfo):
    (means,) = common_means([OnCommon.nothing(400)], units("qa"), scale)
    assert (means.share, means.differences) == (0.0, None)
    cells = [
        replace(CELL, model=name, model_deployment=name, run_spec_ids=(name,), mean=mean)
        for name, mean in (("a", 0.9), ("b", 0.5), ("c", 0.7))
    ]
    common: dict[tuple, CommonMeans] = {(("a",), ("b",)): means, (("b",), ("a",)): means.turned}
    board = build_board(cells, common=common, coverage_floor=0.9)
    assert {row.name: row.mean_win_rate for row in board.rows} == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert not any(row.standing for row in board.rows)


def test_parts_are_compared_one_by_one():
    """A part that one model left out is left out for both."""

    def part(model: str, name: str, mean: float | None):
        return replace(
            CELL,
            model=model,
            model_deployment=model,
            part=name,
            mean=mean,
            run_spec_ids=(f"{model} {name}",),
        )

    cells = [part("a", "x", 0.9), part("a", "y", 0.5), part("b", "x", 0.8), part("b", "y", None)]
    rates = {row.name: row.mean_win_rate for row in build_board(cells, coverage_floor=0).rows}
    assert rates == {"a": 1.0, "b": 0.0}, "0.7 and 0.8 by their own means"
    same = CommonMeans(0.6, 0.6, 0.5, None)
    common: Common = {(("a x",), ("b x",)): same, (("b x",), ("a x",)): same}
    rates = {
        row.name: row.mean_win_rate
        for row in build_board(cells, common=common, coverage_floor=0).rows
    }
    assert rates == {"a": 0.5, "b": 0.5}


def test_rows_that_beat_each_other_in_a_circle_share_a_tier():
    draws = np.random.default_rng(1).normal(0, 0.01, (6, 1000))
    # a beats b, b beats c, c beats a, and all of them beat d.
    gains = np.array([0.2, -0.2, 0.2, 0.2, 0.2, 0.2])
    column = DecidingColumn(
        differences=gains, draws=draws + gains[:, None], lower_is_better=False, units=100, width=1.0
    )
    assert [(row.tier, row.rank_low, row.rank_high) for row in standings(4, [column])] == [
        (1, 2, 2), (1, 2, 2), (1, 2, 2), (2, 4, 4)
    ]  # fmt: skip
