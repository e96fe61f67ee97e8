"""What a share has of a release: named columns of aggregates, scores and public texts.

Nothing is edited in place: every value below is computed for the share. A column that is not named
here is in no share.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from medhelm_spark.board import BoardRun, stat_rows
from medhelm_spark.board.scores import scores_of, value_of
from medhelm_spark.board.stat_rows import direction_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.metrics import stats_of
from medhelm_spark.sharing.keys import ShareKeys

RESULTS = {
    "share": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "benchmark": pa.string(),
    "part": pa.string(),
    "access_level": pa.string(),
    "metric": pa.string(),
    "is_main": pa.bool_(),
    "lower_is_better": pa.bool_(),
    "split": pa.string(),
    "mean": pa.float64(),
    "ci_low": pa.float64(),
    "ci_high": pa.float64(),
    "ci_method": pa.string(),
    "count": pa.int64(),
    "num_unscored": pa.int64(),
    "is_hidden": pa.bool_(),
}
"""The aggregates: numbers of a hidden row are null, for they rest on too few cases."""
SCORES = {
    "item": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "metric": pa.string(),
    "value": pa.float64(),
}
"""Rounded scores by instance; `item` is the share's own id."""
TEXTS = {
    "item": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "input": pa.string(),
    "references": pa.list_(pa.string()),
    "answer": pa.string(),
}
"""Texts of public rows."""

DECLARED: Mapping[str, Mapping[str, pa.DataType]] = {
    "results": RESULTS,
    "scores": SCORES,
    "texts": TEXTS,
}
"""The columns of each table of a share: the scan lets no other leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The tables of a share by name, and what was left out of them."""

    tables: Mapping[str, pa.Table]
    num_hidden: int
    """The rows of `results` whose numbers are hidden."""
    num_unique: Mapping[str, int] = field(default_factory=dict)
    """By scenario the instances of gated and private data that are left out, because no other has
    the same rounded scores."""
    num_unique_public: int = 0
    """The instances of public data that are alone with their scores; they are in the share."""


def run_names(runs: Sequence[BoardRun]) -> dict[str, str]:
    """The names that a share gives to runs, of scenario and model alone, as in HELM.

    The runs' own names have arguments besides, as instructions and paths.
    """
    counts: Counter[str] = Counter()
    names = {}
    for spec in (run.run_spec for run in runs):
        mark = "," if ":" in spec.scenario_name else ":"
        name = f"{spec.scenario_name}{mark}model={spec.model_deployment}".replace("/", "_")
        counts[name] += 1
        is_first = counts[name] == 1
        names[spec.run_spec_id] = name if is_first else f"{name},run={counts[name]}"
    return names


def results_of(runs: Sequence[BoardRun], keys: ShareKeys, minimum: int) -> tuple[pa.Table, int]:
    """The stats of instances as they are, and how many rows are hidden.

    Args:
        runs: those of the release.
        keys: of the share.
        minimum: the cases that a number of gated and private data has to rest on.
    """
    by_unit = {run.run_spec.run_spec_id: run.run_spec for run in runs}
    names = run_names(runs)
    rows, hidden = [], 0
    for row in stat_rows(runs):
        if row.perturbation or row.lower_is_better is None:
            continue
        spec = by_unit[row.run_spec_id]
        is_hidden = spec.access_level is not AccessLevel.PUBLIC and row.num_counted < minimum
        hidden += is_hidden
        numbers = ("mean", "ci_low", "ci_high", "count", "num_unscored")
        rows.append(
            {
                "share": keys.share,
                "run": names[row.run_spec_id],
                "model": row.model_deployment,
                "scenario": row.scenario_name,
                "benchmark": row.display_name,
                "part": row.part,
                "access_level": spec.access_level.value,
                "metric": row.metric,
                "is_main": row.is_main,
                "lower_is_better": row.lower_is_better,
                "split": row.split,
                "ci_method": row.ci_method,
                "is_hidden": is_hidden,
                **{name: None if is_hidden else getattr(row, name) for name in numbers},
            }
        )
    return pa.Table.from_pylist(rows, pa.schema(list(RESULTS.items()))), hidden


def scores_of_instances(
    reader: Reader, runs: Sequence[BoardRun], keys: ShareKeys, decimals: int, minimum: int
) -> tuple[pa.Table, dict[str, int], int]:
    """Rounded scores of the main split, without instances that their scores single out.

    Gated and private data of which fewer than `minimum` instances would be left has none.

    Returns:
        The rows in the order of their keyed ids, the left-out instances of gated and private data
        by scenario, and the number of public instances that are alone with their scores.
    """
    made: list[dict[str, object]] = []
    names = run_names(runs)
    left_out: dict[str, int] = {}
    alone_public = 0
    for scenario in sorted({run.run_spec.scenario_name for run in runs}):
        own = [run for run in runs if run.run_spec.scenario_name == scenario and run.cell]
        models = {names[run.run_spec.run_spec_id]: run.run_spec.model_deployment for run in own}
        by_item: dict[str, list[tuple[str, str, float]]] = {}
        for run in own:
            name = names[run.run_spec.run_spec_id]
            for item, metric, value in _values(reader, run.run_spec, keys, decimals):
                by_item.setdefault(item, []).append((name, metric, value))
        counts = Counter(tuple(sorted(values)) for values in by_item.values())
        alone = {item for item, values in by_item.items() if counts[tuple(sorted(values))] == 1}
        is_public = all(run.run_spec.access_level is AccessLevel.PUBLIC for run in own)
        if not is_public and len(by_item) - len(alone) < minimum:
            alone = set(by_item)
        if is_public:
            alone_public += len(alone)
        elif alone:
            left_out[scenario] = len(alone)
        made += [
            {
                "item": item,
                "run": name,
                "model": models[name],
                "scenario": scenario,
                "metric": metric,
                "value": value,
            }
            for item, values in by_item.items()
            if is_public or item not in alone
            for name, metric, value in values
        ]
    made.sort(key=lambda row: (str(row["item"]), str(row["run"]), str(row["metric"])))
    return pa.Table.from_pylist(made, pa.schema(list(SCORES.items()))), left_out, alone_public


def _values(
    reader: Reader, spec: RunSpec, keys: ShareKeys, decimals: int
) -> Iterable[tuple[str, str, float]]:
    """Item, metric and rounded value of each score that says how good an answer is."""
    names = sorted({name for name in _stats(spec) if direction_of(spec, name) is not None})
    scores = scores_of(reader, [spec.run_spec_id], names, spec.main_split)
    instances = scores["instance_id"].to_pylist()
    for name in names:
        for instance, value in zip(instances, value_of(scores, name).tolist(), strict=True):
            if math.isfinite(value):
                item = keys.id_of("item", spec.data_version, instance)
                yield item, name, round(value, decimals)


def _stats(spec: RunSpec) -> Iterable[str]:
    try:
        return [stat.name for stat in stats_of(spec.metrics)]
    except ConfigError:  # a metric that is not installed here
        return [spec.main_metric]


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
    said = Completion(text=completions[0]["text"], finish_reason=FinishReason.UNKNOWN)
    return without_thinking(said).text
