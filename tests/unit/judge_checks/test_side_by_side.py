"""Two juries on the same answers and ratings: which one agrees better with the raters."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import INCONCLUSIVE, NO_GO
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.judge_checks.side_by_side import MEAN
from medhelm_spark.judge_checks.side_by_side_results import JuriesSideBySide
from medhelm_spark.statistics.agreement import spearman, weighted_kappa
from medhelm_spark.statistics.agreement_differences import (
    AgreementDifference,
    AgreementMeasure,
    agreement_differences,
)
from medhelm_spark.statistics.intraclass import intraclass
from tests.unit.judge_checks.judges import PROMPT, TWO_CRITERIA
from tests.unit.judge_checks.ward import MODELS, PLUGIN, Ward

SECOND = "second/judge"


class TwoJuries:
    """A ward whose answers a second jury judged too, in suite `t`."""

    def __init__(
        self,
        folder: Path,
        defect: str,
        *,
        rated: int = 40,
        first: str = "",
        per_item: int = 3,
        prompt: str = PROMPT,
        criteria: Sequence[str] = ("accuracy", "clarity"),
    ) -> None:
        self.ward = Ward(folder, first, prompt=prompt).run()
        if rated:
            self.ward.rate(rated, per_item=per_item, criteria=criteria)
        path = self.ward.site / "model_deployments.yaml"
        deployments = yaml.safe_load(path.read_text())
        other = {"name": SECOND, "engine": "scripted_judge", "locality": "local"}
        other["client_spec"] = {"args": {"defect": defect}}
        deployments["model_deployments"].append(other)
        path.write_text(yaml.safe_dump(deployments))
        judges = [{"name": "second", "model": SECOND, "model_deployment": SECOND}]
        file = folder / "second.yaml"
        file.write_text(yaml.safe_dump({"name": "second", "judges": judges}))
        self.entry = f"{self.ward.entry},jury_config_path={file}"
        self.ward.evaluation.run(self.entry, suite="t", models_to_run=list(MODELS))

    def compare(self, **more: object) -> JuriesSideBySide:
        entries = [self.ward.entry, self.entry]
        more = {"entries": entries, "models_to_run": list(MODELS), "against_suite": "t"} | more
        return self.ward.evaluation.judges.compare(scenario="ward", suite="s", **more)

    def command(self, *more: str) -> int:
        ward = self.ward
        flags = ["-o", str(ward.lake), "--local-path", str(ward.site), "--plugins", PLUGIN]
        entries = [f"{entry},model={m}" for entry in (ward.entry, self.entry) for m in MODELS]
        return main(["judge", "check", "--scenario", "ward", *flags, "-r", *entries, *more])


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> TwoJuries:
    """A sound jury beside one that likes long answers, rated by three raters."""
    return TwoJuries(tmp_path_factory.mktemp("longer") / "site", "longer")


def test_the_jury_without_the_defect_agrees_better_by_every_measure(longer: TwoJuries) -> None:
    num_asked = len(longer.ward.asked)
    done = longer.compare()
    assert len(longer.ward.asked) == num_asked
    rows = {row["measure"]: row for row in done.rows()}
    assert list(rows) == ["ICC(A,1)", "Spearman", "weighted kappa", "mean distance"]
    assert {row["better"] for row in rows.values()} == {"first"}
    assert {row["num_answers"] for row in rows.values()} == {80}
    icc = rows["ICC(A,1)"]
    assert icc["difference"] == pytest.approx(icc["first"] - icc["second"])
    assert 0 < icc["difference_low"] < icc["difference"] < icc["difference_high"]
    assert icc["raters"] < icc["first"]
    assert done.first_is_better is True
    assert re.match(
        r"jury ward agrees better with the raters than jury second: ICC\(A,1\) 0\.\d+ and 0\.\d+, "
        r"difference \+0\.\d+ \[0\.\d+, 0\.\d+\] on 80 answers of 3 raters\.",
        done.verdict,
    )
    assert str(longer.compare()) == str(done), "the draws are those of the answers' hashes"


def test_the_other_way_round_says_the_same(longer: TwoJuries) -> None:
    there = {row["measure"]: row for row in longer.compare().rows()}
    back = longer.ward.evaluation.judges.compare(
        scenario="ward",
        suite="t",
        against_suite="s",
        entries=[longer.ward.entry, longer.entry],
        models_to_run=list(MODELS),
    )
    assert back.first_is_better is False
    assert "jury ward agrees better with the raters than jury second" in back.verdict
    for row in back.rows():
        own = there[row["measure"]]
        assert row["difference"] == pytest.approx(-own["difference"])
        assert row["difference_low"] == pytest.approx(-own["difference_high"])


def test_what_the_first_jury_has_is_what_ratings_agreement_gives(longer: TwoJuries) -> None:
    rows = {row["measure"]: row for row in longer.compare().rows()}
    agreements = longer.ward.evaluation.ratings.agreement(scenario="ward", suite="s")
    (judge,) = (row for row in agreements.rows() if row["who"].startswith("judge"))
    assert rows["ICC(A,1)"]["first"] == pytest.approx(judge["icc_a1"], abs=1e-9)
    assert rows["weighted kappa"]["first"] == pytest.approx(judge["kappa"], abs=1e-9)
    (raters,) = (row for row in agreements.rows() if row["who"] == "raters")
    assert rows["ICC(A,1)"]["raters"] == pytest.approx(raters["icc_a1"], abs=1e-9)


def test_the_exit_code_is_the_verdict(
    longer: TwoJuries, capsys: pytest.CaptureFixture[str]
) -> None:
    assert longer.command("--suite", "s", "--against-suite", "t") == 0
    assert "jury ward agrees better" in capsys.readouterr().out
    assert longer.command("--suite", "t", "--against-suite", "s", "--against", "ward") == NO_GO


@pytest.mark.parametrize("form", ["table", "md", "csv", "json", "html"])
def test_a_comparison_renders_in_every_form(longer: TwoJuries, form: str) -> None:
    text = longer.compare().render(form)
    assert "ICC(A,1)" in text
    if form == "json":
        report = json.loads(text)
        assert report["better"] == "first"
        assert (report["first"]["suite"], report["second"]["judges"]) == ("s", ["second"])


def test_equal_juries_are_not_told_apart_and_few_ratings_decide_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = TwoJuries(tmp_path / "site", "", rated=10)
    done = both.compare()
    assert done.first_is_better is None
    assert done.verdict.startswith("INCONCLUSIVE: jury ward and jury second are not told apart")
    assert "rate 10 more answers" in done.verdict
    assert both.command("--suite", "s", "--against-suite", "t") == INCONCLUSIVE
    assert "nan" not in capsys.readouterr().out.lower()


def test_juries_that_say_the_same_need_other_answers_and_raters_in_turn_have_alpha(
    tmp_path: Path,
) -> None:
    both = TwoJuries(tmp_path / "site", "", rated=32, per_item=2)
    done = both.compare()
    assert "both give the rated ones the same values" in done.verdict
    icc, *others = done.rows()
    assert (icc["measure"], icc["raters"]) == ("ICC(A,1)", None)
    assert [row["raters_alpha"] for row in others] == [None] * len(others)
    agreements = both.ward.evaluation.ratings.agreement(scenario="ward", suite="s")
    alpha = next(row["alpha"] for row in agreements.rows() if row["who"] == "raters")
    assert icc["raters_alpha"] == pytest.approx(alpha)
    assert f"alpha {alpha:.3f}" in str(done)


def test_ratings_of_one_criterion_are_compared_with_the_juries_verdicts_on_it(
    tmp_path: Path,
) -> None:
    """The means of both juries are equal, but the first one gives accuracy 0.8 more."""
    both = TwoJuries(
        tmp_path / "site", "", first="first criterion", prompt=TWO_CRITERIA, criteria=["accuracy"]
    )
    done = both.compare()
    assert done.first_is_better is False
    assert {row["criterion"] for row in done.rows()} == {MEAN}
    agreements = both.ward.evaluation.ratings.agreement(scenario="ward", suite="s")
    (judge,) = (row for row in agreements.rows() if row["who"].startswith("judge"))
    icc = next(done.rows())
    assert icc["first"] == pytest.approx(judge["icc_a1"], abs=1e-9)


def test_a_rubric_that_was_changed_under_its_name_needs_another_one(tmp_path: Path) -> None:
    """Both suites then have the same runs and verdicts."""
    ward = Ward(tmp_path / "site").run().rate()
    ward.evaluation.run(ward.entry, suite="t", models_to_run=list(MODELS))
    with pytest.raises(ConfigError, match="by a rubric or jury with another name"):
        ward.evaluation.judges.compare(
            scenario="ward",
            suite="s",
            against_suite="t",
            entries=ward.entry,
            models_to_run=list(MODELS),
        )


def test_without_ratings_the_verdict_says_how_many_are_missing(tmp_path: Path) -> None:
    done = TwoJuries(tmp_path / "site", "longer", rated=0).compare()
    assert list(done.rows()) == []
    assert "people rated 0 of the 80 answers that both judged" in done.verdict
    assert "rate 30 more answers" in done.verdict


def test_what_is_asked_wrongly_is_refused(longer: TwoJuries) -> None:
    with pytest.raises(ConfigError, match="the judges and the rubric are those of jury 'ward'"):
        longer.compare(against_suite="s")
    with pytest.raises(UnknownNameError, match=r"--against: unknown jury 'other'"):
        longer.compare(against="other")
    with pytest.raises(ConfigError, match="against is missing"):
        longer.compare(against_suite=None)


def drawn(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two judges that err alike, three raters with gaps, and hashes."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], n, p=[0.05, 0.1, 0.2, 0.35, 0.3])
    raters = np.stack([np.clip(truth + rng.choice([-1, 0, 0, 1], n), 1, 5) for _ in range(3)], 1)
    raters[rng.random(raters.shape) < 0.2] = np.nan
    raters[np.isnan(raters).all(axis=1), 0] = 3.0
    first, second = (np.clip(truth + rng.normal(0, 0.8, n), 1, 5) for _ in range(2))
    return first, second, raters, rng.integers(0, 2**62, n).astype(np.uint64)


def test_measures_are_those_of_the_other_modules() -> None:
    first, second, raters, units = drawn(3)
    found = {
        each.measure: each
        for each in agreement_differences(first, second, raters, units, has_unit=True)
    }
    mean = np.nanmean(raters, axis=1)
    kappas = [weighted_kappa(second[~np.isnan(own)], own[~np.isnan(own)]) for own in raters.T]
    expected = {
        AgreementMeasure.ICC: intraclass(np.stack([second, mean], 1)).agreement.value,
        AgreementMeasure.SPEARMAN: spearman(second, mean).value,
        AgreementMeasure.KAPPA: np.mean(kappas),
        AgreementMeasure.DISTANCE: np.abs(second - mean).mean(),
    }
    for measure, value in expected.items():
        assert found[measure].second == pytest.approx(value, abs=1e-9)


def test_a_rater_of_one_common_answer_counts_in_no_kappa() -> None:
    first, second, raters, units = drawn(3)

    def kappa_of(table: np.ndarray) -> AgreementDifference | None:
        found = agreement_differences(first, second, table, units, has_unit=True)
        return next((each for each in found if each.measure is AgreementMeasure.KAPPA), None)

    alone = raters[:, :1].copy()
    alone[np.isnan(alone)] = 3.0
    once = np.full_like(alone, np.nan)
    once[0] = 5.0
    assert kappa_of(np.hstack([alone, once])) == kappa_of(alone)
    each_once = np.where(np.eye(len(alone), dtype=bool), alone, np.nan)
    assert kappa_of(each_once) is None


def test_equal_judges_are_called_different_five_times_in_a_hundred() -> None:
    called = 0
    for seed in range(200):
        first, second, raters, units = drawn(seed)
        (icc, *_) = agreement_differences(first, second, raters, units, has_unit=True)
        called += icc.first_is_better is not None
    assert called <= 20


def test_answers_of_one_patient_are_drawn_together() -> None:
    first, second, raters, units = drawn(5, 120)
    alone = agreement_differences(first, second, raters, units, has_unit=True)[0].difference
    alike = [np.repeat(values[:24], 5, axis=0) for values in (first, second, raters)]
    patients = np.repeat(units[:24], 5)
    joint = agreement_differences(*alike, patients, has_unit=True)[0].difference
    single = agreement_differences(first[:24], second[:24], raters[:24], units[:24], has_unit=True)
    assert joint.high - joint.low > 1.5 * (alone.high - alone.low)
    assert joint.high - joint.low == pytest.approx(
        single[0].difference.high - single[0].difference.low, rel=0.05
    )


@pytest.mark.parametrize("n", [0, 1, 9])
def test_few_answers_give_a_value_or_none_and_never_an_interval(n: int) -> None:
    first, second, raters, units = (values[:n] for values in drawn(1))
    found = agreement_differences(first, second, raters, units, has_unit=True)
    assert all(each.difference.low is None for each in found)
    assert not any(np.isnan([each.first, each.second]).any() for each in found)
    assert (len(found) == 0) == (n == 0)


def test_scales_without_a_common_unit_leave_ranks() -> None:
    found = agreement_differences(*drawn(2), has_unit=False)
    assert [each.measure for each in found] == [AgreementMeasure.SPEARMAN]


def test_equal_ratings_define_no_correlation() -> None:
    first, second, raters, units = drawn(2)
    found = agreement_differences(first, second, np.full_like(raters, 3.0), units, has_unit=True)
    assert not any(np.isnan(each.first) for each in found)
    assert AgreementMeasure.SPEARMAN not in {each.measure for each in found}
