"""`--source table:NAME`: data from a table of the session's catalog."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.cards import NOTES
from tests.spark.conftest import PUBLIC, Site, questions
from tests.spark.notes import card, ingest, notes, only_line, read

OPEN = {key: name for key, name in NOTES["fields"].items() if key != "id"}
ODD = (
    "001",
    "NA",
    "null",
    ' "quoted", twice ""',
    "two\nlines\r\nand a tab\t",
    "żółć 🩺 \u202e",
    "\\N",
)
WRITTEN = {"write_id", "data_version", "source_index"}


@pytest.fixture
def clinic(spark: SparkSession) -> Iterator[str]:
    """An empty schema of the session's catalog."""
    spark.sql("CREATE SCHEMA clinic")
    yield "clinic"
    spark.sql("DROP SCHEMA clinic CASCADE")


def save(spark: SparkSession, rows: list[dict[str, Any]], ddl: str, *, parts: int = 1) -> None:
    frame = spark.createDataFrame(rows, ddl).repartition(parts)
    writer = frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    writer.saveAsTable("clinic.notes")


def content(site: Site, lake: str) -> list[dict[str, Any]]:
    rows = [{k: v for k, v in row.items() if k not in WRITTEN} for row in read(site, lake=lake)]
    return sorted(rows, key=lambda row: str(row["instance_id"]))


TEXT = "case string, note string, question string, answer string"


@pytest.mark.core
def test_a_table_gives_the_instances_that_files_of_the_same_rows_give(
    site: Site, clinic: str
) -> None:
    card(site)
    rows = [{"case": f"0{i}", "note": t, "question": t, "answer": t} for i, t in enumerate(ODD)]
    rows.append({"case": "NA", "note": "a\x00b", "question": "\x00?", "answer": " 1.50 "})
    with (site.folder / "notes.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    (site.folder / "notes.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    save(site.spark, rows, TEXT, parts=3)
    for source in ("notes.csv", "notes.jsonl", "table:clinic.notes"):
        assert ingest(site, source, lake=f"lake of {source}") == 0
    table_content = content(site, "lake of table:clinic.notes")
    assert len(table_content) == len(rows)
    assert table_content == content(site, "lake of notes.csv")
    assert table_content == content(site, "lake of notes.jsonl")
    assert {row["source_id"]: row["references"][0]["text"] for row in table_content} == {
        row["case"]: row["answer"] for row in rows
    }
    (version,) = read(site, "scenarios", "lake of table:clinic.notes")
    assert version["source"] == "clinic.notes"


@pytest.mark.core
def test_values_other_than_text_read_as_sql_writes_them(site: Site, clinic: str) -> None:
    values: dict[str, tuple[str, Any, str | None]] = {
        "whole": ("int", 1, "1"),
        "large": ("bigint", 2**60, str(2**60)),
        "real": ("double", 1.5, "1.5"),
        "none": ("double", float("nan"), None),
        "price": ("decimal(12,8)", Decimal("1.50"), "1.50000000"),
        "small": ("decimal(12,8)", Decimal("0.00000001"), "0.00000001"),
        "day": ("date", date(2024, 2, 29), "2024-02-29"),
        "moment": ("timestamp", datetime(2024, 2, 29, 7, 5, tzinfo=UTC), "2024-02-29 07:05:00"),
        "absent": ("string", None, None),
    }
    card(site, fields={**NOTES["fields"], **{f"extra.{name}": name for name in values}})
    row = {**notes(1)[0], **{name: value for name, (_, value, _) in values.items()}, "case": 7}
    types = ", ".join(f"{name} {kind}" for name, (kind, _, _) in values.items())
    save(site.spark, [row], f"{TEXT}, {types}".replace("case string", "case int"))
    assert ingest(site, "table:clinic.notes") == 0
    (instance,) = read(site)
    assert instance["source_id"] == "7"
    assert dict(instance["extra_data"]) == {
        name: text for name, (_, _, text) in values.items() if text is not None
    }


def test_lists_stay_lists_and_what_is_no_text_is_refused_by_row(site: Site, clinic: str) -> None:
    fields = {"id": "case", "question": "question", "options": "choice", "answer": "answer"}
    card(site, shape="multiple_choice", fields=fields, adapter_spec={})
    base = {"case": "a", "question": "q", "answer": "2", "choice": ["1", "2"], "odd": {"x": 1}}
    rows: list[dict[str, Any]] = [base, {**base, "case": "b", "question": None}]
    ddl = "case string, question string, answer string, choice array<string>, odd struct<x:int>"
    save(site.spark, rows, ddl)
    (site.folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert ingest(site, "table:clinic.notes") == ingest(site, "a.jsonl", lake="files") == 0
    assert content(site, "lake") == content(site, "files")
    (row,) = read(site)
    assert [(one["text"], one["tags"]) for one in row["references"]] == [
        ("1", []),
        ("2", ["correct"]),
    ]
    (bad,) = read(site, "quarantine")
    assert (bad["source_file"], bad["reason"]) == ("clinic.notes", "missing_field")

    fields["question"] = "odd"
    card(site, shape="multiple_choice", fields=fields, adapter_spec={})
    assert ingest(site, "table:clinic.notes", lake="none") == 1


def test_the_same_rows_are_the_same_version_however_they_lie(site: Site, clinic: str) -> None:
    card(site, fields=OPEN)  # without an id, so that a row's own number makes one
    rows = [*notes(40), notes(1)[0]]  # and two rows alike
    save(site.spark, rows, TEXT, parts=5)
    assert ingest(site, "table:clinic.notes") == 0
    first = read(site)
    assert len({row["source_index"] for row in first}) == 41
    assert min(row["source_index"] for row in first) >= 0
    site.spark.sql("OPTIMIZE clinic.notes")
    assert ingest(site, "table:clinic.notes") == 0
    save(site.spark, rows[::-1], TEXT, parts=2)
    assert ingest(site, "table:clinic.notes") == 0
    ordered = site.spark.table("clinic.notes").select("answer", "question", "note", "case")
    ordered.createOrReplaceTempView("notes_again")
    site.spark.sql("CREATE TABLE clinic.again USING delta AS SELECT * FROM notes_again")
    site.spark.sql("DROP TABLE clinic.notes")
    site.spark.sql("ALTER TABLE clinic.again RENAME TO clinic.notes")
    assert ingest(site, "table:clinic.notes") == 0
    assert read(site) == first
    assert len(read(site, "scenarios")) == 1

    site.spark.sql("INSERT INTO clinic.notes VALUES ('new', 'new?', 'New.', 'c99')")
    assert ingest(site, "table:clinic.notes") == 0
    newer = {row["instance_id"]: row["data_version"] for row in read(site)}
    assert len(read(site, "scenarios")) == 2
    assert {row["instance_id"] for row in first} < set(newer), "the old rows keep their ids"


@pytest.mark.core
def test_a_table_that_does_not_fit_is_one_sentence(
    site: Site, clinic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    card(site)
    save(
        site.spark,
        [{"case": "c", "note": b"n", "answer": "a"}],
        "case string, note binary, answer string",
    )
    for name, fragments in (
        ("clinic.notes", ("'clinic.notes'", "column 'question'", "present: 'answer', 'case'")),
        ("clinic.absent", ("'clinic.absent'", "TABLE_OR_VIEW_NOT_FOUND", "table:SCHEMA.NAME")),
        ("no table; at all", ("'no table; at all'", "cannot be read")),
        ("", ("''", "cannot be read")),
    ):
        assert ingest(site, f"table:{name}") == 1
        line = only_line(capsys)
        assert all(part in line for part in fragments), line
    site.spark.sql("CREATE TABLE clinic.other (x string) USING delta")
    assert ingest(site, "table:clinic.other") == 1
    assert "columns present: 'x'" in only_line(capsys)
    for table in ("instances", "scenarios", "quarantine", "runs"):
        assert not site.rows(table)


def test_a_benchmark_runs_on_a_table(site: Site, clinic: str) -> None:
    model = site.deploy("acme/yes", text="yes")
    entry = f"{site.benchmark('bench', questions(2))},model={model}"
    rows = questions(5, lambda i: "yes" if i else "no")
    save(site.spark, rows, "id string, question string, correct_answer string", parts=2)
    assert site.run("-r", entry, "--source", "table:clinic.notes", *PUBLIC) == 0
    (cell,) = site.board()
    assert (cell["count"], cell["mean"]) == (5, 0.8)
