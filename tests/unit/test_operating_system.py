"""On Windows and macOS everything imports, and what needs another system raises at use."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from medhelm_spark import operating_system
from medhelm_spark.cache import locked
from medhelm_spark.engines.engine_lock import Claim, runtime_folder
from medhelm_spark.errors import SetupError
from medhelm_spark.lake import file_permissions, jvm
from medhelm_spark.local_files import open_file
from medhelm_spark.operating_system import refusal_of

ROOT = Path(__file__).resolve().parents[2]
POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "posix_ipc")
IMPORT_ALL = f"""
import importlib, pkgutil, sys
import ctypes, multiprocessing, pyspark, subprocess, tempfile  # take from the system what they need
for name in {POSIX_ONLY}:
    sys.modules[name] = None
import medhelm_spark
names = [each.name for each in pkgutil.walk_packages(medhelm_spark.__path__, "medhelm_spark.")]
for name in names:
    if name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] in {POSIX_ONLY} or error.name.startswith("medhelm_spark"):
            raise SystemExit(f"{{name}}: {{error}}")
print(len(names))
"""


@pytest.fixture
def windows(tmp_path, monkeypatch):
    """What Python lacks there."""
    monkeypatch.setattr(operating_system, "fcntl", None)
    for name in ("getuid", "geteuid", "sched_getaffinity", "O_NONBLOCK", "O_CLOEXEC"):
        monkeypatch.delattr(os, name, raising=False)


def test_every_module_imports_where_posix_modules_are_hidden():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[-1]) > 400


def test_what_needs_another_system_says_so_in_one_sentence(windows, tmp_path, monkeypatch):
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path))
    file_permissions.work_folder.cache_clear()
    for use in (
        file_permissions.work_folder,
        runtime_folder,
        lambda: Claim(["x"], "me", tmp_path).take(evict=False),
        lambda: locked("ivy").__enter__(),
    ):
        with pytest.raises(
            SetupError, match=r"needs Linux or macOS; on Windows .* WSL2\."
        ) as raised:
            use()
        assert str(raised.value).count(". ") == 0


def test_what_needs_none_of_it_works(windows, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a\r\n")
    with open_file(tmp_path / "a.csv") as file:
        assert file.read() == b"a\r\n"
    assert operating_system.usable_cpus() == os.cpu_count()


def test_a_half_written_archive_is_left_alone_without_proc(tmp_path, monkeypatch):
    """A Mac has no /proc: every process seemed to have ended."""
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: "proc" not in path.parts and exists(path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    archive = tmp_path / "spark.jsa"
    half = tmp_path / f"spark.{os.getpid()}.part"
    odd = tmp_path / "spark.x.part"
    for part in (half, odd):
        part.write_text("half")
    jvm._adopt(archive, [half, odd])
    assert (half.exists(), odd.exists(), archive.exists()) == (True, True, False)
    whole = tmp_path / f"spark.{ended.pid}.part"
    whole.write_text("whole")
    jvm._adopt(archive, [half, whole])
    assert archive.read_text() == "whole"
    assert half.exists()


def test_where_nobody_can_tell_a_process_is_said_to_run(monkeypatch):
    monkeypatch.setattr(operating_system.os, "name", "nt")
    monkeypatch.setattr(operating_system.os, "kill", lambda *_: pytest.fail("it would interrupt"))
    assert operating_system.is_running(2**22 + 1)


def test_an_error_that_was_raised_beside_a_refusal_is_no_refusal() -> None:
    try:
        try:
            Path("no/such/file").read_text()
        except FileNotFoundError:
            {}["fault of the program"]
    except KeyError as error:
        assert refusal_of(error) == ""
    caused = RuntimeError()
    caused.__cause__ = OSError(errno.EROFS, "", "lake/stats")
    assert refusal_of(caused) == "Read-only file system: lake/stats"
