"""Workflows call make targets that exist, pin actions, and check what `.ci/run` checks."""

import re
from typing import Any

import pytest
import yaml

from tests.meta.tree import ROOT

FOLDER = ROOT / ".github" / "workflows"
NAMES = ("test", "nightly", "newest", "release")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
MATRIX = "${{ matrix.target }}"


def workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def targets(name: str) -> set[str]:
    """What the workflow makes, those of its matrix too."""
    lines = [step["run"] for step in steps(name) if step.get("run", "").startswith("make ")]
    words = {word for line in lines for word in line.replace(MATRIX, "").split()[1:]}
    for job in workflow(name)["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        rows = [*matrix.get("target", []), *(row["target"] for row in matrix.get("include", []))]
        words |= {word for row in rows for word in row.split()}
    return words


def test_all_workflows_are_checked() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_that_a_workflow_makes_is_there(name: str) -> None:
    assert targets(name)
    assert not targets(name) - TARGETS


def test_the_workflow_of_tests_makes_what_a_merge_must_pass_and_more() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert targets("test") > set(re.findall(r"^make ([\w-]+)$", run, re.MULTILINE))


def test_the_nightly_matrix_has_every_supported_spark_and_python() -> None:
    rows = workflow("nightly")["jobs"]["matrix"]["strategy"]["matrix"]["include"]
    assert {row["spark"] for row in rows} == {"4.0", "4.1", "4.2"}
    assert {row["python"] for row in rows} == {"3.11", "3.12", "3.13"}


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned_by_a_full_version(name: str) -> None:
    used = [step["uses"] for step in steps(name) if "uses" in step]
    assert not [action for action in used if not re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", action)]


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_reads_and_no_more(name: str) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}
    granted = {
        job: body["permissions"]
        for job, body in workflow(name)["jobs"].items()
        if "permissions" in body
    }
    assert granted == ({"publish": {"id-token": "write"}} if name == "release" else {})
