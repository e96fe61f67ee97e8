"""A benchmark of one's own: typed columns, declared labels, examples, columns that are stored."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

from medhelm_spark import Evaluation
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.scenarios import parse_records, read_card

ROWS = "case,letter,urgent,part,ward\n1,a,yes,test,A\n2,b,no,train,B\n3,c,no,test,B\n"
MODEL = "model=huggingface/smollm2-135m-instruct"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("prompt.txt").write_text("Letter: {letter}")
    Path("data.csv").write_text(ROWS)
    return tmp_path


def benchmark(**more: object) -> Path:
    document = {
        "name": "LETTERS",
        "description": "Made here.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "columns": {"correct_answer": "urgent", "id": "case"},
        "metrics": [{"name": "exact_match"}],
        **more,
    }
    Path("benchmark.yaml").write_text(yaml.safe_dump(document))
    return Path("benchmark.yaml")


def dry_run(args: str = "") -> None:
    entry = f"medhelm_configurable_benchmark:config_path=benchmark.yaml,{MODEL}{args}"
    Evaluation("lake", site=None, tracking=False, say=lambda _: None).dry_run(entry, suite="s")


def instances(path: Path) -> list[Instance]:
    scenario = load_benchmark(path).card
    found = parse_records(read_card(scenario), scenario, "v")
    return [each for each in found if isinstance(each, Instance)]


def test_a_column_that_is_misspelled_is_listed_and_suggested() -> None:
    with pytest.raises(ConfigError) as caught:
        load_benchmark(benchmark(columns={"correct_answer": "urgnt", "id": "case"}))
    message = "'case', 'letter', 'urgent', 'part', 'ward'; is 'urgent' meant?"
    assert message in str(caught.value)
    Path("data.csv").write_text("4711,Jane Roe,yes\n4712,John Doe,no\n")
    with pytest.raises(ConfigError, match="is the header line missing") as caught:
        load_benchmark(benchmark())
    assert "Jane" not in str(caught.value)


def test_a_label_that_no_row_has_ends_the_dry_run() -> None:
    metric = {"name": "sensitivity", "args": {"labels": "yes|noo", "positive": "yes"}}
    benchmark(metrics=[metric])
    with pytest.raises(DataError, match="label 'noo' is the right answer of no row; declared: yes"):
        dry_run()
    benchmark(metrics=[{**metric, "args": {"labels": "Yes|no", "positive": "Yes"}}])
    dry_run()


@pytest.mark.parametrize("urgent", [["true", "false"], [True, False], [1.0, 0.0]])
def test_a_label_that_no_row_of_a_delta_folder_has_ends_the_dry_run(urgent: list[object]) -> None:
    write_deltalake("letters", pa.table({"case": [1, 2], "letter": ["a", "b"], "urgent": urgent}))
    right = "1|0" if isinstance(urgent[0], float) else "true|false"
    metric = {"name": "sensitivity", "args": {"labels": right, "positive": right.split("|")[0]}}
    benchmark(dataset_file="table:letters", metrics=[metric])
    dry_run()
    metric["args"] = {"labels": f"{right}|maybe", "positive": "maybe"}
    benchmark(dataset_file="table:letters", metrics=[metric])
    with pytest.raises(DataError, match="label 'maybe' is the right answer of no row; declared: "):
        dry_run()


def test_examples_come_from_a_column_or_from_a_file() -> None:
    splits = [each.split.value for each in instances(benchmark(split_column="part"))]
    assert splits == ["test", "train", "test"]
    Path("train.csv").write_text("case,letter,urgent\n9,z,yes\n")
    found = instances(benchmark(train_file="train.csv", max_train_instances=1))
    assert [(each.source_id, each.split.value) for each in found][-1] == ("9", "train")
    dry_run()
    benchmark()
    with pytest.raises(ConfigError, match="give train_file or split_column"):
        dry_run(",max_train_instances=2")
    with pytest.raises(ConfigError, match="train_file is for a dataset_file without split_column"):
        load_benchmark(benchmark(train_file="train.csv", split_column="part"))


def test_columns_that_are_kept_stand_beside_the_instance() -> None:
    found = instances(benchmark(extra_columns=["ward", "part"]))
    assert dict(found[0].extra_data) == {"ward": "A", "part": "test"}
    with pytest.raises(ConfigError, match=r"no column 'wart', which extra_columns needs; .*'ward'"):
        load_benchmark(benchmark(extra_columns=["wart"]))


def test_a_folder_of_parts_and_a_document_are_data() -> None:
    Path("parts").mkdir()
    for number, row in enumerate(ROWS.splitlines()[1:]):
        Path("parts", f"part-0000{number}.csv").write_text(f"{ROWS.splitlines()[0]}\n{row}\n")
    assert [each.source_id for each in instances(benchmark(dataset_file="parts"))] == [
        "1",
        "2",
        "3",
    ]
    resource = {"id": "r1", "letter": "a", "urgent": True}
    bundle = {"resourceType": "Bundle", "entry": [{"resource": resource}]}
    Path("bundle.json").write_text(json.dumps(bundle))
    (found,) = instances(
        benchmark(dataset_file="bundle.json", columns={"correct_answer": "urgent"})
    )
    assert (found.source_id, found.references[0].text) == ("r1", "true")
