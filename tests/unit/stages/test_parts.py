"""How many rows a card's files have at most, which decides whether a run goes without Spark."""

import gzip
from pathlib import Path

import pytest

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios import read_records
from medhelm_spark.stages.ingest.parts import BYTES_OF_A_ROW, most_rows
from tests.unit.scenarios.cards import card, source

CSV = 'question,label\n"Over\ntwo lines?",yes\n' + "What follows?,no\n" * 40


def of_file(path: Path, form: str) -> ScenarioCard:
    return card(source=source(path, form))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_where_a_row_takes_one(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(CSV.replace("\n", ends).encode())
    card = of_file(path, "csv")
    rows = len(list(read_records(card.source.files[0], card.source)))
    assert rows == 41 <= most_rows(card) <= rows + 3  # the header, a second line, the end


def test_a_long_row_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"question": "' + "long " * 1000 + '"}\n')
    assert most_rows(of_file(path, "jsonl")) == 2


@pytest.mark.parametrize(("name", "form"), [("data.csv.gz", "csv"), ("data.json", "json")])
def test_other_files_count_by_their_size(tmp_path: Path, name: str, form: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(CSV.encode()))
    assert most_rows(of_file(path, form)) == 1 + path.stat().st_size // BYTES_OF_A_ROW


def test_a_file_that_is_elsewhere_counts_nothing(tmp_path: Path) -> None:
    assert most_rows(of_file(tmp_path / "missing.csv", "csv")) == 0
