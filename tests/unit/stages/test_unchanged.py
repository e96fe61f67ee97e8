"""Files that are recognized from an earlier run by their bytes and by how they are read."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.stages.ingest import unchanged
from medhelm_spark.stages.ingest.unchanged import source_hash, stamps
from tests.unit.scenarios.cards import card, source


def card_of(path: Path) -> ScenarioCard:
    return card(source=source(path))


def hash_of(card: ScenarioCard) -> str | None:
    return source_hash(card, stamps(card))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.csv"
    path.write_text("id,note\n1,Rest.\n")
    return path


def test_other_bytes_of_the_same_size_and_time_are_another_source(notes: Path) -> None:
    before, status = hash_of(card_of(notes)), notes.stat()
    assert hash_of(card_of(notes)) == before
    notes.write_text("id,note\n1,Walk.\n")
    os.utime(notes, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert hash_of(card_of(notes)) != before


def test_the_same_bytes_read_in_another_way_are_another_source(notes: Path) -> None:
    notes_card = card_of(notes)
    (file,) = notes_card.source.files
    ways = [
        notes_card.source,
        replace(notes_card.source, format="tsv"),
        replace(notes_card.source, columns={"note": "text"}),
        replace(notes_card.source, files=(replace(file, split=Split.TRAIN),)),
        replace(notes_card.source, files=(file, file)),
    ]
    assert len({hash_of(replace(notes_card, source=source)) for source in ways}) == len(ways)


def test_what_is_read_beside_the_records_counts(notes: Path) -> None:
    guide = notes.with_name("guide.txt")
    guide.write_text("Be brief.")
    notes_card = card_of(notes)
    notes_card = replace(notes_card, source=replace(notes_card.source, texts={"guide": str(guide)}))
    before = hash_of(notes_card)
    guide.write_text("Be exact.")
    assert hash_of(notes_card) not in {before, None}


def test_what_the_driver_does_not_hash(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes_card = card_of(notes)
    assert (
        hash_of(replace(notes_card, source=replace(notes_card.source, table="clinic.notes")))
        is None
    )
    assert hash_of(replace(notes_card, source=replace(notes_card.source, files=()))) is None
    assert hash_of(card_of(notes.with_name("absent.csv"))) is None
    remote = {**stamps(notes_card), "s3://bucket/more.csv": (5, 1)}
    assert source_hash(notes_card, remote) is None
    monkeypatch.setattr(unchanged, "HASHED_BYTES", notes.stat().st_size - 1)
    assert hash_of(notes_card) is None
