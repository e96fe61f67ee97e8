"""The texts of a share: questions, references and answers of public rows."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.sharing.declared import TEXTS
from medhelm_spark.sharing.keys import ShareKeys, run_names

_INSTANCES = """
SELECT instance_id, data_version, input, references FROM ({instances}) d
WHERE perturbation = '' AND access_level = 'public' AND data_version IN ({versions})
"""
_REQUESTS = """
SELECT run_spec_id, instance_id, request_id FROM ({requests}) q
WHERE perturbation = '' AND access_level = 'public' AND run_spec_id IN ({units})
"""
_ANSWERS = """
SELECT request_id, completions FROM ({results}) r WHERE access_level = 'public'
"""


def public_texts(reader: Reader, runs: Sequence[BoardRun], keys: ShareKeys) -> pa.Table:
    """Questions, references and answers of public rows of public runs."""
    specs = {
        run.run_spec.run_spec_id: run.run_spec
        for run in runs
        if run.run_spec.access_level is AccessLevel.PUBLIC
    }
    schema = pa.schema(list(TEXTS.items()))
    if not specs:
        return schema.empty_table()
    versions = literals({spec.data_version for spec in specs.values()})
    instances = {
        (row["data_version"], row["instance_id"]): row
        for row in reader.query(
            _INSTANCES.format(
                instances=output_of("instances", INGEST, "data_version"), versions=versions
            )
        ).to_pylist()
    }
    requests = reader.query(
        _REQUESTS.format(requests=output_of("requests", PLAN), units=literals(specs))
    ).to_pylist()
    answers = {
        row["request_id"]: row["completions"]
        for row in reader.query(_ANSWERS.format(results=CURRENT_RESULTS)).to_pylist()
    }
    names = run_names(runs)
    rows = []
    for request in requests:
        spec = specs[request["run_spec_id"]]
        instance = instances.get((spec.data_version, request["instance_id"]))
        if instance is None:
            continue
        right = [each["text"] for each in instance["references"] if CORRECT_TAG in each["tags"]]
        rows.append(
            {
                "item": keys.id_of("item", spec.data_version, request["instance_id"]),
                "run": names[spec.run_spec_id],
                "model": spec.model_deployment,
                "scenario": spec.scenario_name,
                "input": instance["input"],
                "references": right,
                "answer": _answer(answers.get(request["request_id"])),
            }
        )
    rows.sort(key=lambda row: (row["item"], row["run"]))
    return pa.Table.from_pylist(rows, schema)


def _answer(completions: Sequence[Mapping[str, str]] | None) -> str:
    """The first completion without thinking."""
    if not completions:
        return ""
    completion = Completion(text=completions[0]["text"], finish_reason=FinishReason.UNKNOWN)
    return without_thinking(completion).text
