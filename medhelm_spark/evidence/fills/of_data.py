"""The data and the prompts: where rows come from, what became of each, what was asked and how."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import cast

from medhelm_spark.board import BoardRun
from medhelm_spark.board.cells import configuration_of
from medhelm_spark.board.render.benchmark_facts import benchmark_facts
from medhelm_spark.domain.comparability import EXTRACTION, PROMPT
from medhelm_spark.domain.declared import CONTAMINATION, DATA_HOLDER, LICENCE
from medhelm_spark.domain.run import STRICT
from medhelm_spark.domain.sampling import EVERY_INSTANCE
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.domain.stats import UNREADABLE_STAT
from medhelm_spark.evidence.fills.listed import listed, text_of
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.views import CURRENT_RESULTS, current_runs, output_of
from medhelm_spark.render.report import Report
from medhelm_spark.render.table import TextTable
from medhelm_spark.stages.ingest.ingested import (
    IDENTICAL,
    LEFT,
    NOT_DRAWN,
    READ,
    UNTIMED,
)
from medhelm_spark.statistics.board import BoardColumn

_INGESTED = """
SELECT unit_id, counts FROM ({runs}) r WHERE stage = '{stage}'
"""
_ASKED = """
SELECT run_spec_id, instance_id, request_id FROM ({requests}) q
WHERE perturbation = '' AND purpose = 'evaluate' AND run_spec_id IN ({units})
"""
_ANSWERED = """
SELECT q.run_spec_id, CAST(count(DISTINCT q.instance_id) AS BIGINT) AS instances,
       CAST(count(*) AS BIGINT) AS asked,
       CAST(sum(CASE WHEN r.request_id IS NOT NULL AND r.failure IS NULL THEN 1 ELSE 0 END)
            AS BIGINT) AS answered,
       CAST(sum(CASE WHEN r.failure IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS failed,
       CAST(sum(CASE WHEN r.request_id IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS without_result
FROM ({asked}) q LEFT JOIN ({results}) r ON r.request_id = q.request_id
GROUP BY q.run_spec_id
"""
_PROMPTS = """
SELECT DISTINCT run_spec_id, prompt_id FROM ({requests}) q
WHERE perturbation = '' AND purpose = 'evaluate' AND run_spec_id IN ({units})
"""
_WORDING = ("prefix", "suffix", "instructions", "substitutions", "characters", "pattern")
"""The endings of names of settings that have the wording of a prompt."""
DATA, RUN = "data", "run"
"""The two kinds of records of a flow: a data version, and a run on it."""


def benchmarks(material: ReleaseMaterial) -> Report:
    """Each benchmark: task, access level, prompt form, metric, size, licence, limits."""
    records = [
        {
            "benchmark": column.display_name,
            "main_metric": column.main_metric,
            "facts": _facts_of(material, column),
        }
        for column in _columns(material)
    ]
    return Report(
        tables=[
            TextTable(
                title=f"{each['benchmark']}: {each['main_metric']}",
                header=("", ""),
                rows=list(cast("dict[str, str]", each["facts"]).items()),
            )
            for each in records
        ],
        content={"benchmarks": records},
        fields=("benchmark", "main_metric", "facts"),
        records=records,
        if_empty="" if records else "No run has a summary.",
    )


def _columns(material: ReleaseMaterial) -> list[BoardColumn]:
    return [
        column
        for index, column in enumerate(material.board.columns)
        if any(row.cells[index] for row in material.board.rows)
    ]


def _facts_of(material: ReleaseMaterial, column: BoardColumn) -> dict[str, str]:
    index = material.board.columns.index(column)
    cells = [cell for row in material.board.rows if (cell := row.cells[index])]
    units = {unit for cell in cells for unit in cell.run_spec_ids}
    return dict(
        benchmark_facts(
            column,
            cells,
            [run.run_spec for run in material.runs if run.run_spec.run_spec_id in units],
            material.cards.get(column.scenario_name),
            [
                benchmark
                for benchmark in material.metrics.benchmarks
                if any(run.run.run_spec.run_spec_id in units for run in benchmark.runs)
            ],
        )
    )


def data(material: ReleaseMaterial) -> Report:
    """Each data version: source, hashes, access level, licence, holder of the data."""
    declared = {
        run.run_spec.data_version: run.planned.declared or {} for run in reversed(material.runs)
    }
    records = [
        {
            "scenario_name": row.scenario_name,
            "display_name": row.display_name,
            "data_version": row.data_version,
            "access_level": row.access_level.value,
            "source": _read(material, row).source,
            "source_hash": _read(material, row).source_hash,
            "read_as": _read(material, row).data_version,
            "card_hash": row.card_hash,
            "num_instances": row.num_instances,
            "cluster_column": row.cluster_column,
            "verified": row.verified.value,
            **{
                name: declared.get(row.data_version, {}).get(name)
                for name in (DATA_HOLDER, LICENCE, CONTAMINATION)
            },
        }
        for row in _versions(material)
    ]
    return listed(
        records,
        {
            "display_name": "Benchmark",
            "source": "Source",
            "access_level": "Access level",
            "data_version": "Data version",
            "source_hash": "Hash of the source",
            "num_instances": "Instances",
            DATA_HOLDER: "Held by",
            LICENCE: "Licence",
            CONTAMINATION: "In training data",
        },
        notes=["A data version is a hash of all rows; a changed row makes another one."],
    )


def _versions(material: ReleaseMaterial) -> list[ScenarioVersion]:
    used = {run.run_spec.data_version for run in material.runs}
    rows = [row for version, row in material.versions.items() if version in used]
    return sorted(rows, key=lambda row: (row.scenario_name, row.data_version))


def _read(material: ReleaseMaterial, row: ScenarioVersion) -> ScenarioVersion:
    """The version that was read from the source, where another one was made from it.

    Copies and lowered levels make further versions, whose `source` names the one before.
    """
    base = material.versions.get(row.source.partition(" ")[2])
    return _read(material, base) if base and base is not row else row


def flow(material: ReleaseMaterial) -> Report:
    """What became of every row of the sources, and of every answer that was asked for."""
    of_data, of_runs = _data_records(material), _run_records(material)
    notes = [
        "Read: records of the source. Left out: by the card's rules. Instances: what can be asked; "
        "a run asks all of them or a sample.",
        "Failed: requests without an answer. Unread: answers in which no single answer could be "
        "read. Without a score: failed answers and those that the metric gives no value; scored "
        "and without a score make up what was asked, where the main metric is one of answers.",
    ]
    return Report(
        tables=[
            TextTable(
                title="Rows of the sources",
                header=list(_OF_DATA.values()),
                rows=[[text_of(row[name]) for name in _OF_DATA] for row in of_data],
            ),
            TextTable(
                title="Answers",
                header=list(_OF_RUN.values()),
                rows=[[text_of(row[name]) for name in _OF_RUN] for row in of_runs],
                notes=notes,
            ),
        ],
        content={"data": of_data, "runs": of_runs, "notes": notes},
        fields=list(dict.fromkeys(["record", *_OF_DATA, "data_version", *_OF_RUN, "run_name"])),
        records=[
            *({"record": DATA, **row} for row in of_data),
            *({"record": RUN, **row} for row in of_runs),
        ],
    )


_OF_DATA = {
    "scenario_name": "Scenario",
    "display_name": "Benchmark",
    "read": "Read",
    "left_out": "Left out",
    "not_drawn": "Not drawn",
    "quarantined": "Quarantined",
    "identical_merged": "Identical, merged",
    "untimed_events": "Events without a time",
    "instances": "Instances",
}
_OF_RUN = {
    "scenario_name": "Scenario",
    "model_deployment": "Model",
    "instances_asked": "Instances asked",
    "asked": "Answers asked for",
    "answered": "Answered",
    "failed": "Failed",
    "without_result": "Not asked yet",
    "unread": "Unread",
    "scored": "Scored",
    "unscored": "Without a score",
}


def _data_records(material: ReleaseMaterial) -> list[dict[str, object]]:
    versions = {row.data_version: _read(material, row) for row in _versions(material)}
    where = among("unit_id", [row.data_version for row in versions.values()])
    sql = _INGESTED.format(runs=current_runs(where), stage=INGEST.name)
    # A release pins the data of its runs; data that theirs was made from is in the lake alone.
    readers = (material.lake, material.frozen) if versions else ()
    rows = (row for reader in readers for row in reader.query(sql).to_pylist())
    counts = {row["unit_id"]: dict(row["counts"] or {}) for row in rows}
    return [
        {
            "scenario_name": read.scenario_name,
            "display_name": read.display_name,
            "data_version": version,
            **_counted(counts.get(read.data_version, {})),
            "quarantined": read.num_quarantined,
            "instances": read.num_instances,
        }
        for version, read in versions.items()
    ]


def _counted(counts: Mapping[str, int]) -> dict[str, int | None]:
    """What the record of ingest counts; None where it has no counts."""
    names = {"read": READ, "left_out": LEFT, "not_drawn": NOT_DRAWN, "identical_merged": IDENTICAL}
    names |= {"untimed_events": UNTIMED}
    if READ not in counts:
        return dict.fromkeys(names)
    return {name: counts.get(key, 0) for name, key in names.items()}


def _run_records(material: ReleaseMaterial) -> list[dict[str, object]]:
    requests = _ASKED.format(requests=output_of("requests", PLAN), units=literals(material.units))
    sql = _ANSWERED.format(asked=requests, results=CURRENT_RESULTS)
    rows = material.frozen.query(sql).to_pylist() if material.runs else []
    by_run = {row["run_spec_id"]: row for row in rows}
    records = []
    for run in material.runs:
        counts = by_run.get(run.run_spec.run_spec_id, {})
        main = run.originals.get(run.run_spec.main_metric)
        records.append(
            {
                "scenario_name": run.run_spec.scenario_name,
                "model_deployment": run.run_spec.model_deployment,
                "run_name": run.run_spec.name,
                "data_version": run.run_spec.data_version,
                "instances_asked": counts.get("instances"),
                **{n: counts.get(n) for n in ("asked", "answered", "failed", "without_result")},
                "unread": _num_unread(run),
                "scored": main.count if main else None,
                "unscored": main.num_unscored if main else None,
            }
        )
    return records


def _num_unread(run: BoardRun) -> int | None:
    """How many answers could not be read; None where answers are taken as they are."""
    stat = run.originals.get(UNREADABLE_STAT)
    return None if stat is None or stat.mean is None else round(stat.mean * stat.count)


def prompts(material: ReleaseMaterial) -> Report:
    """How many prompts each run has, with one hash of them all; no prompt is shown."""
    sql = _PROMPTS.format(requests=output_of("requests", PLAN), units=literals(material.units))
    by_run: dict[str, list[str]] = {}
    for row in material.frozen.query(sql).to_pylist() if material.runs else []:
        by_run.setdefault(row["run_spec_id"], []).append(row["prompt_id"])
    return listed(
        [
            {
                "scenario_name": run.run_spec.scenario_name,
                "model_deployment": run.run_spec.model_deployment,
                "run_name": run.run_spec.name,
                "num_prompts": len(by_run.get(run.run_spec.run_spec_id, ())),
                "prompts_sha256": _digest(by_run.get(run.run_spec.run_spec_id, ())),
                "prompt_settings": _part(run, PROMPT),
            }
            for run in material.runs
        ],
        {
            "scenario_name": "Scenario",
            "model_deployment": "Model",
            "num_prompts": "Prompts",
            "prompts_sha256": "SHA-256 of all prompt ids",
            "prompt_settings": "Prompt and decoding",
        },
        notes=[
            "A prompt's id is a hash of its text. Equal hashes in the last column: the same "
            "wording and decoding."
        ],
    )


def _digest(ids: Sequence[str]) -> str | None:
    """One hash of prompt ids; None where there are none."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest() if ids else None


def _part(run: BoardRun, name: str) -> str | None:
    """A part of the settings behind a mean; None where it is not on record."""
    return ((run.cell.comparability if run.cell else None) or {}).get(name)


def settings(material: ReleaseMaterial) -> Report:
    """How instances were drawn and asked: sampling, adapter, decoding, repeats, copies."""
    return listed(
        [
            {
                "scenario_name": run.run_spec.scenario_name,
                "model_deployment": run.run_spec.model_deployment,
                "run_name": run.run_spec.name,
                "method": run.run_spec.adapter_spec.method.value,
                "temperature": run.run_spec.adapter_spec.temperature,
                "max_tokens": run.run_spec.adapter_spec.max_tokens,
                "examples": run.run_spec.adapter_spec.max_train_instances,
                "answers_per_instance": run.run_spec.adapter_spec.requests_per_instance,
                "max_instances": run.run_spec.adapter_spec.max_eval_instances,
                "split": run.run_spec.main_split,
                "order": (run.run_spec.sampling or EVERY_INSTANCE).order.value,
                "seed": (run.run_spec.sampling or EVERY_INSTANCE).seed,
                "settings": {
                    name: value
                    for name, value in configuration_of(run.run_spec).items()
                    if not name.endswith(_WORDING)
                },
            }
            for run in material.runs
        ],
        {
            "scenario_name": "Scenario",
            "model_deployment": "Model",
            "method": "Form",
            "temperature": "Temperature",
            "max_tokens": "Most tokens",
            "examples": "Examples",
            "answers_per_instance": "Answers per instance",
            "max_instances": "Most instances",
            "order": "Order",
            "seed": "Seed",
            "split": "Split",
        },
        notes=[
            "Most instances: -, all of the split; else the first by Order, which Seed draws. "
            "evidence.json has further settings, but no wording of a prompt."
        ],
    )


def reading(material: ReleaseMaterial) -> Report:
    """How answers were read before they were scored, by which version, and how many could not."""
    return listed(
        [
            {
                "scenario_name": run.run_spec.scenario_name,
                "model_deployment": run.run_spec.model_deployment,
                "run_name": run.run_spec.name,
                "method": run.run_spec.reading,
                "is_default": bool(run.planned.is_reading_default),
                "version": _part(run, EXTRACTION),
                "unreadable_counts_as": (run.run_spec.answer_extraction or STRICT).unreadable.value,
                "unread": _num_unread(run),
                "unread_share": run.cell.unreadable if run.cell else None,
            }
            for run in material.runs
        ],
        {
            "scenario_name": "Scenario",
            "model_deployment": "Model",
            "method": "Read by",
            "is_default": "By default",
            "version": "Method and version",
            "unreadable_counts_as": "Unread counts as",
            "unread": "Unread",
            "unread_share": "Share",
        },
        notes=[
            "Version: -, the lake is older than the record. docs/answer-extraction.md explains."
        ],
    )
