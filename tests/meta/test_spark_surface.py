"""Outside lake/session Spark is DataFrame and SQL only, so that Spark Connect can serve it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.meta.tree import ROOT, modules, shown, syntax

# The session, its Python workers, what distinguishes two objects of one session from two, and the
# driver's own files of a lake.
OF_THE_DRIVER = ("cancel", "cluster", "driver_files", "interrupts", "python_workers", "session")
OF_THE_DRIVER += ("settings",)
WITH_JVM = tuple(f"medhelm_spark/lake/{name}.py" for name in OF_THE_DRIVER)
OVERWRITING = tuple(
    f"medhelm_spark/lake/{name}.py"
    for name in ("folder_maintenance", "spark_maintenance", "staging")
)
PROBE = "medhelm_spark/lake/probe.py"
"""Tries a store on files of its own, which it has to remove."""
FORBIDDEN_ATTRIBUTES = frozenset(
    {
        "_jdf",
        "_jsc",
        "_jsparkSession",
        "_jvm",
        "_sc",
        "accumulator",
        "checkpoint",
        "foreachPartition",
        "localCheckpoint",
        "parallelize",
        "persist",
        "rdd",
        "sparkContext",
        "unpersist",
    }
)
FORBIDDEN_NAMES = frozenset({"SparkContext", "SparkConf"})
FOR_DASHBOARDS = (
    "medhelm_spark.domain",
    "medhelm_spark.errors",
    "medhelm_spark.lake.reader",
    "medhelm_spark.board",
    "medhelm_spark.features",
    "medhelm_spark.governance",
    "medhelm_spark.plugins",
    "medhelm_spark.render",
    "medhelm_spark.statistics",
    "medhelm_spark.tracking.tables",
)


def forbidden(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES | FORBIDDEN_NAMES:
            yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("delta."):
            yield f"line {node.lineno}: from {node.module}"
        elif isinstance(node, ast.alias) and node.name in FORBIDDEN_NAMES:
            yield f"line {node.lineno}: import {node.name}"
        elif isinstance(node, ast.Call) and is_builder(node):
            yield f"line {node.lineno}: a SparkSession is built"


def is_builder(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "getOrCreate"


def test_modules_use_only_dataframes_and_sql() -> None:
    offenders = [
        f"{shown(module)}, {use}"
        for module in modules()
        if shown(module) not in WITH_JVM
        for use in forbidden(syntax(module))
    ]
    assert not offenders


def test_the_rule_sees_what_it_forbids() -> None:
    lines = [
        "df.rdd.map(f)",
        "spark.sparkContext.setLogLevel('WARN')",
        "from delta.tables import DeltaTable",
        "SparkSession.builder.getOrCreate()",
        "df.persist()",
    ]
    assert not [line for line in lines if not list(forbidden(ast.parse(line)))]


def test_no_stage_writes_over_rows() -> None:
    """Working tables are append-only: no MERGE, UPDATE, DELETE or overwriting save anywhere.

    But for gc, a person's command. What is staged is no table: it is emptied where Spark Connect
    removes no folder.
    """
    writes = []
    for module in (module for module in modules() if shown(module) not in OVERWRITING):
        for node in ast.walk(syntax(module)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = " ".join(node.value.split()).upper()
                is_overwrite = text == "OVERWRITE" and shown(module) != PROBE
                if text.startswith(("MERGE INTO", "DELETE FROM", "UPDATE ")) or is_overwrite:
                    writes.append(f"{shown(module)}:{node.lineno}")
    assert not writes


def imported(script: Path) -> Iterator[str]:
    for node in ast.walk(syntax(script)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_the_dashboard_reads_through_the_reader() -> None:
    wrong = [
        f"{shown(script)}: {name}"
        for script in sorted((ROOT / "dashboards").rglob("*.py"))
        for name in imported(script)
        if name.split(".")[0] in ("pyspark", "delta")
        or (name.startswith("medhelm_spark") and not name.startswith(FOR_DASHBOARDS))
    ]
    assert not wrong


def test_a_board_with_all_its_features_is_read_without_spark_and_pandas() -> None:
    parts = ("cells", "of_pairs", "report", "of_answers", "source", "tables")
    code = (
        "import sys, medhelm_spark.board; from medhelm_spark import features; "
        f"[features.parts(name) for name in {parts}]; "
        "print(*sorted({'pyspark', 'pandas', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
