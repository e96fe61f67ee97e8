"""Exports of the form that `medhelm_results.export_script` writes, without a MedHELM."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.medhelm.export_file import read_export
from medhelm_spark.medhelm.imported import import_of, stored_card

ADAPTER: dict[str, Any] = {
    "method": "multiple_choice_joint",
    "global_prefix": "",
    "global_suffix": "",
    "instructions": "Pick a letter.",
    "input_prefix": "Q: ",
    "input_suffix": "\n",
    "reference_prefix": "A. ",
    "reference_prefix_characters": None,
    "reference_suffix": "\n",
    "chain_of_thought_prefix": "",
    "chain_of_thought_suffix": "\n",
    "output_prefix": "Letter: ",
    "output_suffix": "\n",
    "instance_prefix": "\n\n",
    "substitutions": [],
    "max_train_instances": 0,
    "max_eval_instances": None,
    "num_outputs": 5,
    "num_train_trials": 1,
    "num_trials": 1,
    "sample_train": True,
    "model_deployment": "",
    "model": "",
    "temperature": 0,
    "max_tokens": 1,
    "stop_sequences": ["\n"],
    "random": None,
    "multi_label": False,
    "image_generation_parameters": None,
    "reeval_parameters": None,
    "eval_splits": None,
    "output_mapping_pattern": None,
}
EXACT_MATCH = {
    "class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric",
    "args": {"names": ["exact_match", "quasi_exact_match"]},
}
COUNTS = {"class_name": "helm.benchmark.metrics.basic_metrics.InstancesPerSplitMetric", "args": {}}
JUDGED = {
    "class_name": "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric",
    "args": {"metric_name": "ward_accuracy", "scenario_name": "ward", "default_score": 1.0},
}
JURY = {
    "name": "ward",
    "prompt_template": "Theirs. {QUESTION} {RESPONSE} {GOLD_RESPONSE}",
    "annotation_criteria": {"accuracy": ["explanation", "score"]},
}


def instance(index: int, **fields: Any) -> dict[str, Any]:
    """An instance with two options, of which the first is right for even indexes."""
    options = ("fever", "cough")
    return {
        "kind": "instance",
        "id": f"id{index}",
        "split": "test",
        "sub_split": None,
        "input": f"Case {index}?",
        "messages": None,
        "references": [
            {"text": text, "tags": ["correct"] if at == index % 2 else []}
            for at, text in enumerate(options)
        ],
        "extra_data": {},
        **fields,
    }


def header(instances: Iterable[Mapping[str, Any]], /, **fields: Any) -> dict[str, Any]:
    """The first line; `adapter_spec` and other fields of the RunSpec replace the ones above."""
    rows = list(instances)
    adapter = {**ADAPTER, **fields.pop("adapter_spec", {})}
    names = ("metric_specs", "groups")
    overridden = {name: fields.pop(name) for name in names if name in fields}
    name = fields.pop("name", "ward")
    run_spec = {
        "name": fields.pop("run_name", name),
        "scenario_spec": {"class_name": "ward_package.WardScenario", "args": {}},
        "adapter_spec": adapter,
        "metric_specs": [EXACT_MATCH, COUNTS],
        "data_augmenter_spec": {"perturbation_specs": []},
        "groups": [name],
        "annotators": None,
        **overridden,
    }
    return {
        "kind": "header",
        "form": "medhelm-spark export",
        "form_version": 1,
        "package": "medhelm",
        "package_version": "0.8.0",
        "python": "3.11.9",
        "name": name,
        "args": {},
        "run_spec": run_spec,
        "metadata": {"main_metric": "exact_match", "main_split": "test", "display_name": "Ward"},
        "instances": len(rows),
        "splits": {"test": len(rows)},
        "left_out": 0,
        "without_reference": sum(not one["references"] for one in rows),
        **fields,
    }


def write_export(path: Path, instances: Iterable[Mapping[str, Any]], /, **fields: Any) -> Path:
    """A whole export; see `header` for the fields."""
    rows = list(instances)
    lines = [header(rows, **fields), *rows, {"kind": "end", "instances": len(rows)}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def stored_import(
    cards: Mapping[str, ScenarioCard], instances: Iterable[Mapping[str, Any]], /, **fields: Any
) -> ImportedScenario:
    """The row that a lake stores of an import; `cards` are those of ours."""
    export = read_export(json.dumps(header(instances, **fields)), "e.jsonl")
    imported = import_of(export, "e.jsonl", cards)
    return ImportedScenario(
        scenario_name=imported.card.name,
        name=imported.name,
        args=imported.args,
        data_version="v1",
        access_level=imported.card.access_level,
        card=stored_card(imported, "v1"),
        header=canonical_json(export),
        package=export.package,
        package_version=export.package_version,
        imported_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
