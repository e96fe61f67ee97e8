"""Two models' difference by a jury beside the one that people's ratings make of it."""

import json
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from tests.unit.judge_checks.ward import MODELS, PLUGIN, Ward


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Ward:
    """A jury that gives its own maker's model a point more; people rated 32 of 40 instances."""
    folder = tmp_path_factory.mktemp("pairs") / "site"
    return Ward(folder, "family", judge="acme/judge").run().rate(32)


def pair_of(ward: Ward) -> dict:
    (pair,) = ward.evaluation.compare(*MODELS, suite="s").rows()
    return pair


def test_a_jury_that_favours_one_model_is_corrected_in_the_comparison(ward: Ward) -> None:
    pair = pair_of(ward)
    assert pair["mean_difference"] > 1.9
    assert pair["corrected_low"] < pair["corrected_difference"] < pair["corrected_high"]
    assert pair["corrected_high"] < pair["mean_difference"] - 0.3
    assert pair["num_rated"] == 32
    text = str(ward.evaluation.compare(suite="s"))
    assert "By ratings too" in text
    assert f"{pair['corrected_difference']:+.3f} [" in text
    assert ", 32 rated" in text
    assert "Decision and p are those of the jury alone" in text


def test_the_other_way_round_it_is_the_negative(ward: Ward) -> None:
    (back,) = ward.evaluation.compare(*reversed(MODELS), suite="s").rows()
    there = pair_of(ward)
    assert back["corrected_difference"] == pytest.approx(-there["corrected_difference"])
    assert back["corrected_low"] == pytest.approx(-there["corrected_high"])


def test_the_command_writes_it_in_every_form(ward: Ward, tmp_path: Path) -> None:
    common = ["-o", str(ward.lake), "--local-path", str(ward.site), "--plugins", PLUGIN]
    for form in ("table", "md", "csv", "json", "html"):
        file = tmp_path / f"pairs.{form}"
        more = ["--suite", "s", "--format", form, "--output-file", str(file)]
        assert main(["compare", *common, *more]) == 0
        text = file.read_text()
        assert ("corrected_difference" if form in ("csv", "json") else "By ratings too") in text
    record = json.loads((tmp_path / "pairs.json").read_text())["pairs"][0]
    assert (record["num_rated"], record["corrected_low"] is None) == (32, False)


def test_ratings_of_one_model_alone_correct_its_mean_and_no_difference(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run()
    ward.rate(35, model=MODELS[0])
    pair = pair_of(ward)
    assert (pair["corrected_difference"], pair["num_rated"]) == (None, 0)
    assert "By ratings too" not in str(ward.evaluation.compare(suite="s"))
    assert [row["num_rated"] for row in ward.evaluation.board("s").rows()] == [35, 0]


def test_too_few_rated_instances_correct_no_difference(tmp_path: Path) -> None:
    pair = pair_of(Ward(tmp_path / "site").run().rate(29))
    assert (pair["corrected_difference"], pair["num_rated"]) == (None, 0)
