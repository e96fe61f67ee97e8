"""Where downloads are stored."""

import os
import threading
import time
from pathlib import Path

import pytest

from medhelm_spark.cache import cache_folder, locked

NAME = "MEDHELM_SPARK_CACHE"


def test_a_setting_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(NAME, str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.parametrize("empty", [None, ""])
def test_without_a_setting_it_is_in_the_home_folder(
    empty: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if empty is not None:
        monkeypatch.setenv(NAME, empty)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "medhelm_spark"


def test_a_user_without_a_home_has_a_folder_of_the_temporary_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nonexistent"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    folder = cache_folder()
    assert folder == tmp_path / f"medhelm_spark-{os.getuid()}" / "cache"
    assert folder.parent.stat().st_mode & 0o777 == 0o700, "nobody else lays files there"


def test_a_lock_is_held_by_one_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(NAME, str(tmp_path))
    inside, most = [0], []

    def work() -> None:
        with locked("jars"):
            inside[0] += 1
            most.append(inside[0])
            time.sleep(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
