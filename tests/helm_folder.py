"""A folder of results as HELM writes it, of our own making."""

import json
from pathlib import Path
from typing import Any

NAME = "FEVER:model=acme_one"


def run_spec(name: str = NAME, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "scenario_spec": {"class_name": "helm.benchmark.scenarios.x.XScenario", "args": {}},
        "adapter_spec": {
            "method": "generation",
            "model": "acme/one",
            "model_deployment": "acme/one",
            "max_tokens": 5,
            "temperature": 0,
            "a_key_of_a_later_release": 1,
        },
        "metric_specs": [
            {"class_name": "h.BasicGenerationMetric", "args": {"names": ["exact_match"]}}
        ],
        "groups": ["FEVER"],
        "a_key_of_a_later_release": {},
        **changes,
    }


def stat(name: str, value: float, **fields: Any) -> dict[str, Any]:
    return {"name": {"name": name, "split": "test", **fields}, "count": 1, "sum": value}


def state(helm_id: str, text: str = "39 degrees", answer: str = "yes", **fields: Any) -> Any:
    return {
        "instance": {
            "input": {"text": text},
            "references": [{"output": {"text": "yes"}, "tags": ["correct"]}],
            "split": "test",
            "id": helm_id,
        },
        "train_trial_index": 0,
        "request": {"prompt": f"Case: {text}", "max_tokens": 5, "temperature": 0.0},
        "result": {
            "success": True,
            "completions": [{"text": answer, "logprob": 0, "tokens": []}],
            "request_datetime": 1_700_000_000,
        },
        **fields,
    }


def values(helm_id: str, **stats: float) -> dict[str, Any]:
    rows = [stat(name, value) for name, value in stats.items()]
    return {"instance_id": helm_id, "train_trial_index": 0, "stats": rows}


def write_run(
    output: Path, suite: str = "s", name: str = NAME, spec: Any = None, **files: Any
) -> Path:
    """The folder of a run: `states` are its requests, a text is written as it is."""
    folder = output / "runs" / suite / name
    folder.mkdir(parents=True)
    documents = {"run_spec": spec or run_spec(name), "stats": [stat("exact_match", 1.0)]}
    if "states" in files:
        documents["scenario_state"] = {"adapter_spec": {}, "request_states": files["states"]}
    documents |= {file: document for file, document in files.items() if file != "states"}
    for file, document in documents.items():
        text = document if isinstance(document, str) else json.dumps(document, indent=2)
        (folder / f"{file}.json").write_text(text)
    return folder
