"""What rests on this machine: whose it is, and when it goes."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from medhelm_spark.config.settings import PERMISSIONS, load_settings
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.lake import file_permissions
from medhelm_spark.lake.file_permissions import Permissions
from tests.unit.board.planted import plant

MAKES = """
import pathlib, sys, time
from medhelm_spark.lake.file_permissions import work_folder
folder = work_folder()
(folder / "spill").write_text("Jane Roe")
print(folder, flush=True)
time.sleep(float(sys.argv[1]))
"""


def process(folder: Path, seconds: float) -> tuple[subprocess.Popen[str], Path]:
    child = subprocess.Popen(
        [sys.executable, "-c", MAKES, str(seconds)],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    return child, Path(child.stdout.readline().strip())


@pytest.mark.attack("rest", "what a killed process spilled, looked for after the next start")
def test_the_folder_of_a_killed_process_goes_at_the_next_start(tmp_path: Path) -> None:
    killed, left = process(tmp_path, 600)
    living, used = process(tmp_path, 600)
    try:
        assert (left / "spill").is_file(), (
            "its process runs, so that the second start leaves it alone"
        )
        assert stat.S_IMODE(left.stat().st_mode) == 0o700
        assert stat.S_IMODE(left.parent.stat().st_mode) == 0o700
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        third, _ = process(tmp_path, 0)
        third.wait()
        assert not left.exists()
        assert (used / "spill").is_file()
    finally:
        living.kill()
        living.wait()


@pytest.mark.attack("rest", "a folder of temporary files that is a link to somebody's place")
def test_a_link_in_place_of_the_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_permissions.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"medhelm_spark_work-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SetupError, match="is not a folder of this user"):
        file_permissions._parent()


@pytest.mark.attack("rest", "the files of a lake that was written without Spark, read by others")
@pytest.mark.parametrize(("permissions", "refused"), [("private", 0o077), ("group", 0o027)])
def test_files_of_a_lake_have_the_permissions_asked_for(
    tmp_path: Path, permissions: str, refused: int
) -> None:
    before = os.umask(0o022)
    try:
        file_permissions.restrict(Permissions(permissions))
        lake = tmp_path / "lake"
        lake.mkdir()
        plant(lake)
    finally:
        os.umask(before)
    paths = [lake, *lake.rglob("*")]
    assert len(paths) > 50
    assert not [path for path in paths if stat.S_IMODE(path.stat().st_mode) & refused]


def test_the_settings_say_who_reads_a_lake(tmp_path: Path) -> None:
    assert load_settings(None, {}).lake_permissions == "private"
    (tmp_path / "settings.yaml").write_text("lake_permissions: group\n")
    assert load_settings(tmp_path, {}).lake_permissions == "group"
    named = {"MEDHELM_SPARK_LAKE_PERMISSIONS": "everyone"}
    with pytest.raises(
        ConfigError, match="lake_permissions is 'everyone'; allowed: private, group"
    ):
        load_settings(tmp_path, named)
    assert list(Permissions) == list(PERMISSIONS)
