"""Resamples that agree between runs."""

import numpy as np
import pytest

from medhelm_spark.statistics.bootstrap import DRAWS, mean_draws, measure_draws, weights


def hashes(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**63, size).astype(np.uint64)


def test_weights_are_poissons_and_independent():
    drawn = weights(hashes(2000))
    assert drawn.shape == (2000, DRAWS)
    assert drawn.mean() == pytest.approx(1, abs=0.003)
    assert drawn.var() == pytest.approx(1, abs=0.01)
    assert (drawn == 0).mean() == pytest.approx(np.exp(-1), abs=0.002)
    by_unit, by_draw = np.corrcoef(drawn[:50]), np.corrcoef(drawn.T[:50])
    for correlations in (by_unit, by_draw):
        assert np.abs(correlations[~np.eye(50, dtype=bool)]).max() < 0.16


def test_consecutive_hashes_are_as_good_as_any():
    drawn = weights(np.arange(2000, dtype=np.uint64))
    assert drawn.var() == pytest.approx(1, abs=0.01)
    assert np.abs(np.corrcoef(drawn[:50])[~np.eye(50, dtype=bool)]).max() < 0.16


def test_a_units_weights_depend_on_nothing_else():
    units = hashes(300)
    assert (weights(units)[7] == weights(units[7:8])[0]).all()
    assert (weights(units, 2000)[:, :DRAWS] == weights(units)).all()


def test_resampled_means_spread_as_the_standard_error():
    units, right = hashes(800), (np.random.default_rng(1).random(800) < 0.7).astype(float)
    drawn = mean_draws(units, np.ones(800), right)
    assert drawn is not None
    assert drawn.mean() == pytest.approx(right.mean(), abs=0.002)
    assert drawn.std() == pytest.approx(right.std() / np.sqrt(800), rel=0.1)


def test_two_runs_over_the_same_instances_are_paired_whatever_their_order():
    units = hashes(500)
    right = (np.random.default_rng(2).random(500) < 0.5).astype(float)
    other = right.copy()
    other[:5] = 1 - other[:5]
    order = np.random.default_rng(3).permutation(500)
    first = mean_draws(units, np.ones(500), right)
    second = mean_draws(units[order], np.ones(500), other[order])
    assert first is not None
    assert second is not None
    assert (first - second).std() < first.std() / 5
    assert (mean_draws(units[order], np.ones(500), right[order]) == first).all()


def test_units_of_any_size_in_any_number_of_blocks():
    units, sizes = hashes(3000), np.arange(3000) % 7 + 1.0
    drawn = mean_draws(units, sizes, 0.25 * sizes)
    assert drawn == pytest.approx(np.full(DRAWS, 0.25))


def test_too_few_units_are_not_resampled():
    assert mean_draws(hashes(9), np.ones(9), np.ones(9)) is None
    assert mean_draws(hashes(10), np.ones(10), np.ones(10)) is not None
    assert measure_draws(lambda counts: [1.0], hashes(9), np.zeros(9, np.int64), 1) is None


def test_a_measure_of_counted_rows_is_resampled_as_means_are():
    units, rows = hashes(3000), np.random.default_rng(4).integers(0, 3, 3000)
    worth = np.array([0.0, 0.5, 1.0])
    drawn = measure_draws(lambda counts: [counts @ worth / counts.sum()], units, rows, 3)
    assert drawn is not None
    assert [value for (value,) in drawn] == pytest.approx(
        mean_draws(units, np.ones(3000), worth[rows]), rel=1e-12
    )
