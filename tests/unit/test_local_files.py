"""Files and folders that a command writes are whole, or as they were before."""

import os
from pathlib import Path

import pytest

from medhelm_spark.local_files import whole_folder, write_whole


def test_a_file_is_whole_or_the_one_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "board.csv"
    write_whole(path, "first")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(data[:1])
        raise OSError(28, "No space left on device", str(self))

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr(Path, "write_bytes", full)
        write_whole(path, "second")
    assert path.read_text() == "first"
    write_whole(path, "third")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
        ("board.csv", "third")
    ]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("before")
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "after"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)


def test_a_folder_has_its_name_once_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "runs" / "s"
    left = tmp_path / "runs" / ".s.unfinished"
    left.mkdir(parents=True)
    (left / "of a killed process").touch()
    with pytest.raises(RuntimeError), whole_folder(target) as folder:
        (folder / "half").touch()
        raise RuntimeError
    assert not list((tmp_path / "runs").iterdir())
    with whole_folder(target) as folder:
        assert not target.exists()
        (folder / "file").touch()
    assert [path.name for path in target.iterdir()] == ["file"]


def test_a_folder_with_the_same_files_stays_and_another_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "new"
    for text in ("one", "one"):
        with whole_folder(target) as folder:
            (folder / "file").write_text(text)
    assert (target / "file").read_text() == "one"
    with pytest.raises(OSError, match="not empty"), whole_folder(target) as folder:
        (folder / "file").write_text("two")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
