"""Agreement of raters beside published values and scipy."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from medhelm_spark.statistics.agreement import (
    MeasurementLevel,
    bland_altman,
    fleiss,
    kendall,
    krippendorff,
    krippendorff_interval,
    spearman,
    weighted_kappa,
)
from medhelm_spark.statistics.alt_test import alt_test
from medhelm_spark.statistics.intraclass import NOTHING, intraclass

SHROUT = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
"""Shrout and Fleiss 1979, table 2: six targets, four judges."""
_ = math.nan
RELIABILITY_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T
"""Krippendorff 2011, section C: twelve units, four observers, values missing."""


def test_intraclass_correlations_are_those_of_shrout_and_fleiss() -> None:
    correlations = intraclass(SHROUT)
    assert correlations.agreement.value == pytest.approx(0.28976378, abs=1e-8)
    assert correlations.consistency.value == pytest.approx(0.71484071, abs=1e-8)
    assert correlations.mean_agreement.value == pytest.approx(0.62005055, abs=1e-8)
    assert correlations.mean_consistency.value == pytest.approx(0.90931554, abs=1e-8)
    # the intervals that R's psych and irr print
    assert (correlations.agreement.low, correlations.agreement.high) == pytest.approx(
        (0.0188, 0.7611), abs=5e-4
    )
    assert (correlations.consistency.low, correlations.consistency.high) == pytest.approx(
        (0.3425, 0.9459), abs=5e-4
    )
    assert (correlations.mean_consistency.low, correlations.mean_consistency.high) == pytest.approx(
        (0.6756, 0.9859), abs=5e-4
    )
    assert (correlations.mean_agreement.low, correlations.mean_agreement.high) == pytest.approx(
        (0.0712, 0.9272), abs=5e-4
    )


MADE = np.array(
    [
        [1.53, 3.32, 2.34],
        [0.46, 1.62, 0.86],
        [2.31, 2.41, 2.25],
        [3.81, 3.38, 3.01],
        [4.42, 4.72, 2.99],
        [2.93, 2.42, 2.99],
        [1.54, 2.46, 2.42],
        [2.0, 1.48, 1.94],
        [2.98, 2.8, 3.91],
        [3.86, 5.45, 5.14],
        [1.87, 3.46, 2.5],
        [1.79, 1.8, 0.37],
    ]
)
"""Twelve made items, three raters."""


def test_intraclass_correlations_and_intervals_are_those_of_pingouin() -> None:
    """Value, low and high of pingouin 0.7.0 before it rounds."""
    first, second = intraclass(SHROUT), intraclass(MADE)
    expected = {
        (0.28976377952755916, 0.018786513374712058, 0.7610843696489527): first.agreement,
        (0.7148407148407154, 0.34246476503392614, 0.9458582599553597): first.consistency,
        (0.6200505475989893, 0.07113681530250353, 0.9272320401677219): first.mean_agreement,
        (0.9093155423770697, 0.6756747138163055, 0.9858916781690623): first.mean_consistency,
        (0.7208388730964089, 0.44392495612559135, 0.8988994000882908): second.agreement,
        (0.7373470312213642, 0.4603994547412125, 0.9066069399126482): second.consistency,
        (0.8856683166569084, 0.7054453109509579, 0.9638642350174258): second.mean_agreement,
        (0.8938644688388773, 0.7190749418927007, 0.9668020050814082): second.mean_consistency,
    }
    for values, correlation in expected.items():
        assert (correlation.value, correlation.low, correlation.high) == pytest.approx(
            values, abs=1e-9
        )


@pytest.mark.parametrize(
    "table", [np.zeros((0, 3)), np.ones((1, 3)), np.ones((4, 1)), np.full((5, 3), 2.0)]
)
def test_a_table_that_defines_no_correlation_has_none(table: np.ndarray) -> None:
    assert intraclass(table) == NOTHING


def test_raters_who_agree_wholly_have_no_interval_and_no_nan() -> None:
    correlations = intraclass(np.array([[1, 1], [2, 2], [5, 5]], float))
    for each in (
        correlations.agreement,
        correlations.consistency,
        correlations.mean_agreement,
        correlations.mean_consistency,
    ):
        assert each.value == pytest.approx(1)
    shifted = intraclass(np.array([[1, 2], [2, 3], [5, 6]], float))
    assert shifted.consistency.value == pytest.approx(1)
    assert 0 < shifted.agreement.value < 1
    assert not math.isnan(shifted.agreement.low or 0)


def test_intervals_of_raters_who_answer_by_chance_are_in_order_and_on_their_scale() -> None:
    chance = np.random.default_rng(1)
    num_open = 0
    for items, raters in [(3, 2), (3, 3), (4, 5), (6, 3), (12, 5)] * 300:
        found = intraclass(chance.integers(1, 6, (items, raters)).astype(float))
        for each in (found.agreement, found.mean_agreement):
            if each is not None:
                low = -math.inf if each.low is None else each.low
                high = 1 + 1e-9 if each.high is None else each.high
                assert low <= each.value <= high <= 1 + 1e-9, "also false where an end is NaN"
        one = found.agreement
        if one and one.low is not None:
            assert one.low >= min(one.value, -1)
            num_open += bool(found.mean_agreement and found.mean_agreement.low is None)
    assert num_open > 0


def test_the_mean_of_raters_has_no_lower_end_where_one_of_them_may_agree_too_ill() -> None:
    """With two raters Spearman and Brown's divisor 1 + ICC(A,1) is 0 at the end of -1."""
    found = intraclass(np.array([[5, 3], [2, 5], [2, 3], [4, 3], [1, 1]], float))
    assert found.agreement.low == -1
    assert found.mean_agreement.value == pytest.approx(0.4)
    assert found.mean_agreement.low is None
    assert 0.4 < found.mean_agreement.high < 1


def test_the_interval_of_an_intraclass_correlation_holds_the_true_one() -> None:
    chance = np.random.default_rng(4)
    covered = [0, 0]
    for _draw in range(400):
        truth = chance.normal(size=(40, 1))
        raters = chance.normal(scale=0.5, size=(1, 4))
        found = intraclass(truth + raters + chance.normal(size=(40, 4)))
        covered[0] += found.consistency.low <= 0.5 <= found.consistency.high
        alone = intraclass(truth + chance.normal(size=(40, 4)))
        covered[1] += alone.agreement.low <= 0.5 <= alone.agreement.high
    assert min(covered) / 400 >= 0.93


@pytest.mark.parametrize(
    ("scale", "alpha"),
    [
        (MeasurementLevel.NOMINAL, 0.743421052631579),
        (MeasurementLevel.ORDINAL, 0.8153875037548814),
        (MeasurementLevel.INTERVAL, 0.8491071428571428),
        (MeasurementLevel.RATIO, 0.7974027747116121),
    ],
)
def test_alpha_is_that_of_krippendorff(scale: MeasurementLevel, alpha: float) -> None:
    """His data C; the digits beyond his four are those of the package krippendorff 0.9."""
    assert krippendorff(RELIABILITY_C, scale) == pytest.approx(alpha, abs=1e-9)
    interval = krippendorff_interval(RELIABILITY_C, scale)
    assert interval.low < interval.value < interval.high <= 1
    assert krippendorff_interval(RELIABILITY_C, scale) == interval


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((0, 2)),
        np.array([[1, math.nan], [math.nan, 2]]),
        np.full((6, 3), 4.0),
        np.full((3, 2), math.nan),
    ],
)
def test_alpha_of_nothing_to_compare_is_none(table: np.ndarray) -> None:
    for scale in MeasurementLevel:
        assert krippendorff(table, scale) is None
        assert krippendorff_interval(table, scale) is None


def test_kappas_and_rank_correlations() -> None:
    # Fleiss 1971 as reprinted by Wikipedia: 10 subjects, 14 raters, 5 classes
    counts = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        float,
    )
    assert fleiss(counts) == pytest.approx(0.20993, abs=1e-5)
    assert fleiss(counts[:0]) is None
    assert fleiss(np.array([[3.0, 0], [3, 0]])) is None
    first = np.array([1, 2, 3, 4, 5, 5, 2, 1], float)
    second = np.array([1, 3, 3, 5, 5, 4, 2, 2], float)
    assert spearman(first, second).value == pytest.approx(stats.spearmanr(first, second).statistic)
    assert kendall(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
    assert weighted_kappa(first, first) == pytest.approx(1)
    # four of eight differ by 1; the expected square is both variances and the means' difference
    expected = 1 - (4 / 8) / (first.var() + second.var() + 0.25**2)
    assert weighted_kappa(first, second) == pytest.approx(expected)
    assert spearman(first, np.ones(8)) is None
    assert kendall(first[:1], first[:1]) is None
    assert weighted_kappa(np.ones(3), np.ones(3)) is None
    assert weighted_kappa(np.array([1.0]), np.array([2.0])) is None


def test_bias_and_its_limits() -> None:
    first, second = np.array([3.0, 4, 5, 4]), np.array([2.0, 4, 3, 4])
    limits = bland_altman(first, second)
    spread = np.std([1, 0, 2, 0], ddof=1)
    assert limits.bias.value == 0.75
    assert limits.high == pytest.approx(0.75 + 1.959964 * spread, abs=1e-5)
    assert limits.bias.low == pytest.approx(0.75 - 3.182446 * spread / 2, abs=1e-5)
    assert bland_altman(first[:1], second[:1]).low is None
    assert bland_altman(first[:0], second[:0]) is None


def test_a_judge_like_the_raters_passes_and_a_random_one_does_not() -> None:
    chance = np.random.default_rng(7)
    truth = chance.integers(1, 6, size=(100, 1)).astype(float)
    raters = np.clip(truth + chance.integers(-1, 2, size=(100, 3)), 1, 5).astype(float)
    good = alt_test(raters, truth[:, 0], is_class=False)
    assert good.is_passed
    assert (good.winning_rate, good.num_raters, good.fewest_items) == (1.0, 3, 100)
    assert good.advantage > 0.7
    poor = alt_test(raters, chance.integers(1, 6, size=100).astype(float), is_class=False)
    assert poor.winning_rate == 0.0
    assert not poor.is_passed
    assert alt_test(raters[:, :1], truth[:, 0], is_class=False) is None
    assert alt_test(raters[:20], truth[:20, 0], is_class=True).is_small


def test_equal_judge_and_raters_are_a_value_and_no_nan() -> None:
    same = np.full((5, 2), 3.0)
    result = alt_test(same, same[:, 0], is_class=False)
    assert (result.winning_rate, result.advantage) == (1.0, 1.0)


def test_physicians_who_checked_answers_agree_as_published(real_data: Path) -> None:
    """K-QA: entailment, neutral or contradiction of a claim, by three physicians."""
    path = real_data / "human_rated" / "kqa" / "NLI_medical_annotator.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[row[f"label_{rater}"] for rater in range(3)] for row in csv.DictReader(file)]
    whole = [row for row in rows if all(row)]
    labels = sorted({label for row in whole for label in row})
    counts = np.array([[row.count(label) for label in labels] for row in whole], float)
    assert fleiss(counts) == pytest.approx(0.71887, abs=1e-5)


def test_readers_of_summaries_agree_as_published(real_data: Path) -> None:
    """Clinical summaries: completeness, correctness and conciseness by five readers."""
    from openpyxl import load_workbook

    folder = real_data / "human_rated" / "clin_summ_chq"
    switched = json.loads((folder / "blind_order.json").read_text(encoding="utf-8"))
    sheet = load_workbook(folder / "result.xlsx", read_only=True).worksheets[0]
    header, *lines = (list(row) for row in sheet.iter_rows(values_only=True))
    single, several = (0.2761, 0.0836, 0.0917), (0.6560, 0.3132, 0.3353)
    for question, (items, one, mean) in enumerate(
        zip((98, 99, 99), single, several, strict=True), start=1
    ):
        table = _table_of(header, lines, question, switched)
        assert table.shape == (items, 5)
        correlations = intraclass(table)
        assert correlations.consistency.value == pytest.approx(one, abs=5e-5)
        assert correlations.mean_consistency.value == pytest.approx(mean, abs=5e-5)
        assert correlations.consistency.low < one < correlations.consistency.high


def _table_of(header, lines, question, switched) -> np.ndarray:
    names = [str(name) for name in header]
    columns = [index for index, name in enumerate(names) if name.endswith(f"_{question}")]
    rows = []
    for index in columns:
        values = [line[index] for line in lines]
        sign = -1 if switched.get(names[index].split("_")[0]) else 1
        try:
            rows.append([sign * float(value) for value in values])
        except (TypeError, ValueError):
            continue
    return np.array(rows)
