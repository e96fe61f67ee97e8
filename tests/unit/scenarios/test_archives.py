"""Zip, tar and gzip files, folders of texts, and what is damaged in them."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import read_card, read_records, spread, with_source
from tests.unit.scenarios.cards import card, instances, parsed

CONTENT = "id,q\n" + "".join(f"{number},note {number * 7919}\n" for number in range(500))


def zipped(path: Path, name: str = "data/test.csv", content: str = CONTENT) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("data/readme.txt", "x")
        out.writestr(name, content)
    return path


def rows(path: Path, member: str | None = "data/test.csv") -> int:
    file = SourceFile(path=str(path), member=member)
    return len(list(read_records(file, DataSource(files=(file,)), required=("q",))))


def test_members_by_path_and_by_ending(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    assert rows(path) == rows(path, "test.csv") == 500
    tar = tmp_path / "a.tar.gz"
    (tmp_path / "test.csv").write_text(CONTENT)
    with tarfile.open(tar, "w:gz") as out:
        out.add(tmp_path / "test.csv", "deep/data/test.csv")
    assert rows(tar) == 500


def test_gzip_is_opened_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CONTENT.encode()))
    assert rows(path, None) == 500


@pytest.mark.parametrize("end", [10, 600, -5])
def test_a_zip_that_is_cut_off(tmp_path: Path, end: int) -> None:
    path = zipped(tmp_path / "a.zip")
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(DataError, match=r"a\.zip!data/test\.csv: cut off or damaged"):
        rows(path)


def test_a_gzip_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CONTENT.encode())[:-200])
    with pytest.raises(DataError, match=r"a\.csv\.gz: cut off or damaged \(EOFError\)"):
        rows(path, None)


def test_a_member_whose_bytes_are_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"test.csv") + 40] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match="cut off or damaged"):
        rows(path)


def test_a_member_that_is_absent_or_there_twice(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    with pytest.raises(DataError, match=r"0 of its 2 files are called 'train\.csv'"):
        rows(path, "train.csv")
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("other/test.csv", CONTENT)
    with pytest.raises(DataError, match=r"2 of its 3 files are called 'test\.csv'"):
        rows(path, "test.csv")


def test_the_hash_is_that_of_the_archive(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    file = SourceFile(path=str(path), member="data/test.csv", sha256=digest)
    assert len(list(read_records(file, DataSource(files=(file,))))) == 500
    zipped(path, content=CONTENT + "x,y\n")
    with pytest.raises(DataError, match="the file has changed"):
        next(read_records(file, DataSource(files=(file,))))


def test_of_two_members_of_one_name_the_one_at_the_cards_path(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", "top/US/4_options/test.csv", "q\nright\n")
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("top/Taiwan/test.csv", "q\nwrong\n")
    files = (SourceFile(path="own/US/4_options/test.csv"),)
    scenario = card(
        "free_text", source=DataSource(files=files), fields={"input": "q"}, metric="rouge_l"
    )
    assert [each.input for each in instances(with_source(scenario, [str(path)]))] == ["right"]


def archived() -> ScenarioCard:
    files = (
        SourceFile(path="up/all.zip", member="data/train.csv", split=Split.TRAIN),
        SourceFile(path="up/all.zip", member="data/test.csv"),
    )
    fields = {"input": "q"}
    return card("free_text", source=DataSource(files=files), fields=fields, metric="jury_score")


def test_own_archive_or_its_unpacked_folder(tmp_path: Path) -> None:
    path = zipped(tmp_path / "mine.zip")
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("data/train.csv", "id,q\n1,first\n")
    by_zip = instances(with_source(archived(), [str(path)]))
    assert [each.split for each in by_zip[:2]] == [Split.TRAIN, Split.TEST]
    assert (by_zip[0].source_id, by_zip[1].source_id) == ("train.csv:1", "test.csv:1")
    with zipfile.ZipFile(path) as found:
        found.extractall(tmp_path / "unpacked")
    by_folder = instances(with_source(archived(), [str(tmp_path / "unpacked")]))
    assert [each.input for each in by_folder] == [each.input for each in by_zip]
    assert [each.split for each in by_folder] == [each.split for each in by_zip]


def texts(folder: Path) -> ScenarioCard:
    data_source = DataSource(
        format="text", files=(SourceFile(path=f"{folder}/notes/*.txt"),), origin="X"
    )
    return card(
        "free_text", source=data_source, fields={"input": "text", "id": "file"}, metric="jury_score"
    )


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name, text in (("b & c.txt", "second\r\n"), ("a.txt", "\ufefffirst\nline"), ("c.md", "no")):
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8", newline="")
    found = instances(texts(tmp_path))
    assert [(each.source_id, each.input) for each in found] == [
        ("a", "first\nline"),
        ("b & c", "second\r\n"),
    ]
    moved = with_source(texts(Path("elsewhere")), [str(tmp_path / "notes")])
    assert [each.input for each in instances(moved)] == [each.input for each in found]


def test_an_empty_text_is_quarantined_and_the_rest_runs(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("")
    (tmp_path / "notes" / "b.txt").write_text("here")
    first, second = parsed(texts(tmp_path))
    assert getattr(first, "reason", None) == "empty_input"
    assert getattr(second, "input", None) == "here"


def test_texts_of_mixed_encodings(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_bytes("fiebre, niño".encode("cp1252"))
    assert [one.fields["text"] for one in read_card(texts(tmp_path))] == ["fiebre, niño"]
    (tmp_path / "notes" / "a.txt").write_bytes(b"fiebre, ni\x81o")
    with pytest.raises(DataError, match=r"file 1 of 1 of .*txt: not UTF-8 at byte 10"):
        list(read_card(texts(tmp_path)))


def test_a_folder_that_is_absent_says_where_the_data_is_had(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file; it comes from X; give the data with"):
        list(read_card(texts(tmp_path)))
    data_source = DataSource(files=(SourceFile(path="s3://bucket/*.txt"),))
    with pytest.raises(ConfigError, match="a pattern is for local folders"):
        spread(data_source)
    with pytest.raises(ConfigError, match="unpack the archive"):
        with_source(card(source=DataSource(dataset="a/b")), ["notes.zip"])


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tgz"])
def test_an_archive_of_texts_is_read_as_its_folder(tmp_path: Path, ending: str) -> None:
    notes = {"b & c.txt": "second", "a.txt": "first\nline", "c.md": "no"}
    (tmp_path / "notes").mkdir()
    for name, text in notes.items():
        (tmp_path / "notes" / name).write_text(text)
    path = str(tmp_path / f"mine.{ending}")
    for prefix in ("REPO-0123/notes/", ""):  # as a server packs a repository, and the texts alone
        pack(path, {f"{prefix}{name}": text for name, text in sorted(notes.items())})
        found = instances(with_source(texts(Path("elsewhere")), [path]))
        assert [(each.source_id, each.input) for each in found] == [
            ("a", "first\nline"),
            ("b & c", "second"),
        ]
    by_folder = instances(with_source(texts(Path("elsewhere")), [str(tmp_path / "notes")]))
    assert [each.instance_id for each in found] == [each.instance_id for each in by_folder]
    file = with_source(texts(Path("elsewhere")), [path]).source.files[0]
    halves = [
        list(read_records(file, DataSource(format="text"), partition=part, partitions=2))
        for part in (0, 1)
    ]
    assert [[record.row for record in half] for half in halves] == [[2], [1]]


def pack(path: str, members: dict[str, str]) -> None:
    if path.endswith("zip"):
        with zipfile.ZipFile(path, "w") as out:
            for name, text in members.items():
                out.writestr(name, text)
        return
    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))


def test_errors_name_a_text_of_an_archive_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "mine.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, content in (("notes/doe.txt", b"fine"), ("notes/roe.txt", b"ni\x81o")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    scenario = with_source(texts(Path("elsewhere")), [str(path)])
    with pytest.raises(DataError) as caught:
        list(read_card(scenario))
    message = f"file 2 of 2 of {path}!notes/*.txt: not UTF-8 at byte 2; save it as UTF-8."
    assert str(caught.value) == message
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match="cut off or damaged"):
        list(read_card(scenario))
    pack(str(path), {"other/readme.md": "x"})
    with pytest.raises(DataError, match=r"none of its 1 files is called '\*\.txt'"):
        list(read_card(scenario))
