"""A full disk, a read-only one, something in the way: one sentence, and the same command repairs.

`make test-kills`; needs the right to mount a small disk, as root has it.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.test_kills import BENCHMARK, base as base, board, done, start

RUN = ("run", "--suite", "s", "-o", "disk/lake", "--no-tracking", "-r")
CONSTANT, ECHO = (f"{BENCHMARK},model=canned/{name}" for name in ("constant", "echo"))


def refused(folder: Path, *words: str) -> str:
    """The sentence that a command ends with; all else that it prints are lines of its own."""
    process = start(folder, words)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 1, output
    assert not {"Traceback", "panicked", "\tat "} & set(output.split()), output
    *_, last = output.splitlines()
    assert last.startswith("medhelm-spark: ")
    return last


@pytest.fixture
def disk(base: Path) -> Iterator[Path]:
    """Eight MB, mounted below the folder that the commands run in."""
    folder = base / "disk"
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=8m", "none", str(folder))
    subprocess.run(mount, check=True)
    yield folder
    subprocess.run(("umount", str(folder)), check=True)
    folder.rmdir()


def test_a_full_disk_is_a_sentence_and_with_space_the_same_command_goes_on(
    base: Path, disk: Path
) -> None:
    done(base, (*RUN, CONSTANT))
    before = board(base, "s", "disk/lake")
    with (disk / "fill").open("wb", buffering=0) as fill, pytest.raises(OSError, match="No space"):
        while True:
            fill.write(bytes(4096))
    assert "No space left on device" in refused(base, *RUN, CONSTANT, ECHO)
    for words in (("report",), ("leaderboard", "--format", "csv")):
        sentence = refused(
            base, *words, "-o", "disk/lake", "--suite", "s", "--output-file", "disk/x"
        )
        assert "No space left on device" in sentence
    assert [path.name for path in disk.iterdir() if path.name != "lake"] == ["fill"]
    assert board(base, "s", "disk/lake") == before, "it is read all the same"
    (disk / "fill").unlink()
    done(base, (*RUN, CONSTANT, ECHO))
    assert "canned/echo" in board(base, "s", "disk/lake")


def test_a_read_only_disk_is_a_sentence(base: Path, disk: Path) -> None:
    done(base, (*RUN, CONSTANT))
    before = board(base, "s", "disk/lake")
    subprocess.run(("mount", "-o", "remount,ro", str(disk)), check=True)
    assert "Read-only file system" in refused(base, *RUN, CONSTANT, ECHO)
    assert "Read-only file system" in refused(base, *RUN, CONSTANT, "--suite", "new")
    new = tuple(word.replace("lake", "new_lake") for word in RUN)
    assert "Read-only file system" in refused(base, *new, CONSTANT)
    assert board(base, "s", "disk/lake") == before
    subprocess.run(("mount", "-o", "remount,rw", str(disk)), check=True)
    done(base, (*RUN, CONSTANT, ECHO))


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("lake", (*RUN, CONSTANT)),
        ("lake/stats/x", (*RUN, CONSTANT)),
        ("lake/stats", (*RUN, CONSTANT)),
        ("lake/mlflow.db/x", tuple(w for w in (*RUN, CONSTANT) if w != "--no-tracking")),
    ],
)
def test_what_is_in_the_way_is_named(
    base: Path, disk: Path, way: str, words: tuple[str, ...]
) -> None:
    (disk / way).parent.mkdir(parents=True, exist_ok=True)
    (disk / way).write_text("not ours")
    assert way.removesuffix("/x") in refused(base, *words)
    assert (disk / way).read_text() == "not ours"
    (disk / way).unlink()
    if way.endswith("/x"):
        (disk / way).parent.rmdir()
    done(base, words)


def test_an_emptied_commit_is_named_and_without_it_the_command_is_repeated(
    base: Path, disk: Path
) -> None:
    done(base, (*RUN, CONSTANT))
    before = board(base, "s", "disk/lake")
    for table in (
        "instances",
        "requests",
        "request_results",
        "per_instance_stats",
        "stats",
        "runs",
    ):
        *_, last = sorted((disk / "lake" / table / "_delta_log").glob("*.json"))
        last.write_bytes(b"")
        for words in (("gc", "-o", "disk/lake"), (*RUN, CONSTANT)):
            assert str(last.relative_to(base)) in refused(base, *words)
        if table in ("stats", "runs"):
            assert last.name in refused(base, "leaderboard", "--suite", "s", "-o", "disk/lake")
        last.unlink()
        done(base, (*RUN, CONSTANT))
        assert board(base, "s", "disk/lake") == before, table
