"""A share as a folder of HELM's, made of the share's tables alone.

HELM's own `helm-summarize` reads it, and makes the board again from the means of `stats.json`.
Every document names the share, so that no file of two shares has one hash; HELM ignores the name.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.helm_export import stat_document, without_none
from medhelm_spark.domain.helm_results import (
    NUM_INSTANCES,
    PER_INSTANCE,
    RUN_SPEC,
    RUNS,
    SCENARIO,
    SCHEMA,
    STATES,
    STATS,
    SUFFIX,
)
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.sharing.keys import run_names

ADAPTER = (
    "method",
    "max_train_instances",
    "max_eval_instances",
    "num_outputs",
    "num_train_trials",
    "num_trials",
    "sample_train",
    "temperature",
    "max_tokens",
    "multi_label",
)
"""What a share says of an adapter: no instructions, no words around a question, no stops."""

_ADAPTER_KEYS = {f"adapter_spec.{name}" for name in (*ADAPTER, "model", "model_deployment")}
_STAT = {"name.name", "name.split"}
_STATE = {
    *(f"instance.{name}" for name in ("id", "split", "input.text")),
    *("instance.references.output.text", "instance.references.tags"),
    *(f"request.{name}" for name in ("model", "model_deployment", "prompt")),
    "result.completions.text",
}
_GROUP = ("name", "display_name", "description", "category", "subgroups", "metric_groups")
_OF_SCHEMA = {
    *(f"metrics.{name}" for name in ("name", "display_name")),
    *(f"metric_groups.{name}" for name in ("name", "display_name")),
    *(f"metric_groups.metrics.{name}" for name in ("name", "split")),
    *(f"run_groups.{name}" for name in _GROUP),
    *(f"run_groups.environment.{name}" for name in ("main_name", "main_split")),
}
HELM_KEYS: Mapping[str, frozenset[str]] = {
    RUN_SPEC: frozenset({"share", "name", "scenario_spec.class_name", "groups", *_ADAPTER_KEYS}),
    SCENARIO: frozenset({"share", "name", "description", "definition_path"}),
    STATS: frozenset({"share", *_STAT}),
    PER_INSTANCE: frozenset({"share", "instance_id", *(f"stats.{name}" for name in _STAT)}),
    STATES: frozenset({"share", *_ADAPTER_KEYS, *(f"request_states.{name}" for name in _STATE)}),
    SCHEMA: frozenset({"share", *_OF_SCHEMA}),
}
"""By file the keys that have strings, with the keys above them: the scan lets no other leave."""

ALL = "all_benchmarks"
MAIN = "main"


def write_helm_folder(
    folder: Path, runs: Sequence[BoardRun], tables: Mapping[str, pa.Table], share: str
) -> None:
    """Write `runs/SHARE/RUN` of each run with a number that is not hidden, and HELM's schema.

    Args:
        folder: the share's.
        runs: those of the release.
        tables: of the share: `results`, and `scores` and `texts` where the audience has them.
        share: the share's name, which is HELM's suite.
    """
    suite = folder / RUNS / share
    results = tables["results"].filter(pc.invert(tables["results"]["is_hidden"])).to_pylist()
    by_run: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in results:
        by_run[row["run"]].append(row)
    names = run_names(runs)
    specs = [run.run_spec for run in runs if by_run.get(names[run.run_spec.run_spec_id])]
    for spec in specs:
        name = names[spec.run_spec_id]
        rows = by_run[name]
        run_folder = suite / name
        run_folder.mkdir(parents=True)
        _write(run_folder / RUN_SPEC, {"share": share, **_run_spec(spec, name)})
        _write(run_folder / SCENARIO, {"share": share, **_scenario(rows[0])})
        _write(run_folder / STATS, [{"share": share, **stat} for stat in _stats(spec, rows)])
        if "scores" in tables:
            _write_list(
                run_folder / PER_INSTANCE, share, _values(spec, _of(tables["scores"], name))
            )
        if "texts" in tables and (texts := _of(tables["texts"], name)):
            states = list(_states(spec, texts))
            document = {"share": share, "adapter_spec": _adapter(spec), "request_states": states}
            _write(run_folder / STATES, document)
    suite.mkdir(parents=True, exist_ok=True)
    _write(suite / SCHEMA, {"share": share, **_schema(specs, results)})


def _of(table: pa.Table, run: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["run"], run)).to_pylist()
    return rows


def _run_spec(spec: RunSpec, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "scenario_spec": {"class_name": f"medhelm_spark.scenarios.{_stem(spec)}", "args": {}},
        "adapter_spec": _adapter(spec),
        "metric_specs": [],
        "groups": _groups(spec),
    }


def _stem(spec: RunSpec) -> str:
    return spec.scenario_name.partition(":")[0]


def _groups(spec: RunSpec) -> list[str]:
    return list(spec.groups or (_stem(spec),))


def _adapter(spec: RunSpec) -> dict[str, Any]:
    values = {name: getattr(spec.adapter_spec, name) for name in ADAPTER}
    return without_none({**values, "model": spec.model, "model_deployment": spec.model_deployment})


def _scenario(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": row["scenario"],
        "description": row["benchmark"],
        "tags": [],
        "definition_path": "",
    }


def _stats(spec: RunSpec, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The means as they are, and how many instances the main one rests on."""
    for row in rows:
        if row["mean"] is not None:
            yield stat_document(_plain(row["metric"]), row["split"], row["mean"])
        if row["is_main"] and not row["metric"].endswith(SUFFIX):
            size = (row["count"] + row["num_unscored"]) / spec.adapter_spec.requests_per_instance
            yield stat_document(NUM_INSTANCES, row["split"], size)


def _plain(metric: str) -> str:
    """The name that an imported stat had in HELM's files."""
    return metric.removesuffix(SUFFIX)


def _values(spec: RunSpec, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The scores of each item; an item that was asked several times has as many entries."""
    for item, own in groupby(rows, key=itemgetter("item")):
        entries: list[list[dict[str, Any]]] = []
        for metric, of_metric in groupby(own, key=itemgetter("metric")):
            for index, row in enumerate(of_metric):
                entries += [[]] if index == len(entries) else []
                stat = stat_document(_plain(metric), spec.main_split, row["value"])
                entries[index].append(stat)
        for stats in entries:
            yield {"instance_id": item, "train_trial_index": 0, "stats": stats}


def _states(spec: RunSpec, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Questions and answers of public rows; the prompt around a question is in no share."""
    model = {"model_deployment": spec.model_deployment, "model": spec.model}
    for row in rows:
        right = [
            {"output": {"text": text}, "tags": [CORRECT_TAG]} for text in row["references"] or ()
        ]
        yield {
            "instance": {
                "input": {"text": row["input"]},
                "references": right,
                "split": spec.main_split,
                "id": row["item"],
            },
            "train_trial_index": 0,
            "request": {**model, "embedding": False, "prompt": ""},
            "result": {
                "success": True,
                "embedding": [],
                "completions": [{"text": row["answer"], "logprob": 0.0, "tokens": []}],
                "cached": False,
            },
            "num_train_instances": 0,
            "prompt_truncated": False,
        }


def _schema(specs: Sequence[RunSpec], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A schema of HELM's: each group of runs by its main metric, and how metrics are better."""
    directions = {_plain(row["metric"]): row["lower_is_better"] for row in rows}
    benchmarks = {row["scenario"]: row["benchmark"] for row in rows}
    groups: dict[str, dict[str, Any]] = {}
    for spec in specs:
        for group in _groups(spec):
            main = {"main_name": _plain(spec.main_metric), "main_split": spec.main_split}
            about = {
                "name": group,
                "display_name": benchmarks.get(spec.scenario_name, group),
                "description": "",
                "metric_groups": [MAIN],
                "environment": main,
            }
            groups.setdefault(group, about)
    everything = {
        "name": ALL,
        "display_name": "All benchmarks",
        "description": "",
        "category": "All",
        "subgroups": list(groups),
    }
    return {
        "metrics": [
            {"name": name, "display_name": name, "lower_is_better": lower}
            for name, lower in sorted(directions.items())
        ],
        "perturbations": [],
        "metric_groups": [
            {
                "name": MAIN,
                "display_name": "Main metric",
                "metrics": [{"name": "${main_name}", "split": "${main_split}"}],
            }
        ],
        "run_groups": [everything, *groups.values()],
    }


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _write_list(path: Path, share: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """A list of JSON, a row on each line."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write("[")
        for index, row in enumerate(rows):
            stream.write(("," if index else "") + "\n" + json.dumps({"share": share, **row}))
        stream.write("\n]\n")
