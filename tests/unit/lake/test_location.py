"""Where a lake is, as a person names it."""

from pathlib import Path

import pytest

from medhelm_spark.lake.location import Location


def test_a_folder_becomes_absolute_and_a_uri_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Location.of("lake")
    assert (folder.table("runs"), folder.may_exist) == (f"{tmp_path}/lake/runs", False)
    remote = Location.of("s3://bucket/lake/")
    assert (remote.table("runs"), remote.may_exist) == ("s3://bucket/lake/runs", True)


def test_two_names_are_a_catalog_unless_there_is_such_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Location.of("main.evals").table("runs") == "main.evals.runs"
    Path("main.evals").mkdir()
    assert Location.of("main.evals").table("runs") == f"{tmp_path}/main.evals/runs"


def test_files_are_read_without_spark_only_on_this_machine(tmp_path: Path) -> None:
    folder = Location.of(str(tmp_path))
    assert folder.is_local("local[2]", {})
    assert not folder.is_local("yarn", {})
    assert not folder.is_local("local[2]", {"DATABRICKS_RUNTIME_VERSION": "17"})
    assert not Location.of("s3://bucket/lake").is_local("local[2]", {})
    assert not Location.of("main.evals").is_local("local[2]", {})
