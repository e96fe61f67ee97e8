"""MedHELM's run entries and RunSpecs as JSON; imported by MedHELM's process alone."""

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import helm.benchmark.presentation
import helm.config
from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
from helm.benchmark.presentation.run_entry import RunEntry, read_run_entries
from helm.benchmark.run import run_entries_to_run_specs
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.scenarios.scenario import ScenarioSpec, create_scenario

_CONF = Path(helm.benchmark.presentation.__file__).parent
_METADATA = Path(helm.config.__file__).parent / "model_metadata.yaml"
_TOUCHES = ("open", "os.listdir", "os.scandir", "glob.glob")


def conf_files() -> dict[str, str]:
    """The text of every file of run entries that ships with MedHELM, by name."""
    return {path.name: path.read_text("utf-8") for path in sorted(_CONF.glob("run_entries_*.conf"))}


def model_metadata() -> str:
    """MedHELM's own model_metadata.yaml."""
    return _METADATA.read_text("utf-8")


def _plain(spec: RunSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "scenario": asdict(spec.scenario_spec),
        "adapter_spec": asdict(spec.adapter_spec),
        "metrics": [asdict(metric) for metric in spec.metric_specs],
        "annotators": [asdict(annotator) for annotator in spec.annotators or ()],
        "groups": spec.groups,
    }


def entries(path: str) -> list[str]:
    """The entries of a file, as MedHELM reads it."""
    return [entry.description for entry in read_run_entries([path]).entries]


def run_specs(descriptions: list[str]) -> list[dict[str, Any]]:
    """The RunSpec of each entry; every entry has one."""
    register_builtin_configs_from_helm_package()
    specs = []
    for description in descriptions:
        (spec,) = run_entries_to_run_specs([RunEntry(description=description)])
        specs.append(_plain(spec))
    return specs


def touched(scenarios: list[dict[str, Any]], folder: str) -> list[list[str]]:
    """The paths below a folder that each scenario looks at before it stops, if it stops."""
    paths: list[str] = []

    def note(path: object) -> None:
        if str(path).startswith(folder):
            paths.append(str(path))

    def exists(path: str, path_exists: Callable[[str], bool] = os.path.exists) -> bool:
        note(path)
        return path_exists(path)

    def touched_paths(spec: dict[str, Any]) -> list[str]:
        paths.clear()
        with suppress(Exception), tempfile.TemporaryDirectory() as output:  # the files are empty
            create_scenario(ScenarioSpec(**spec)).get_instances(output)
        return [*dict.fromkeys(paths)]

    sys.addaudithook(lambda event, args: note(args[0]) if event in _TOUCHES and args else None)
    os.path.exists = exists
    return [touched_paths(spec) for spec in scenarios]


QUESTIONS: Mapping[str, Callable[..., Any]] = {
    "conf_files": conf_files,
    "model_metadata": model_metadata,
    "entries": entries,
    "run_specs": run_specs,
    "touched": touched,
}
