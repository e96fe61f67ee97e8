"""No name or keyword of Spark's that a supported version or Databricks' client lacks."""

import ast
import json
from importlib.metadata import version

import pytest

from tests.meta.spark_api import LACKING, uses
from tests.meta.tree import ROOT, modules, shown, syntax

WRITTEN = json.loads(LACKING.read_text(encoding="utf-8"))
VERSIONS = tuple(WRITTEN["lacking"])


def own_functions() -> set[str]:
    return {
        node.name
        for path in modules()
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize("other", VERSIONS)
def test_nothing_is_used_that_a_version_lacks(other: str) -> None:
    absent = WRITTEN["lacking"][other]
    # A method of our own that is called alike is no use of Spark's.
    absent = absent | {"methods": sorted(set(absent["methods"]) - own_functions())}
    paths = (*modules(), *sorted((ROOT / "notebooks").glob("*.py")))
    assert not [f"{shown(path)}, {use}" for path in paths for use in uses(syntax(path), absent)]


def test_the_list_was_written_from_the_newest_pyspark() -> None:
    assert WRITTEN["pyspark"] == version("pyspark"), "write it anew: tests/meta/spark_api.py"


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("from pyspark.sql.types import BinaryType, DatetimeType", "import DatetimeType"),
        ("F.listagg_distinct('a'); F.try_to_date('a')", "line 1: .try_to_date()"),
        ("F.max_by('a', 'b', k=2)", "line 1: .max_by(k=...)"),
        ("df.zipWithIndex()", "line 1: .zipWithIndex()"),
    ],
)
def test_the_rule_sees_what_spark_4_0_lacks(line: str, finding: str) -> None:
    assert list(uses(ast.parse(line), WRITTEN["lacking"]["pyspark 4.0.2"])) == [finding]


def test_what_every_version_has_is_no_finding() -> None:
    tree = ast.parse("self.changes; df.mapInArrow(f, s, profile=p); F.col('a').alias('b')")
    assert not [use for absent in WRITTEN["lacking"].values() for use in uses(tree, absent)]
