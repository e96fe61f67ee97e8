"""Groups of patients from the data to the table, the methods and the commands that show them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark.errors import (
    ConfigError,
    DataError,
    IntegrityError,
    MedhelmSparkError,
    UnknownNameError,
)
from medhelm_spark.subgroups.pairs import GroupDecision
from medhelm_spark.subgroups.verdicts import GroupVerdict
from tests.rewriting import rewritable
from tests.spark.conftest import Site, calls, questions
from tests.spark.test_evaluation import open_evaluation

BANDS = {"age_band": {"column": "age", "edges": [18, 65]}}


def patients(count: int = 240, *, poor: int = 40) -> list[dict[str, str]]:
    """Of `poor` letters of one site few are answered by yes, of all others most."""

    def answer(i: int) -> str:
        return "yes" if i % 10 < (5 if i < poor else 8) else "no"

    return [
        {
            **row,
            "sex": "fm"[i % 2],
            "age": str(i % 90),
            "site": "south" if i < poor else "north",
        }
        for i, row in enumerate(questions(count, answer))
    ]


def by_group(site: Site, name: str = "exact_match") -> dict[tuple[str, str], dict[str, Any]]:
    """The current rows of one model."""
    records = [row for row in site.rows("runs") if row["stage"] == "summarize-groups"]
    newest = max(records, key=lambda row: row["finished_at"])
    return {
        (row["group_column"], row["group_value"]): row
        for row in site.rows("stats_by_group")
        if row["name"] == name
        and (row["write_id"], row["run_spec_id"]) == (newest["write_id"], newest["unit_id"])
    }


def test_columns_that_are_added_later_ask_no_model_and_keep_every_id(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    site.deploy("team/first", mode="script", text="yes", log_file=str(log))
    entry = site.benchmark("letters", patients(), groups=["sex"], bands=BANDS)
    flags = ("-r", entry, "--models-to-run", "team/first")
    assert site.run(*flags) == 0
    num_calls, instances = len(calls(log)), site.rows("instances")
    specs = {row["run_spec_id"] for row in site.rows("run_specs")}
    assert set(by_group(site)) == {("sex", "f"), ("sex", "m")}

    capsys.readouterr()
    assert site.run(*flags, "--by", "age_band,site") == 0
    assert "assign-groups: letters by age_band: 3 groups" in capsys.readouterr().err
    assert len(calls(log)) == num_calls
    assert site.rows("instances") == instances
    assert {row["run_spec_id"] for row in site.rows("run_specs")} == specs
    bands = {"under 18", "18 to under 65", "65 and over"}
    assert {value for column, value in by_group(site) if column == "age_band"} == bands

    rows = len(site.rows("instance_groups"))
    assert site.run(*flags) == 0
    assert len(site.rows("instance_groups")) == rows, "what was added stays"
    assert {column for column, _ in by_group(site)} == {"sex", "age_band", "site"}


def test_a_group_that_is_worse_is_named_and_equal_ones_have_no_gap(site: Site) -> None:
    entry = site.benchmark("letters", patients(1000), groups=["sex", "site"])
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes", suite="s")
    row = by_group(site)["site", "south"]
    assert (row["count"], row["mean"], row["rest_mean"]) == (40, 0.5, 0.8)
    assert row["difference"] == pytest.approx(-0.3)
    assert row["adjusted_p"] < 0.01
    gaps = {gap["group_column"]: gap for gap in evaluation.subgroups.scores("s").gaps()}
    assert gaps["site"]["worst"] == "south"
    assert 0 < gaps["site"]["low"] < 0.3 < gaps["site"]["high"]
    assert gaps["sex"]["low"] == 0
    assert "worst site: south 0.500" in str(evaluation.board("s"))
    (cell,) = evaluation.board("s").rows()
    assert (cell["worst_group"], cell["worst_group_mean"]) == ("site: south", 0.5)
    text = str(evaluation.subgroups.scores("s", by="site"))
    assert ", by site" in text
    assert ", by sex" not in text


def test_a_group_whose_sensitivity_is_worse_is_named_and_equal_ones_are_not(site: Site) -> None:
    """Of 40 urgent letters of one site a third is found, of 960 others nine in ten."""
    args = {"labels": "urgent|routine", "positive": "urgent"}
    rows = [
        {**row, "correct_answer": ("urgent", "routine")[i % 2], "sex": "fm"[i // 2 % 2]}
        for i, row in enumerate(patients(2000, poor=80))
    ]
    metrics = [{"name": "diagnostic_accuracy", "args": args}]
    entry = site.benchmark("letters", rows, metrics=metrics, groups=["sex", "site"])
    answers = site.folder / "answers.csv"
    with answers.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source_id", "completion"])
        for i, row in enumerate(rows):
            is_missed = i // 2 % 3 > 0 if row["site"] == "south" else i // 2 % 10 == i // 20 % 2
            writer.writerow([row["id"], "routine" if is_missed else row["correct_answer"]])
    evaluation = open_evaluation(site)
    evaluation.import_responses(f"{entry},model=team/uneven", answers, suite="s")
    sensitivities = by_group(site, "sensitivity")
    south = sensitivities["site", "south"]
    assert (south["denominator"], south["mean"]) == (40, pytest.approx(14 / 40))
    assert (
        south["rest_mean"]
        == sensitivities["site", "north"]["mean"]
        == pytest.approx(0.9, abs=0.001)
    )
    assert south["difference_high"] < -0.3
    assert south["adjusted_p"] < 0.001
    assert sensitivities["sex", "f"]["adjusted_p"] > 0.05
    every = [row for row in site.rows("stats_by_group") if row["mean"] is not None]
    assert {row["name"] for row in every if row["p_value"] is not None} >= {
        "accuracy",
        "npv",
        "sensitivity",
        "specificity",
    }


def test_a_model_that_is_worse_in_one_group_alone_falls_behind_there(site: Site) -> None:
    rows = patients(400, poor=100)
    entry = site.benchmark("letters", rows, groups=["sex", "site"])
    evaluation = open_evaluation(site)
    for model, wrong in (("old/model", set()), ("new/model", set(range(0, 100, 2)))):
        answers = site.folder / f"{model.partition('/')[0]}.csv"
        with answers.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["source_id", "completion"])
            for i, row in enumerate(rows):
                right = row["correct_answer"] if i % 5 else "-"
                writer.writerow([row["id"], "-" if i in wrong else right])
        evaluation.import_responses(f"{entry},model={model}", answers, suite="s")
    compared = evaluation.subgroups.compare("new/model", "old/model", suite="s", by="site")
    south, north = compared.pairs
    assert (south.group_value, south.decision) == ("south", GroupDecision.SMALLER)
    assert south.verdict is GroupVerdict.WORSE
    assert north.verdict is GroupVerdict.NOT_SHOWN
    assert south.in_group == pytest.approx(-0.4)
    assert south.second_mean - south.first_mean == pytest.approx(0.4)
    assert (south.in_rest, south.difference) == (0.0, pytest.approx(-0.4))
    assert south.difference_high < 0
    assert north.decision is GroupDecision.LARGER
    worse, smaller = compared.render().splitlines()[:2]
    assert worse == "new/model is worse than old/model (letters: exact_match) for: site south."
    assert "worse is shown (p adjusted <0.001). Its advantage over old/model is smaller" in smaller
    by_sex = evaluation.subgroups.compare("new/model", "old/model", suite="s", by="sex").pairs
    # Every second letter of the south is wrong, which are all of one sex.
    assert {pair.decision for pair in by_sex} == {
        GroupDecision.SMALLER,
        GroupDecision.LARGER,
    }
    with pytest.raises(UnknownNameError, match="ward"):
        evaluation.subgroups.compare(suite="s", by="ward")


def test_small_groups_of_private_rows_are_hidden_everywhere(site: Site) -> None:
    site.deploy("team/first", mode="script", text="yes")
    site.deploy("team/second", mode="script", text="no")
    rows = [{**row, "site": "tiny" if i < 4 else row["site"]} for i, row in enumerate(patients())]
    entry = site.benchmark("letters", rows, groups=["site"], access_level="private")
    assert site.run("-r", entry, "--models-to-run", "team/first", "team/second") == 0
    hidden_by_group = {key: row["is_hidden"] for key, row in by_group(site).items()}
    assert hidden_by_group == {
        ("site", "tiny"): True,
        ("site", "south"): True,
        ("site", "north"): False,
    }
    for row in by_group(site).values():
        if row["is_hidden"]:
            assert [row[name] for name in ("count", "mean", "num_patients", "difference")] == [
                None
            ] * 4
    for command, flags in (
        ("leaderboard", ("--show", "groups")),
        ("compare", ("--by", "site")),
    ):
        for form in ("json", "csv", "md", "html", "table"):
            path = site.folder / f"{command}.{form}"
            arguments = (*flags, "--format", form, "--output-file", str(path))
            assert site.run(*arguments, command=command) == 0
            text = path.read_text()
            assert "tiny" in text
            if form == "json":
                content = json.loads(text)
                records = content.get("groups") or content["pairs"]
                hidden = [each for each in records if each["group_value"] in ("tiny", "south")]
                assert hidden
                numbers = ("mean", "count", "n", "in_group", "difference", "p_value")
                assert all(each.get(name) is None for each in hidden for name in numbers)


def test_a_site_may_only_raise_the_minimum(site: Site) -> None:
    site.deploy("team/first", mode="script", text="yes")
    entry = site.benchmark("letters", patients(), groups=["site"], access_level="private")
    policy = site.folder / "prod_env" / "policy.yaml"
    flags = ("-r", entry, "--models-to-run", "team/first")
    policy.write_text(yaml.safe_dump({"small_cells": {"minimum": 3}}))
    assert site.run(*flags) == 0
    assert {row["minimum"] for row in by_group(site).values()} == {11}
    assert not any(row["is_hidden"] for row in by_group(site).values())
    policy.write_text(yaml.safe_dump({"small_cells": {"minimum": 50}}))
    assert site.run(*flags) == 0
    assert all(row["is_hidden"] for row in by_group(site).values()), "40 of the south"


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("question", "which the prompt or the right answer shows"),
        ("correct_answer", "which the prompt or the right answer shows"),
        ("id", "the column of ids"),
        ("ward", "needs column 'ward'"),
    ],
)
def test_a_column_that_cannot_be_a_group_is_refused_before_work_starts(
    site: Site, by: str, message: str
) -> None:
    entry = site.benchmark("letters", patients(20))
    with pytest.raises(MedhelmSparkError, match=message):
        open_evaluation(site).run(f"{entry},model=team/yes", suite="s", by=by)
    assert not site.lake_path.exists()


def test_a_column_of_too_many_values_is_refused_and_nothing_of_it_counts(site: Site) -> None:
    entry = site.benchmark("letters", patients(), groups=["sex"])
    evaluation = open_evaluation(site)
    with pytest.raises(DataError, match=r"'age' has 90 values; allowed: 50 at most"):
        evaluation.run(f"{entry},model=team/yes", suite="s", by="age")
    evaluation.run(f"{entry},model=team/yes", suite="s")
    assert {row["group_column"] for row in evaluation.subgroups.scores("s").rows()} == {"sex"}


def test_bands_of_a_number_that_some_rows_lack_leave_these_without_a_group(site: Site) -> None:
    rows = [{**row, "age": "" if i < 30 else row["age"]} for i, row in enumerate(patients())]
    entry = site.benchmark("letters", rows, groups=["age_band"], bands=BANDS)
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes", suite="s")
    assert by_group(site)["age_band", ""]["count"] == 30
    assert "(not stated)" in str(evaluation.subgroups.scores("s"))
    (gap,) = evaluation.subgroups.scores("s").gaps()
    assert "" not in (gap["best"], gap["worst"])


def test_a_source_that_changed_meanwhile_gives_no_groups(site: Site) -> None:
    """The instances of a card's scenario are not read again; only their groups are."""
    site.deploy("team/first", mode="script", text="yes")
    card = {
        "name": "letters",
        "display_name": "Letters",
        "description": "Made for a test.",
        "access_level": "private",
        "shape": "free_text",
        "source": {"files": [{"path": str(site.folder / "letters.csv")}]},
        "fields": {"input": "question", "reference": "correct_answer", "id": "id"},
        "subgroups": ["sex"],
        "adapter_spec": {"max_tokens": 8},
        "metrics": [{"name": "exact_match"}],
        "main_metric": "exact_match",
    }
    card_path = site.folder / "prod_env" / "scenarios" / "letters.yaml"
    card_path.parent.mkdir()
    card_path.write_text(yaml.safe_dump(card))

    def write(rows: list[dict[str, str]]) -> None:
        with (site.folder / "letters.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    write(patients())
    assert site.run("-r", "letters:model=team/first") == 0
    assert set(by_group(site)) == {("sex", "f"), ("sex", "m")}
    write(patients()[:100])
    assert site.run("-r", "letters:model=team/first", "--by", "site") != 0
    assert {row["group_column"] for row in site.rows("group_columns")} == {"sex"}
    write(patients())
    assert site.run("-r", "letters:model=team/first", "--by", "site") == 0
    assert {column for column, _ in by_group(site)} == {"sex", "site"}


def test_repeated_answers_of_an_instance_are_one_patient(site: Site) -> None:
    entry = site.benchmark("letters", patients(), groups=["site"])
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes,num_trials=3", suite="s")
    row = by_group(site)["site", "south"]
    assert (row["count"], row["num_patients"], row["num_clusters"]) == (120, 40, None)
    assert row["ci_low"] < 0.36


def test_two_columns_that_are_crossed(site: Site) -> None:
    """Crossed groups are columns of their own; small ones are computed from neither column."""
    entry = site.benchmark("letters", patients(), access_level="private", bands=BANDS)
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes", suite="s", by="sex*age_band")
    rows = by_group(site)
    assert {column for column, _ in rows} == {"sex", "age_band", "sex*age_band"}
    crossed = rows["sex*age_band", "f × 18 to under 65"]
    assert (crossed["count"], crossed["is_hidden"]) == (69, False)
    evaluation.run(f"{entry},model=team/yes", suite="s", by="sex*site")
    rows = by_group(site)
    south = [rows["sex*site", f"{sex} × south"] for sex in "fm"]
    assert [row["count"] for row in south] == [20, 20]
    (group_column,) = {
        row["group_column"] for row in evaluation.subgroups.scores("s", by="sex*site").rows()
    }
    assert group_column == "sex*site"
    for wrong in ("sex*", "sex*sex", "sex*site*age_band"):
        with pytest.raises(ConfigError, match="two columns or bands"):
            evaluation.run(f"{entry},model=team/yes", suite="s", by=wrong)


def test_a_suite_without_groups_says_how_to_have_some(site: Site) -> None:
    entry = site.benchmark("letters", patients(20))
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes", suite="s")
    assert "run --by COLUMN" in str(evaluation.subgroups.scores("s"))
    assert not (site.lake_path / "stats_by_group").exists()
    with pytest.raises(ConfigError):
        evaluation.subgroups.scores("s", by="sex")


def test_a_release_keeps_the_groups_that_it_was_made_of(site: Site) -> None:
    entry = site.benchmark("letters", patients(), groups=["site"], access_level="private")
    evaluation = open_evaluation(site)
    entries = [f"{entry},model=team/{text}" for text in ("yes", "no")]
    evaluation.run(entries, suite="s")
    evaluation.releases.publish("r", ["s"])
    before = evaluation.subgroups.scores(release="r").render("csv")
    assert before == evaluation.subgroups.scores("s").render("csv")
    of_release = evaluation.subgroups.compare(release="r").render()
    assert of_release == evaluation.subgroups.compare(suite="s").render()
    policy = site.folder / "prod_env" / "policy.yaml"
    policy.write_text(yaml.safe_dump({"small_cells": {"minimum": 50}}))
    later = open_evaluation(site)
    later.run(entries, suite="s")
    assert {row["is_hidden"] for row in later.subgroups.scores("s").rows()} == {True}
    assert later.subgroups.scores(release="r").render("csv") == before
    assert later.releases.verify("r")
    stats = rewritable(site.lake_path / "stats_by_group")
    stats.update(updates={"mean": "0.9"}, predicate="group_value = 'south'")
    with pytest.raises(IntegrityError, match="stats_by_group of letters"):
        later.releases.verify("r")


def test_a_lake_that_is_older_than_groups_opens_and_gets_some(site: Site) -> None:
    """Of a run of before there is neither a table nor a record; `--by` adds both."""
    entry = site.benchmark("letters", patients())
    evaluation = open_evaluation(site)
    evaluation.run(f"{entry},model=team/yes", suite="s")
    assert list(evaluation.subgroups.scores("s").rows()) == []
    assert list(evaluation.subgroups.compare(suite="s").rows()) == []
    calls = evaluation.run(f"{entry},model=team/yes", suite="s", by="sex").model_calls
    assert calls == 0
    assert {row["group_value"] for row in evaluation.subgroups.scores("s").rows()} == {"f", "m"}
