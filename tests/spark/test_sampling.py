"""A written sampling rule takes the same instances from any files, orders and partitions."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.oracles import sample_key
from tests.spark.conftest import PUBLIC, Site, calls, questions

CARD = """
name: wards
display_name: Wards
description: Made-up questions.
access_level: public
source: {files: [{path: wards.csv, split: test}]}
shape: tabular
fields: {id: id, sub_split: ward, extra.grade: grade}
options: {template: "{question}"}
adapter_spec: {max_tokens: 5}
metrics: [{name: exact_match}]
main_metric: exact_match
sampling:
  seed: 7
  count: 6
  filter:
    sub_split: [surgery, cardiology]
    extra.grade: "2"
    characters: {minimum: 5, maximum: 40}
"""
ROWS = [
    {
        "id": f"w{i}",
        "question": f"Question {i}?" if i % 11 else f"A question that is {'very ' * 9}long, {i}",
        "correct_answer": "yes",
        "ward": ("surgery", "cardiology", "", "eyes")[i % 4],
        "grade": str(i % 3),
    }
    for i in range(120)
]
MEETS = {f"w{i}" for i in range(120) if i % 4 < 2 and i % 3 == 2 and i % 11}


def write_csv(path: Path, rows: Sequence[dict[str, str]]) -> str:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def wards(site: Site) -> str:
    """The entry of the scenario above in a site that has its card."""
    folder = site.folder / "prod_env" / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wards.yaml").write_text(CARD)
    return f"wards:model={site.deploy('acme/yes', text='yes', log_file=str(site.folder / 'log'))}"


def requested_ids(site: Site, name: str) -> set[str]:
    """The ids of the instances that the suite's current run of this name asks."""
    (spec,) = {
        row["run_spec_id"]
        for row in site.rows("run_specs")
        if row["name"] == name
        and row["planned_at"]
        == max(one["planned_at"] for one in site.rows("run_specs") if one["name"] == name)
    }
    return {row["instance_id"] for row in site.rows("requests") if row["run_spec_id"] == spec}


def by_source(site: Site) -> dict[str, str]:
    return {row["source_id"]: row["instance_id"] for row in site.rows("instances")}


def test_the_same_rule_takes_the_same_instances_from_other_files_and_orders(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = wards(site)
    csv_path = write_csv(site.folder / "wards.csv", ROWS)
    assert site.run("-r", entry, "--source", csv_path, *PUBLIC, command="plan") == 0
    ids = by_source(site)
    first = requested_ids(site, "wards:model=acme_yes")
    expected = sorted((ids[one] for one in MEETS), key=lambda one: sample_key(7, one))[:6]
    assert first == set(expected)
    other = Site(site.folder / "other", site.spark)
    monkeypatch.chdir(other.folder)
    entry = wards(other)
    parts = [
        write_csv(other.folder / "wards_b.csv", ROWS[::-2]),
        write_csv(other.folder / "wards_a.csv", ROWS[::2]),
    ]
    before = site.spark.conf.get("spark.sql.shuffle.partitions")
    site.spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        assert other.run("-r", entry, "--source", *parts, *PUBLIC, command="plan") == 0
    finally:
        site.spark.conf.set("spark.sql.shuffle.partitions", str(before))
    assert requested_ids(other, "wards:model=acme_yes") == first


def test_medhelms_order_is_numpys_and_a_larger_draw_asks_what_is_missing(site: Site) -> None:
    log = site.folder / "log"
    model = site.deploy("acme/yes", text="yes", log_file=str(log))
    entry = f"{site.benchmark('bench', questions(50))},model={model}"
    np.random.seed(0)
    source_ids = [f"q{index}" for index in np.random.choice(50, 20, replace=False)]
    assert site.run("-r", entry, "-m", "7", "--sampling", "medhelm") == 0
    ids = by_source(site)
    assert requested_ids(site, "bench:model=acme_yes") == {ids[one] for one in source_ids[:7]}
    assert site.run("-r", entry, "-m", "20", "--sampling", "medhelm") == 0
    assert requested_ids(site, "bench:model=acme_yes") == {ids[one] for one in source_ids}
    assert len(calls(log)) == 20, "the smaller draw's answers were used"
    assert site.run("-r", entry, "-m", "5", "--sampling", "source") == 0
    assert requested_ids(site, "bench:model=acme_yes") == {ids[f"q{i}"] for i in range(5)}
    assert len(calls(log)) == len(set(calls(log)))
    (cell,) = site.board()
    assert cell["count"] == 5
    before = len(calls(log))
    assert site.run("-r", entry, "-m", "20", "--sampling", "medhelm") == 0
    assert len(calls(log)) == before, "a rule that was followed before asks nobody"


def test_rules_side_by_side_do_not_mix(site: Site) -> None:
    model = site.deploy("acme/yes", text="yes")
    bench = f"{site.benchmark('bench', questions(40))},max_eval_instances=9,model={model}"
    orders = ("medhelm", "source", "hash")
    entries = [f"{bench},sampling={order}" for order in orders]
    assert site.run("-r", *entries) == 0
    ids = by_source(site)
    name = "bench:max_eval_instances=9,model=acme_yes,sampling={}"
    ids_by_order = {order: requested_ids(site, name.format(order)) for order in orders}
    indices = np.random.RandomState(0).permutation(40)[:9]
    assert ids_by_order["medhelm"] == {ids[f"q{index}"] for index in indices}
    assert ids_by_order["source"] == {ids[f"q{i}"] for i in range(9)}
    hashed = sorted(ids.values(), key=lambda one: sample_key(0, one))[:9]
    assert ids_by_order["hash"] == set(hashed)
    counts = [row["count"] for row in site.rows("stats") if row["name"] == "exact_match"]
    assert counts == [9, 9, 9]


def test_copies_are_made_of_the_drawn_instances_alone(site: Site) -> None:
    model = site.deploy("acme/yes", text="yes")
    bench = site.benchmark("bench", questions(30))
    entry = f"{bench},data_augmentation=lower,model={model}"
    assert site.run("-r", entry, "-m", "6", "--sampling", "medhelm") == 0
    indices = np.random.RandomState(0).permutation(30)[:6]
    originals = [row for row in site.rows("instances") if row["perturbation"] == ""]
    expected = {
        row["instance_id"]
        for row in originals
        if row["source_id"] in {f"q{index}" for index in indices}
    }
    requests = site.rows("requests")
    assert {row["instance_id"] for row in requests} == expected
    assert {row["perturbation"] for row in requests} > {""}


def test_a_filter_that_nothing_meets_is_refused_before_anything_is_planned(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = wards(site)
    csv_path = write_csv(site.folder / "wards.csv", ROWS)
    rule = site.folder / "rule.yaml"
    rule.write_text("filter: {extra.grade: nine}\n")
    arguments = ["-r", entry, "--source", csv_path, *PUBLIC, "--sampling", str(rule)]
    assert site.run(*arguments) == 1
    stderr = capsys.readouterr().err
    assert "no instance of scenario 'wards' in valid or test meets the sampling filter" in stderr
    assert "extra.grade" in stderr
    assert not site.rows("run_specs")
