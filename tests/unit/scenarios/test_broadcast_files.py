"""Which files travel to executors, and how they are opened there."""

from pathlib import Path

import pytest

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import carried, read_records


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    texts = {"small.csv": "id\n1\n", "middle.csv": "id\n" + "2\n" * 10, "large.csv": "3" * 100}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    small, middle, large = (str(tmp_path / name) for name in texts)
    return small, middle, large


def test_small_files_travel_and_large_ones_stay(files: tuple[str, str, str]) -> None:
    small, middle, large = files
    opener, rest = carried([large, small, middle, "s3://bucket/x.csv"], most=30)
    assert set(opener.contents) == {small, middle}
    assert rest == (large,), "what is in an object store is read there by whoever needs it"


def test_what_travelled_is_read_where_the_file_is_not(files: tuple[str, str, str]) -> None:
    small, *_ = files
    opener, rest = carried([small])
    Path(small).unlink()
    source = DataSource()
    assert not rest
    records = read_records(SourceFile(path=small), source, opener)
    assert [record.fields for record in records] == [{"id": "1"}]
    with pytest.raises(DataError, match="cannot be read"):
        list(read_records(SourceFile(path=small), source))


def test_no_message_shows_what_travels(files: tuple[str, str, str], tmp_path: Path) -> None:
    (tmp_path / "note.csv").write_text("id,text\n1,Jane Doe\n")
    opener, _ = carried([str(tmp_path / "note.csv")])
    assert "Jane" not in repr(opener)
