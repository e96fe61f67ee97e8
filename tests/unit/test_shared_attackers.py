"""Attackers who pool the files of shares of one release and compute what is in none of them."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.errors import ConfigError, IntegrityError, PolicyError
from tests.unit.provenance.made import RELEASE, SUITE, Made

MINIMUM = 11
POSITIVES, ALL = 8, 60
AUDIENCES = (
    {"name": "board", "content": "aggregates"},
    {"name": "research", "content": "scores", "decimals": 1},
    {"name": "fine", "content": "scores", "decimals": 3},
)
DIAGNOSTIC = {"name": "diagnostic_accuracy", "args": {"labels": "no|yes", "positive": "yes"}}

Numbers = dict[tuple[str, str], tuple[int, float]]
"""By run and metric the count of answers and the sum of their scores."""


class Hospital(Made):
    """Four private benchmarks and two models.

    60 patients, one of whom has scores of their own; 60, of whom 8 are positive; 24 letters of one
    patient; 60 whom nothing singles out.
    """

    @classmethod
    def at(cls, folder: Path, **settings: str) -> "Hospital":
        made = cls(folder)
        made.site.mkdir(parents=True)
        made.set(**settings)
        models = [
            {
                "name": f"ward/{text}",
                "engine": "canned",
                "locality": "local",
                "client_spec": {"args": {"text": text}},
            }
            for text in ("yes", "no")
        ]
        (made.site / "model_deployments.yaml").write_text(
            yaml.safe_dump({"model_deployments": models})
        )
        rules = {"audiences": list(AUDIENCES), "small_cells": {"minimum": MINIMUM}}
        (made.site / "policy.yaml").write_text(yaml.safe_dump(rules))
        entries = [
            made.benchmark("single", [f"p{n}" for n in range(ALL)], {7: "maybe"}),
            made.benchmark("cells", [f"p{n}" for n in range(ALL)], {}, positives=POSITIVES),
            made.benchmark("letters", ["p1"] * 24, {}),
            made.benchmark("plain", [f"p{n}" for n in range(ALL)], {}),
        ]
        runs = [f"{entry},model=ward/{text}" for entry in entries for text in ("yes", "no")]
        made.evaluation.run(runs, suite=SUITE)
        made.evaluation.releases.publish(RELEASE, SUITE)
        return made

    def benchmark(
        self, name: str, patients: list[str], other: dict[int, str], positives: int | None = None
    ) -> str:
        """A run entry: every second row is positive, or the first ones."""
        folder = self.folder / name
        folder.mkdir()
        with (folder / "data.csv").open("w", newline="") as file:
            write = csv.writer(file)
            write.writerow(["question", "correct_answer", "patient"])
            for index, patient in enumerate(patients):
                is_positive = index % 2 == 0 if positives is None else index < positives
                answer = other.get(index, "yes" if is_positive else "no")
                write.writerow([f"Letter {index} of {name}?", answer, patient])
        (folder / "prompt.txt").write_text("{question}\nAnswer yes or no:")
        card = {
            "name": name,
            "description": "Made for a test.",
            "access_level": "private",
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "cluster_column": "patient",
            "metrics": [{"name": "exact_match"}, DIAGNOSTIC],
        }
        (folder / "benchmark.yaml").write_text(yaml.safe_dump(card))
        return f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    return Hospital.at(tmp_path_factory.mktemp("hospital") / "made")


@pytest.fixture(scope="module")
def shares(hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A share for each audience, as tables and as HELM's folder."""
    folder = tmp_path_factory.mktemp("shares")
    made = {}
    for audience in AUDIENCES:
        for helm in (False, True):
            out = folder / f"{audience['name']}{'_helm' if helm else ''}"
            hospital.evaluation.sharing.share(RELEASE, str(audience["name"]), out, helm=helm)
            made[out.name] = out
    return made


def results_in(folder: Path) -> list[dict[str, Any]]:
    return [
        row for path in folder.glob("*-results.parquet") for row in pq.read_table(path).to_pylist()
    ]


def sources_of(folder: Path) -> Iterator[Numbers]:
    """The counts and sums in each file of a share."""
    for name in ("results", "scores"):
        for path in folder.glob(f"*-{name}.csv"):
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            yield (
                of_results(rows)
                if name == "results"
                else of_scores((row["run"], row["metric"], float(row["value"])) for row in rows)
            )
    stats: Numbers = {}
    entries = []
    for run in folder.glob("runs/*/*/"):
        stats_file = json.loads((run / "stats.json").read_text())
        size = {row["name"]["name"]: row["mean"] for row in stats_file}.get("num_instances")
        for row in stats_file:
            if size:
                stats[run.name, row["name"]["name"]] = (int(size), row["mean"] * size)
        if (scores_path := run / "per_instance_stats.json").is_file():
            entries += [
                (run.name, stat["name"]["name"], stat["mean"])
                for each in json.loads(scores_path.read_text())
                for stat in each["stats"]
            ]
    yield stats
    yield of_scores(iter(entries))


def of_results(rows: list[dict[str, Any]]) -> Numbers:
    return {
        (row["run"], row["metric"]): (int(row["count"]), float(row["mean"]) * int(row["count"]))
        for row in rows
        if row["mean"]
    }


def of_scores(values: Iterator[tuple[str, str, float]]) -> Numbers:
    sums: Numbers = defaultdict(lambda: (0, 0.0))
    for run, metric, value in values:
        count, total = sums[run, metric]
        sums[run, metric] = (count + 1, total + value)
    return dict(sums)


@pytest.mark.attack("sharing", "a left-out patient computed from all files of all shares together")
def test_no_two_files_of_any_shares_differ_by_few_patients(shares: dict[str, Path]) -> None:
    sources = [source for folder in shares.values() for source in sources_of(folder)]
    # An accuracy is the mean of exact matches, of those who have a class.
    sources += [
        {
            (run, "exact_match"): counted
            for (run, name), counted in source.items()
            if name == "accuracy"
        }
        for source in sources
    ]
    assert any(sources[len(sources) // 2 :])
    differences = set()
    for one, two in combinations(sources, 2):
        for key in one.keys() & two.keys():
            (count, total), (other, of_other) = one[key], two[key]
            differences.add(abs(count - other))
            if count == other and key[1] == "exact_match":
                assert total == pytest.approx(of_other)
    assert max(differences) >= MINIMUM
    assert not [each for each in differences if 0 < each < MINIMUM]
    for name in ("research", "fine"):
        manifest = json.loads((shares[name] / "manifest.json").read_text())
        assert set(manifest["instances_left_out"]) == {"single", "letters"}
        assert manifest["gated_and_private_instances_alone_with_their_scores"] == 0


def tables_like(rows: list[dict[str, Any]]) -> set[tuple[int, int]]:
    """The true positives and true negatives that agree with all that is shown of a run.

    The attacker has the numbers of positives and of all from another source.
    """
    negatives = ALL - POSITIVES
    found = set()
    for tp, tn in product(range(POSITIVES + 1), range(negatives + 1)):
        right = Fraction(tp + tn, ALL)
        sensitivity, specificity = Fraction(tp, POSITIVES), Fraction(tn, negatives)
        known = {
            "exact_match": right,
            "accuracy": right,
            "sensitivity": sensitivity,
            "specificity": specificity,
            "balanced_accuracy": (sensitivity + specificity) / 2,
            "ppv": Fraction(tp, max(1, tp + negatives - tn)),
            "npv": Fraction(tn, max(1, tn + POSITIVES - tp)),
        }
        if all(
            abs(float(known[row["metric"]]) - row["mean"]) < 1e-9
            for row in rows
            if row["mean"] is not None and row["metric"] in known
        ):
            found.add((tp, tn))
    return found


@pytest.mark.attack("sharing", "a hidden sensitivity computed from the numbers beside it")
@pytest.mark.parametrize("audience", ["board", "research"])
def test_no_hidden_number_follows_from_those_that_are_shown(
    shares: dict[str, Path], audience: str
) -> None:
    rows = [row for row in results_in(shares[audience]) if row["scenario"] == "cells"]
    runs = {row["run"] for row in rows}
    assert len(runs) == 2
    for run in runs:
        own = [row for row in rows if row["run"] == run]
        assert {row["metric"] for row in own if row["is_hidden"]} >= {
            *("sensitivity", "specificity", "balanced_accuracy", "accuracy")
        }
        assert not next(row for row in own if row["metric"] == "exact_match")["is_hidden"]
        assert len({tp for tp, _ in tables_like(own)}) > 2


@pytest.mark.attack("sharing", "many rows of one patient, taken for many patients")
def test_rows_of_one_patient_are_no_crowd(shares: dict[str, Path]) -> None:
    rows = [row for row in results_in(shares["research"]) if row["scenario"] == "letters"]
    assert rows
    assert all(row["is_hidden"] for row in rows if row["count"] != 0)
    (path,) = shares["research"].glob("*-scores.parquet")
    assert {row["scenario"] for row in pq.read_table(path).to_pylist()} == {
        *("single", "cells", "plain")
    }


def test_a_number_of_no_answer_is_no_hidden_one(shares: dict[str, Path]) -> None:
    rows = [row for row in results_in(shares["board"]) if row["scenario"] == "plain"]
    assert any(row["mean"] is None for row in rows)
    assert not [row for row in rows if row["is_hidden"]]


def means_of(share: Path) -> dict[str, float]:
    """By benchmark and model the mean of the scores that a share has."""
    (path,) = share.glob("*-scores.parquet")
    values: dict[str, list[float]] = defaultdict(list)
    for row in pq.read_table(path).to_pylist():
        if row["metric"] == "exact_match":
            values[row["scenario"] + row["model"]].append(row["value"])
    return {key: sum(scores) / len(scores) for key, scores in values.items()}


def test_a_share_gives_its_board_again_with_equal_numbers(
    shares: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["leaderboard", "-o", str(shares["research"]), "--format", "json"]) == 0
    means = {
        row["scenario"] + row["model"]: row["mean"]
        for row in json.loads(capsys.readouterr().out)["results"]
        if row["mean"] is not None
    }
    assert means == pytest.approx(means_of(shares["research"]))


def test_the_board_of_another_folder_says_what_to_do(
    shares: dict[str, Path], hospital: Hospital, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="import-helm"):
        Evaluation(shares["board_helm"], site=None, tracking=False).sharing.board()
    assert hospital.evaluation.sharing.board() is None
    out = tmp_path / "out"
    hospital.evaluation.sharing.share(RELEASE, "board", out)
    (path,) = out.glob("*-results.csv")
    path.write_text(path.read_text().replace("true", "false"))
    with pytest.raises(IntegrityError, match=path.name):
        Evaluation(out, site=None, tracking=False).sharing.board()


def test_where_a_release_stands_is_on_the_page_and_a_withdrawn_one_is_not_shared(
    hospital: Hospital, shares: dict[str, Path], tmp_path: Path
) -> None:
    (page,) = shares["board"].glob("*-report.html")
    assert "Status: draft." in page.read_text()
    assert "Nobody has approved these numbers." in page.read_text()
    here = hospital.copied(tmp_path / "copy")
    here.step(ReleaseStatus.WITHDRAWN, "ann", note="wrong key")
    with pytest.raises(PolicyError, match="is withdrawn"):
        here.evaluation.sharing.share(RELEASE, "board", tmp_path / "out")


@pytest.mark.attack("sharing", "a share made inside the lake")
def test_a_share_inside_the_lake_is_refused(hospital: Hospital) -> None:
    for out in (hospital.lake / "inside", hospital.lake / "x" / ".." / "inside"):
        with pytest.raises(PolicyError, match="is in the lake"):
            hospital.evaluation.sharing.share(RELEASE, "board", out)
        assert not (hospital.lake / "inside").exists()
