"""The hash of a model folder: its content, whatever its path, computed once."""

import os

import pytest

from medhelm_spark.engines import weights
from medhelm_spark.engines.weights import folder_sha256


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"\1" * 1000)
    return made


def test_it_follows_the_content_not_the_path_or_other_files(folder, tmp_path):
    first = folder_sha256(folder)
    (folder / "README.md").write_text("changed")
    copied = folder.rename(tmp_path / "moved")
    assert folder_sha256(copied) == first
    (copied / "model.safetensors").write_bytes(b"\2" * 1000)
    os.utime(copied / "model.safetensors", ns=(1, 1))
    assert folder_sha256(copied) != first


def test_large_files_are_read_once(folder, monkeypatch):
    first = folder_sha256(folder)
    monkeypatch.setattr(weights, "file_sha256", lambda path: pytest.fail("read again"))
    assert folder_sha256(folder) == first
