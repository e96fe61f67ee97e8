"""p-values of several questions asked at once."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from medhelm_spark.statistics.multiple import benjamini_hochberg, holm

CASES = [
    [],
    [0.03],
    [0.01, 0.04, 0.03, 0.005],
    [1.0, 1.0, 0.9],
    [0.02, 0.02, 0.02],
    np.random.default_rng(0).random(200).tolist(),
]


@pytest.mark.parametrize("p_values", CASES)
def test_both_are_statsmodels(p_values):
    for ours, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        expected = multipletests(p_values, method=name)[1] if p_values else []
        assert ours(p_values) == pytest.approx(list(expected), rel=1e-12)


@pytest.mark.parametrize("p_values", CASES[1:])
def test_benjamini_hochberg_is_scipys(p_values):
    expected = false_discovery_control(p_values).tolist()
    assert benjamini_hochberg(p_values) == pytest.approx(expected, rel=1e-12)
