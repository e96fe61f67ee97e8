"""A script for MedHELM's own Python: writes one of its scenarios to a file of JSON lines.

`PYTHON medhelm_export.py NAME [--args KEY=VALUE ...] --output FILE`. It imports nothing of this
project, so that it runs in an environment that has `medhelm` alone, on this machine or another. The
first line of the file is what was read (MedHELM's RunSpec with all its texts), then there is a
line per instance in MedHELM's order, and the last line says that the file is whole. What cannot be
exported is one line with the reason. Of errors only type and place are written: a message may quote
the data.
"""

import argparse
import dataclasses
import importlib
import inspect
import json
import platform
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

FORM, FORM_VERSION = "medhelm-spark export", 1
PACKAGE, VERSION = "medhelm", "0.8.0"
TRAIN, EVALUATED = "train", ("valid", "test")
REFUSED = 3


class Refused(Exception):
    """What cannot be exported, as a reason and what a sentence about it needs."""

    def __init__(self, reason: str, **detail: Any) -> None:
        super().__init__(reason)
        self.line = {"kind": "refused", "reason": reason, **detail}


def main(argv: Sequence[str] | None = None) -> int:
    """Write the export, or the reason why there is none."""
    options = _options(argv)
    with Path(options.output).open("w", encoding="utf-8") as out:
        try:
            for line in export(options):
                out.write(json.dumps(line, default=_plain) + "\n")
        except Refused as refused:
            out.seek(0)
            out.truncate()
            out.write(json.dumps(refused.line, default=_plain) + "\n")
            return REFUSED
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Export a scenario of an installed medhelm.")
    add = parser.add_argument
    add("name", help="the name of a run entry, such as pubmed_qa")
    add("--args", nargs="*", default=[], metavar="KEY=VALUE", help="arguments of the run entry")
    add("--output", required=True, metavar="FILE", help="the file to write")
    add("--methods", nargs="*", default=[], help="the adapter methods to export (all)")
    add(
        "--medhelm-output",
        default="benchmark_output",
        metavar="FOLDER",
        help="MedHELM's output folder, where it keeps its downloads (%(default)s)",
    )
    return parser.parse_args(argv)


def export(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The lines of the file."""
    _check_package()
    args = dict(pair.split("=", 1) for pair in options.args)
    with _step("the run spec"):
        run_spec = _run_spec(options.name, args, options.medhelm_output)
    method = run_spec.adapter_spec.method
    if options.methods and method not in options.methods:
        raise Refused("method", method=method)
    if run_spec.data_augmenter_spec.perturbation_specs:
        raise Refused("perturbations")
    with _step("the jury"):
        juries = list(_juries(run_spec))
    with _step("the instances"):
        scenario, instances = _instances(run_spec, options.medhelm_output)
    used = [instance for instance in instances if instance.split in (TRAIN, *EVALUATED)]
    for instance in used:
        _check_text(instance)
    yield {
        "kind": "header",
        "form": FORM,
        "form_version": FORM_VERSION,
        "package": PACKAGE,
        "package_version": VERSION,
        "python": platform.python_version(),
        "name": options.name,
        "args": {key: str(value) for key, value in args.items()},
        "run_spec": dataclasses.asdict(run_spec),
        "juries": juries,
        "metadata": _metadata(scenario),
        "instances": len(used),
        "splits": dict(Counter(instance.split for instance in used)),
        "left_out": len(instances) - len(used),
        "without_reference": sum(
            instance.split in EVALUATED
            and not any("correct" in ref.tags for ref in instance.references)
            for instance in used
        ),
    }
    yield from _lines(instances)
    yield {"kind": "end", "instances": len(used)}


def _check_package() -> None:
    try:
        installed = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        raise Refused("not_installed") from None
    if installed != VERSION:
        raise Refused("version", found=installed)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Turns whatever MedHELM raises into a reason without its words, paths and modules aside."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        is_harmless = isinstance(error, (FileNotFoundError, ModuleNotFoundError))
        raise Refused(
            "failed",
            step=name,
            error=type(error).__name__,
            place=f"{Path(frame.filename).name}:{frame.lineno}",
            message=str(error) if is_harmless else "",
        ) from None


def _run_spec(name: str, args: Mapping[str, str], output: str) -> Any:
    """MedHELM's RunSpec of an entry without a model."""
    specs = importlib.import_module("helm.benchmark.run_spec")
    for plugin in metadata.entry_points(group="helm"):
        plugin.load()
    function = specs.get_run_spec_function(name)
    if function is None:
        raise Refused("unknown", known=sorted(specs._REGISTERED_RUN_SPEC_FUNCTIONS))
    allowed = inspect.signature(function)
    values = {key: _value(value) for key, value in args.items()}
    try:
        allowed.bind(**values)
    except TypeError as error:
        raise Refused("arguments", message=str(error), known=list(allowed.parameters)) from None
    # Some run specs and scenarios ask where MedHELM keeps its files.
    importlib.import_module("helm.benchmark.runner").set_benchmark_output_path(output)
    return function(**values)


def _juries(run_spec: Any) -> Iterator[dict[str, Any]]:
    """The prompts of the annotators that are MedHELM's generic jury, `$` written once."""
    by_name = importlib.import_module("helm.common.object_spec").get_class_by_name
    generic = importlib.import_module("helm.benchmark.annotation.model_as_judge").LLMAsJuryAnnotator
    for spec in run_spec.annotators or ():
        kind = by_name(spec.class_name)
        if issubclass(kind, generic) and kind.annotate is generic.annotate:
            jury = kind(auto_client=None, **spec.args)
            yield {
                "name": jury.name,
                "prompt_template": jury._prompt_template.replace("$$", "$"),
                "annotation_criteria": {
                    key: sorted(keys) for key, keys in jury._annotation_criteria.items()
                },
            }


def _value(text: str) -> str | int | float:
    """A value as HELM reads the values of a run entry."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _instances(run_spec: Any, output: str) -> tuple[Any, list[Any]]:
    module = importlib.import_module("helm.benchmark.scenarios.scenario")
    scenario = module.create_scenario(run_spec.scenario_spec)
    folder = module.get_scenario_cache_path(output, scenario.name)
    instances = scenario.get_instances(folder)
    if not instances:
        raise Refused("empty")
    return scenario, instances


def _check_text(instance: Any) -> None:
    outputs = [reference.output for reference in instance.references]
    if any(part.multimedia_content is not None for part in (instance.input, *outputs)):
        raise Refused("multimedia")


def _metadata(scenario: Any) -> dict[str, Any] | None:
    """MedHELM's metadata of the scenario; None where it has none."""
    try:
        return dataclasses.asdict(scenario.get_metadata())
    except Exception:  # not every scenario has any, and none is needed
        return None


def _lines(instances: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The instances of the known splits; as in MedHELM all get new ids where one has none."""
    has_ids = all(instance.id is not None for instance in instances)
    seen: Counter[str] = Counter()
    for index, instance in enumerate(instances):
        source_id = str(instance.id) if has_ids else f"id{index}"
        seen[source_id] += 1
        if instance.split not in (TRAIN, *EVALUATED):
            continue
        again = f"#{seen[source_id]}" if seen[source_id] > 1 else ""
        yield {
            "kind": "instance",
            "id": source_id + again,
            "split": instance.split,
            "sub_split": instance.sub_split,
            "input": str(instance.input.text),
            "messages": instance.input.messages,
            "references": [
                {"text": str(reference.output.text), "tags": list(reference.tags)}
                for reference in instance.references
            ],
            "extra_data": {
                key: value if isinstance(value, str) else json.dumps(value, default=_plain)
                for key, value in (instance.extra_data or {}).items()
                if value is not None
            },
        }


def _plain(value: Any) -> Any:
    """What JSON has no type for: sets, dataclasses and NumPy's numbers."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    # The files beside this one are not for MedHELM, which may import a package of the same name.
    here = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != here]
    sys.exit(main())
