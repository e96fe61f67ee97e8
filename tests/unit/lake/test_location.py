"""Where a lake is, as a person names it."""

from pathlib import Path

import pytest

from medhelm_spark.errors import ConfigError
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


def test_a_name_that_sql_would_read_otherwise_is_quoted() -> None:
    assert Location.of("prod-eu.medhelm").table("runs") == "`prod-eu`.medhelm.runs"


def test_files_are_read_without_spark_only_on_this_machine(tmp_path: Path) -> None:
    folder = Location.of(str(tmp_path))
    assert folder.is_local("local[2]", {})
    assert not folder.is_local("yarn", {})
    assert not folder.is_local("local-cluster[2,1,1024]", {}), "its executors are other processes"
    assert not folder.is_local("local[2]", {"DATABRICKS_RUNTIME_VERSION": "17"})
    assert not Location.of("s3://bucket/lake").is_local("local[2]", {})
    assert not Location.of("main.evals").is_local("local[2]", {})


@pytest.mark.parametrize(
    ("uri", "name", "is_folder"),
    [
        ("file:/data/lake", "/data/lake", True),
        ("file:///data/my%20lake/", "/data/my lake", True),
        ("dbfs:/Volumes/main/evals/lake", "/Volumes/main/evals/lake", True),
        ("dbfs:/mnt/lake/", "dbfs:/mnt/lake", False),
        ("s3:/bucket/lake", "s3://bucket/lake", False),
        ("s3a://bucket/lake/", "s3a://bucket/lake", False),
        ("hdfs:/user/ann/lake", "hdfs:/user/ann/lake", False),
        (
            "abfss://evals@ward.dfs.core.windows.net/lake",
            "abfss://evals@ward.dfs.core.windows.net/lake",
            False,
        ),
        ("gs://bucket/lake", "gs://bucket/lake", False),
        ("/Volumes/main/evals/lake", "/Volumes/main/evals/lake", True),
        ("~/lake", "/data/ann/lake", True),
    ],
)
def test_uris_of_one_slash_and_a_home_are_understood(
    uri: str, name: str, is_folder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/data/ann")
    location = Location.of(uri)
    assert (location.name, location.is_folder) == (name, is_folder)
    assert Location.of(location.name) == location


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the lake is ''"),
        (" ", "the lake is ' '"),
        ("a.b.c", "has three names"),
        ("file:///", "without a path"),
        ("s3://", "without a path"),
    ],
)
def test_what_names_no_place_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"allowed: a folder, a URI such as s3://") as caught:
        Location.of(text)
    assert message in str(caught.value)


def test_a_folder_of_three_names_is_one_where_it_is_written_as_a_path() -> None:
    assert Location.of("./a.b.c").is_folder


def test_a_name_with_a_hyphen_is_quoted_in_sql() -> None:
    assert Location.of("prod-eu.medhelm").quoted("runs") == "`prod-eu`.medhelm.runs"
    assert Location.of("prod-eu.medhelm").table("runs") == "`prod-eu`.medhelm.runs"
    assert Location.of("s3://bucket/lake").quoted("runs") == "delta.`s3://bucket/lake/runs`"
