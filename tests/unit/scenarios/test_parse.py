"""From records to instances and fingerprints."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import (
    ParsedInput,
    Parser,
    Record,
    RecordKey,
    fingerprint_records,
    parse_records,
    read_card,
)
from tests.unit.scenarios.cards import card, instances, parsed, source, write_csv
from tests.unit.scenarios.test_csv import HOSTILE

FIELDS = {"input": "note", "reference": "answer", "id": "mrn", "extra.ward": "ward"}


def rows(*fields: Mapping[str, object]) -> list[Record]:
    return [Record(source_file="t", row=n, fields=each) for n, each in enumerate(fields, 1)]


def keys(scenario: ScenarioCard, *fields: Mapping[str, object]) -> list[RecordKey]:
    return list(fingerprint_records(rows(*fields), scenario))


NOTES = card("free_text", fields=FIELDS)
ROW = {"note": "n", "answer": "a", "mrn": "4711", "ward": "3B"}


def test_an_instance_has_all_its_parts() -> None:
    (found,) = parse_records(rows(ROW), NOTES, "v1", first_index=40)
    assert isinstance(found, Instance)
    assert (found.source_id, found.source_index, found.split) == ("4711", 40, Split.TEST)
    assert found.extra_data == {"ward": "3B"}
    assert found.access_level is AccessLevel.PRIVATE
    assert (found.scenario_name, found.data_version) == ("own", "v1")
    assert len(found.instance_id) == 32


def test_an_absent_value_is_not_taken_from_a_column_of_the_cards_name() -> None:
    """A workbook's empty cell is no field of its record."""
    names = {"answer": "urgent", "mrn": "letter_id"}
    scenario = replace(NOTES, source=replace(NOTES.source, columns=names))
    row = {**ROW, "urgent": "yes", "letter_id": "L1"}
    of_whole, of_unlabelled, of_unnamed = parse_records(
        rows(
            row,
            {name: value for name, value in row.items() if name != "urgent"},
            {name: value for name, value in row.items() if name != "letter_id"},
        ),
        scenario,
        "v1",
    )
    assert isinstance(of_whole, Instance)
    assert (of_whole.source_id, of_whole.references[0].text) == ("L1", "yes")
    assert isinstance(of_unlabelled, Quarantined)
    assert isinstance(of_unnamed, Quarantined)
    assert (of_unlabelled.reason, of_unnamed.reason) == ("missing_field", "missing_field")


def test_ids_follow_content_and_nothing_else() -> None:
    def ids(version: str, *fields: Mapping[str, object]) -> list[str]:
        found = parse_records(rows(*fields), NOTES, version)
        return [each.instance_id for each in found if isinstance(each, Instance)]

    first = ids("v1", ROW)[0]
    assert ids("v2", {**ROW, "mrn": "1"}, ROW)[1] == first
    for change in ({"note": "m"}, {"answer": "b"}, {"mrn": "4712"}, {"ward": "4"}, {"ward": None}):
        assert ids("v1", {**ROW, **change})[0] != first


def test_bad_rows_are_counted_and_the_rest_runs() -> None:
    found = list(parse_records(rows(ROW, {**ROW, "mrn": ""}, {"mrn": "1"}, ROW), NOTES, "v1"))
    assert [each.reason for each in found if isinstance(each, Quarantined)] == [
        "empty_id",
        "missing_field",
    ]
    assert found[1] == Quarantined(
        scenario_name="own",
        data_version="v1",
        source_file="t",
        source_row=2,
        reason="empty_id",
        access_level=AccessLevel.PRIVATE,
    )
    assert [each.source_index for each in found if isinstance(each, Instance)] == [0, 3]


def test_fingerprints_find_duplicates_and_hold_no_text() -> None:
    found = keys(NOTES, ROW, {**ROW, "note": "other"}, {**ROW, "mrn": "1"}, {"mrn": "2"})
    assert found[0].source_key == found[1].source_key != found[2].source_key
    assert found[0].content_hash == found[2].content_hash != found[1].content_hash
    assert [key.reason for key in found] == [None, None, None, "missing_field"]
    assert (found[3].source_key, found[3].content_hash, found[3].source_row) == ("", "", 4)
    assert [key.split for key in found] == ["test", "test", "test", None]
    assert "4711" not in repr(found)
    other = keys(replace(NOTES, name="another"), ROW)
    assert other[0].source_key != found[0].source_key


def test_splits_from_a_column() -> None:
    scenario = card("free_text", fields={"input": "note", "split": "part"})
    named = ["train", "Validation ", "dev", "test", None, "", " ", "holdout"]
    found = list(
        parse_records(rows(*({"note": "n", "part": part} for part in named)), scenario, "v")
    )
    assert [each.split for each in found if isinstance(each, Instance)] == [
        Split.TRAIN,
        Split.VALID,
        Split.VALID,
        *[Split.TEST] * 4,
    ]
    assert [each.reason for each in found if isinstance(each, Quarantined)] == ["unknown_split"]


def test_blanks_around_a_clusters_name_do_not_count() -> None:
    scenario = card("free_text", fields={"input": "note", "cluster": "patient"})
    names = ["P1", "P1 ", " ", "  ", None]
    found = parse_records(rows(*({"note": "n", "patient": name} for name in names)), scenario, "v")
    first, second, *alone = (each.cluster_id for each in found if isinstance(each, Instance))
    assert first == second
    assert len({first, *alone}) == 4


def test_row_numbers_stand_in_for_ids(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [["q", "correct_answer"], ["x", "y"], ["z", "y"]])
    write_csv(tmp_path / "b.csv", [["q", "correct_answer"], ["x", "y"]])
    one = card(source=source(tmp_path / "a.csv"), options={"template": "{q}"})
    assert [each.source_id for each in instances(one)] == ["1", "2"]
    files = tuple(SourceFile(path=str(tmp_path / name)) for name in ("a.csv", "b.csv"))
    both = replace(one, source=DataSource(files=files))
    assert [each.source_id for each in instances(both)] == ["a.csv:1", "a.csv:2", "b.csv:1"]
    assert [each.source_index for each in instances(both)] == [0, 1, 0]


def test_files_of_one_name_have_ids_of_their_own(tmp_path: Path) -> None:
    """The others keep theirs; one file that is named twice repeats its ids."""
    paths = ["train/a.csv", "test/a.csv", "old/test/a.csv", "b.csv"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        write_csv(tmp_path / path, [["q", "correct_answer"], ["x", "y"]])
    files = tuple(SourceFile(path=str(tmp_path / path)) for path in [*paths, "b.csv"])
    found = instances(card(source=DataSource(files=files), options={"template": "{q}"}))
    assert [each.source_id for each in found] == [
        "train/a.csv:1",
        f"{tmp_path.name}/test/a.csv:1",
        "old/test/a.csv:1",
        "b.csv:1",
        "b.csv:1",
    ]


def test_hostile_text_from_csv_to_instance(tmp_path: Path) -> None:
    texts = [text for text in HOSTILE if text.strip()]
    table = [[str(n), text, text] for n, text in enumerate(texts)]
    write_csv(tmp_path / "a.csv", [["id", "note", "correct_answer"], *table])
    scenario = card(source=source(tmp_path / "a.csv"), options={"template": "<{note}>"})
    found = instances(scenario)
    assert [each.input for each in found] == [f"<{text}>" for text in texts]
    assert [each.references[0].text for each in found] == texts


def test_missing_column_stops_everything(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [["id", "note"], ["1", "secret"]])
    scenario = card(source=source(tmp_path / "a.csv"), options={"template": "{note}"})
    with pytest.raises(
        DataError, match=r"needs column 'correct_answer'; .* needed are among its 2 columns"
    ):
        parsed(scenario)


def test_duplicate_ids_of_a_file_are_visible(tmp_path: Path) -> None:
    table = [["1", "a", "x"], ["2", "b", "x"], ["1", "c", "x"], ["3", "d", ""]]
    write_csv(tmp_path / "a.csv", [["id", "note", "correct_answer"], *table])
    scenario = card(source=source(tmp_path / "a.csv"), options={"template": "{note}"})
    found = list(fingerprint_records(read_card(scenario), scenario))
    seen = Counter(key.source_key for key in found if key.reason is None)
    assert [key.source_row for key in found if seen[key.source_key] > 1] == [1, 3]
    assert [key.reason for key in found] == [None, None, None, "empty_answer"]


def test_rows_of_a_table_parse_like_rows_of_a_file(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [["id", "note", "correct_answer"], ["1", "a", "x"]])
    scenario = card(source=source(tmp_path / "a.csv"), options={"template": "{note}"})
    from_file = instances(scenario)
    row = {"id": 1, "note": "a", "correct_answer": "x"}
    from_table = list(
        parse_records([Record(source_file="c.s.t", row=1, fields=row)], scenario, "v1")
    )
    assert from_table == from_file


def test_a_parser_of_ones_own() -> None:
    def shout(record: Record, _: object) -> ParsedInput:
        return ParsedInput(input=record.fields["a"].upper(), source_id="x", sub_split="loud")

    own = {"shout": Parser(parse=shout)}
    (found,) = parse_records(rows({"a": "hi"}), card("shout"), "v", parsers=own)
    assert isinstance(found, Instance)
    assert (found.input, found.source_id, found.sub_split) == ("HI", "x", "loud")
