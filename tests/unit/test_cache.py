"""Where downloads are kept."""

from pathlib import Path

import pytest

from medhelm_spark.cache import cache_folder

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
