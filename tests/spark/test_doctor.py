"""`doctor` through a session: executors, a folder, a catalog, and a catalog that refuses."""

import json

import pyspark
import pytest

from medhelm_spark.cli import main
from medhelm_spark.lake.jvm import DELTA
from tests.spark.conftest import Site


def examined(
    site: Site, lake: str, capsys: pytest.CaptureFixture[str], *flags: str
) -> tuple[int, dict[tuple[str, str], dict[str, str]]]:
    code = main(["doctor", "-o", lake, "--no-tracking", "--format", "json", *flags])
    read = json.loads(capsys.readouterr().out)
    assert read["ok"] is (code == 0)
    return code, {(each["check"], each["where"]): each for each in read["findings"]}


def test_executors_and_the_lakes_place_are_tried_and_left_as_they_were(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    code, findings = examined(site, str(site.lake_path), capsys, "--executors")
    assert code == 0, findings
    assert findings["lake", str(site.lake_path)]["found"] == "create, read, delete"
    assert findings["delta", "driver"]["found"] == DELTA[pyspark.__version__.rpartition(".")[0]][1]
    assert findings["executors", "executors"]["found"].startswith("1 took a task")
    assert {where.split()[0] for check, where in findings if check == "disk"} == {
        "driver",
        "executor",
    }
    assert not site.lake_path.exists()


def test_a_catalog_is_tried_by_a_table_that_is_dropped(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.spark.sql("CREATE DATABASE doctored")
    code, findings = examined(site, "spark_catalog.doctored", capsys)
    assert code == 0, findings
    assert findings["lake", "spark_catalog.doctored"]["found"] == "create, read, delete"
    assert site.spark.sql("SHOW TABLES IN doctored").toArrow().num_rows == 0
    code, findings = examined(site, "spark_catalog.nowhere", capsys)
    assert code == 1
    wrong = findings["lake", "spark_catalog.nowhere"]
    assert wrong["found"] == "create failed (SCHEMA_NOT_FOUND)"
    assert "the right to create" in wrong["remedy"]
