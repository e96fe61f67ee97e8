"""A canary in each field of the lake that can have text: in no share, and found where planted."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import open_reader, table_schema
from medhelm_spark.sharing.scan import PROSE_COLUMNS, TEXT_COLUMNS, scan
from tests.unit.provenance import made as planting
from tests.unit.provenance.made import RELEASE, SUITE, Made

Row = dict[str, Any]


def canary(name: str) -> str:
    """A sentence of 8 words, of its own for each field."""
    word = f"zebra{name.replace('.', '').replace('_', '')}"
    return f"{word} stands here and nobody may carry it"


def put(column: str, made: Callable[[str], Any]) -> Callable[[Row, str], None]:
    def plant(row: Row, text: str) -> None:
        row[column] = made(text)

    return plant


def in_result(key: str) -> Callable[[Row, str], None]:
    def plant(row: Row, text: str) -> None:
        row["completions"] = [{**each, key: text} for each in row["completions"]]

    return plant


def in_adapter(key: str, made: Callable[[str], Any]) -> Callable[[Row, str], None]:
    def plant(row: Row, text: str) -> None:
        row["run_spec"]["adapter_spec"][key] = made(text)

    return plant


def message(text: str) -> list[Row]:
    return [{"role": "user", "content": text}]


def same(text: str) -> str:
    return text


CHANGED: dict[str, tuple[str, Callable[[Row, str], None]]] = {
    "instances.source_id": ("instances", put("source_id", same)),
    "instances.input": ("instances", put("input", same)),
    "instances.messages": ("instances", put("messages", message)),
    "instances.extra_data": ("instances", put("extra_data", lambda text: [("contrast", text)])),
    "instances.cluster_id": ("instances", put("cluster_id", same)),
    "instances.references": (
        "instances",
        put("references", lambda text: [{"text": text, "tags": ["correct"]}]),
    ),
    "prompts.text": ("prompts", put("text", same)),
    "prompts.messages": ("prompts", put("messages", message)),
    "prompts.output_mapping": ("prompts", put("output_mapping", lambda text: [("A", text)])),
    "run_specs.name": ("run_specs", put("name", same)),
    "run_specs.as_imported": ("run_specs", put("as_imported", lambda t: json.dumps({"x": t}))),
    "run_specs.instructions": ("run_specs", in_adapter("instructions", same)),
    "run_specs.stop_sequences": ("run_specs", in_adapter("stop_sequences", lambda text: [text])),
    "request_results.completion": ("request_results", in_result("text")),
    "request_results.thinking": ("request_results", in_result("thinking")),
    "request_results.reason": ("request_results", put("reason", same)),
    "request_results.engine_fingerprint": ("request_results", put("engine_fingerprint", same)),
}
"""Fields of rows that a run wrote: all rows of the table are changed, then the release is made."""

ADDED: dict[str, tuple[str, Row]] = {
    "annotations.explanation": (
        "annotations",
        {"scores": [{"criterion": "accuracy", "score": 4.0, "explanation": ""}]},
    ),
    "quarantine.reason": ("quarantine", {"reason": ""}),
    "quarantine.source_file": ("quarantine", {"source_file": ""}),
    "ratings.comment": ("ratings", {"comment": ""}),
    "answer_notes.text": ("answer_notes", {"text": ""}),
    "instance_groups.group_value": ("instance_groups", {"group_value": ""}),
    "imported_scenarios.card": ("imported_scenarios", {"card": ""}),
}
"""Fields of tables that the run left empty: a row with the canary where the empty text is."""

FIELDS = (*CHANGED, *ADDED)


def filled(value: Any, text: str) -> Any:
    """The value with the text in place of the empty text."""
    if value == "":
        return text
    if isinstance(value, dict):
        return {key: filled(each, text) for key, each in value.items()}
    return [filled(each, text) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A release of private answers, with a canary in every field that can have text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(planting.BENCHMARK, "access_level", "private")
        made = Made.planned(tmp_path_factory.mktemp("canaries"))
    audiences = [
        {"name": content, "content": content} for content in ("aggregates", "scores", "texts")
    ]
    rules = {"audiences": audiences, "small_cells": {"minimum": 2}}
    (made.site / "policy.yaml").write_text(yaml.safe_dump(rules))
    for name, (table, plant) in CHANGED.items():

        def edit(rows: list[Row], name: str = name, plant: Any = plant) -> list[Row]:
            for row in rows:
                plant(row, canary(name))
            return rows

        made.edit(table, edit)
    for name, (table, row) in ADDED.items():
        planted_row = {
            **filled(row, canary(name)),
            "access_level": "private",
            "write_id": "planted",
        }
        rows = pa.Table.from_pylist([planted_row], schema=table_schema(table))
        FileTables(str(made.lake)).append(table, rows)
    made.evaluation.releases.publish(RELEASE, SUITE)
    return made


def test_every_field_that_the_scan_compares_has_a_canary() -> None:
    tables = {name.partition(".")[0] for name in FIELDS}
    compared = {name for name in TEXT_COLUMNS if TEXT_COLUMNS[name] or name in PROSE_COLUMNS}
    assert tables == compared
    assert len(FIELDS) == 24


@pytest.mark.attack("sharing", "a canary in every field of the lake that can hold text")
@pytest.mark.parametrize("helm", [False, True], ids=["tables", "helm"])
@pytest.mark.parametrize("content", ["aggregates", "scores", "texts"])
def test_no_canary_of_any_field_is_in_a_share(
    planted: Made, tmp_path: Path, content: str, helm: bool
) -> None:
    out = tmp_path / "share"
    planted.evaluation.sharing.share(RELEASE, content, out, helm=helm)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) > 2
    contents = [str(path.relative_to(out)).encode() + path.read_bytes() for path in files]
    contents += [
        json.dumps(pq.read_table(path).to_pylist(), default=str).encode()
        for path in files
        if path.suffix == ".parquet"
    ]
    assert not [data for data in contents if b"zebra" in data]


@pytest.mark.attack("sharing", "a canary of each field of the lake, planted in a share")
def test_the_canary_of_every_field_is_found_where_it_is_planted(
    planted: Made, tmp_path: Path
) -> None:
    with (tmp_path / "share-1-texts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["answer"], *([f"So: {canary(name)}!"] for name in FIELDS)])
    found = scan(tmp_path, open_reader(str(planted.lake)))
    of_text = {leak.row: leak.kind for leak in found.leaks if leak.is_text}
    assert of_text == {
        row: f"text of {name.partition('.')[0]}" for row, name in enumerate(FIELDS, 1)
    }
    assert "zebra" not in repr(found.leaks)
