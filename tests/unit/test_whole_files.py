"""Files and folders that a command writes are whole, or as they were before."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from medhelm_spark import whole_files
from medhelm_spark.errors import ConfigError
from medhelm_spark.whole_files import whole_folder, write_whole


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


def test_a_folder_that_is_being_filled_is_refused_to_another(tmp_path: Path) -> None:
    target = tmp_path / "new"
    with whole_folder(target) as folder:
        (folder / "file").touch()
        refused = pytest.raises(ConfigError, match=r"another command makes .*new now")
        with refused, whole_folder(target):
            pass
        assert (folder / "file").is_file()
    assert [path.name for path in target.iterdir()] == ["file"]


def test_of_many_that_fill_a_folder_at_once_none_mixes_its_files(tmp_path: Path) -> None:
    target = tmp_path / "new"

    def fill(number: int) -> str:
        try:
            with whole_folder(target) as folder:
                for part in range(20):
                    (folder / f"{part}").write_text(str(number))
        except ConfigError:
            return "refused"
        except OSError as error:
            assert error.errno == errno.ENOTEMPTY
            return "later"
        return "made"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(fill, range(40)))
    assert outcomes.count("made") == 1
    files = list(target.iterdir())
    assert len(files) == 20
    assert len({file.read_text() for file in files}) == 1
    assert list(tmp_path.iterdir()) == [target]


def test_without_locks_an_unfinished_folder_may_be_a_living_process_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_files, "take_lock", no_locks)
    with whole_folder(tmp_path / "new") as folder:
        (folder / "file").touch()
        refused = pytest.raises(ConfigError, match=r"\.new\.unfinished is there: another command")
        with refused, whole_folder(tmp_path / "new"):
            pass
    assert (tmp_path / "new" / "file").is_file()


def no_locks(file: int, *, wait: bool = True) -> bool:
    raise OSError(errno.ENOLCK, "no locks")


def test_what_a_link_leads_to_stays_where_an_unfinished_folder_was(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").touch()
    (tmp_path / ".new.unfinished").symlink_to(tmp_path / "theirs")
    with whole_folder(tmp_path / "new") as folder:
        (folder / "own").touch()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["own"]
    assert (tmp_path / "theirs" / "file").is_file()
