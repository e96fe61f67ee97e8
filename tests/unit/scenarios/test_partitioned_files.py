"""Partitions: what several tasks read of one file is together what one task reads."""

from pathlib import Path

import pytest

from medhelm_spark.scenarios import read_records
from tests.unit.scenarios.cards import source

CONTENTS = {
    "csv": 'id,text\n1,"a\nb"\n2\n\n3,c,,\n4,d,e\n5,f\n6,g\n7,h\n',
    "jsonl": '{"id": "1"}\n\n{"id": \n[2]\n{"id": "3"}\n   \n{"id": "4"}\n{"id": "5"}\n7\n',
    "json": '[{"id": "1"}, 2, {"id": "3"}, {"id": "4"}, {"id": "5"}, {"id": "6"}, {"id": "7"}]',
    "lines": "1\n2\n3\n4\n5\n6\n7\n",
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_partitions_are_together_the_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_text(CONTENTS[kind], encoding="utf-8")
    data_source = source(path, kind)
    whole = list(read_records(data_source.files[0], data_source))
    assert len(whole) == 7
    for partitions in (1, 2, 3, 11):
        parts = [
            list(
                read_records(
                    data_source.files[0], data_source, partition=partition, partitions=partitions
                )
            )
            for partition in range(partitions)
        ]
        for partition, part in enumerate(parts):
            assert all(record.row % partitions == partition for record in part)
        records = [record for part in parts for record in part]
        assert sorted(records, key=lambda record: record.row) == whole


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_row_of_another_partition_takes_what_is_joined_to_it_nowhere(
    tmp_path: Path, kind: str
) -> None:
    path, text = tmp_path / f"a.{kind}", tmp_path / "guide.txt"
    path.write_text(CONTENTS[kind], encoding="utf-8")
    text.write_text("All of it.", encoding="utf-8")
    data_source = source(path, kind, texts={"guide": str(text)})
    found = list(read_records(data_source.files[0], data_source, partition=0, partitions=2))
    assert [record.row for record in found] == [2, 4, 6]
    good = [record.fields for record in found if record.error is None]
    assert good and all(fields["guide"] == "All of it." and "id" in fields for fields in good)
