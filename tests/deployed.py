"""The files of deploy/, read as the tools that take them would."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.installed import ROOT

DEPLOY = ROOT / "deploy"
BUNDLE = DEPLOY / "databricks"
REFERENCE = re.compile(r"\$\{([\w.]+)\}|\{\{([\w.]+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelTask:
    """A task that calls the wheel, with its parameters as they are written."""

    key: str
    cluster: str
    package: str
    entry_point: str
    parameters: tuple[str, ...]


def bundle() -> dict[str, Any]:
    """databricks.yml as the target `dev` sees it."""
    read: dict[str, Any] = yaml.safe_load((BUNDLE / "databricks.yml").read_text())
    return read


def resources() -> dict[str, dict[str, Any]]:
    """All resources that databricks.yml includes, by kind and name."""
    merged: dict[str, dict[str, Any]] = {}
    for pattern in bundle()["include"]:
        for path in sorted(BUNDLE.glob(pattern)):
            for kind, named in yaml.safe_load(path.read_text())["resources"].items():
                merged.setdefault(kind, {}).update(named)
    return merged


def in_order(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks so that each comes after those that it depends on; ValueError where none can be."""
    done: list[dict[str, Any]] = []
    while len(done) < len(tasks):
        keys = {task["task_key"] for task in done}
        ready = [
            task
            for task in tasks
            if task["task_key"] not in keys
            and keys.issuperset(each["task_key"] for each in task.get("depends_on", ()))
        ]
        if not ready:
            raise ValueError(f"no task can follow {sorted(keys)}")
        done.append(ready[0])
    return done


def wheel_tasks(
    tasks: list[dict[str, Any]], values: Mapping[str, str]
) -> Iterator[tuple[WheelTask, dict[str, str]]]:
    """The calls of a job in their order, each with what `{{input}}` is in it."""
    for task in in_order(tasks):
        each = task.get("for_each_task")
        inputs = json.loads(filled(each["inputs"], values)) if each else [None]
        inner = each["task"] if each else task
        wheel = inner["python_wheel_task"]
        call = WheelTask(
            key=task["task_key"],
            cluster=inner["job_cluster_key"],
            package=wheel["package_name"],
            entry_point=wheel["entry_point"],
            parameters=tuple(wheel["parameters"]),
        )
        for item in inputs:
            yield call, {"input": item} if each else {}


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its `${...}` and `{{...}}` resolved, also those in their values.

    Raises:
        KeyError: one that nothing declares.
    """
    while match := REFERENCE.search(text):
        text = text[: match.start()] + values[match[1] or match[2]] + text[match.end() :]
    return text


def values_of(job: dict[str, Any], **overrides: str) -> dict[str, str]:
    """The values of a job's references: defaults of variables and parameters, then ours."""
    read = bundle()
    variables = {name: str(each["default"]) for name, each in read["variables"].items()}
    variables |= {name: str(value) for name, value in read["targets"]["dev"]["variables"].items()}
    parameters = {each["name"]: str(each["default"]) for each in job["parameters"]}
    values = {f"var.{name}": value for name, value in variables.items()}
    values |= {f"job.parameters.{name}": value for name, value in parameters.items()}
    return values | {f"job.parameters.{name}": value for name, value in overrides.items()}


def copied(dockerfile: str) -> Iterator[str]:
    """What a Dockerfile copies from the build's folder."""
    for line in dockerfile.replace("\\\n", " ").splitlines():
        words = line.split()
        if words[:1] == ["COPY"] and not words[1].startswith("--from"):
            yield from words[1:-1]


def spark_defaults(path: Path) -> dict[str, str]:
    """Keys and values of a properties file of Spark's."""
    lines = (line.split(maxsplit=1) for line in path.read_text().splitlines())
    return {parts[0]: parts[1] for parts in lines if parts and not parts[0].startswith("#")}
