"""What a share has of a release: named columns of aggregates, scores and public texts.

Nothing is edited in place: every value below is computed for the share. A column that is not named
here is in no share.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pyarrow as pa

from medhelm_spark.board import BoardRun, stat_rows
from medhelm_spark.board.scores import in_order, scores_of, value_of
from medhelm_spark.board.stat_rows import StatRow, direction_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Audience, Policy, ShareContent
from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.domain.stats import Summary
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.metrics import info, metrics_for
from medhelm_spark.sharing.keys import ShareKeys
from medhelm_spark.sharing.left_out import Number, Scored, alone, shared_of
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.summary import summarize

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
"""The aggregates: numbers of a hidden row are null."""
SCORES = {
    "item": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "metric": pa.string(),
    "value": pa.float64(),
}
"""Scores by instance, of gated and private data rounded; `item` is the share's own id."""
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
    left_out: Mapping[str, int] = field(default_factory=dict)
    """By scenario the instances of gated and private data that are left out."""
    num_alone: int = 0
    """The instances of gated and private data in the share that are alone with their scores."""
    num_alone_public: int = 0
    """The same of public data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """The table `scores` of a share, and what follows from it for the table `results`."""

    table: pa.Table
    means: Mapping[Number, Summary]
    """Of gated and private data with scores in the share: the summary of these scores, by the
    names of run and metric."""
    no_means: frozenset[Number]
    """Of such data the runs and metrics whose scores are in no share."""
    incomplete: frozenset[str]
    """The names of runs some of whose instances, and not all, are left out."""
    left_out: Mapping[str, int]
    num_alone: int
    num_alone_public: int


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


def project(
    reader: Reader,
    runs: Sequence[BoardRun],
    keys: ShareKeys,
    audience: Audience,
    policy: Policy,
) -> Projection:
    """The tables of a share.

    Args:
        reader: of the rows that the release froze.
        runs: those of the release.
        keys: of the share.
        audience: to whom.
        policy: the policy in force.
    """
    if audience.content is ShareContent.AGGREGATES:
        results, hidden = results_of(runs, keys, policy.small_cells.minimum)
        return Projection(tables={"results": results}, num_hidden=hidden)
    scores = scores_of_instances(reader, runs, keys, audience.decimals, policy)
    results, hidden = results_of(runs, keys, policy.small_cells.minimum, scores)
    tables = {"results": results, "scores": scores.table}
    if audience.content is ShareContent.TEXTS:
        tables["texts"] = public_texts(reader, runs, keys)
    return Projection(
        tables=tables,
        num_hidden=hidden,
        left_out=scores.left_out,
        num_alone=scores.num_alone,
        num_alone_public=scores.num_alone_public,
    )


NUMBERS = ("mean", "ci_low", "ci_high", "count", "num_unscored")


def results_of(
    runs: Sequence[BoardRun], keys: ShareKeys, minimum: int, scores: ScoreTable | None = None
) -> tuple[pa.Table, int]:
    """The stats of instances as they are, and how many rows are hidden.

    Args:
        runs: those of the release.
        keys: of the share.
        minimum: the patients that a number of gated and private data has to rest on.
        scores: of the share; its means stand in place of the release's.
    """
    by_unit = {run.run_spec.run_spec_id: run.run_spec for run in runs}
    names = run_names(runs)
    shown = [
        row for row in stat_rows(runs) if not row.perturbation and row.lower_is_better is not None
    ]
    gone = _hidden(shown, by_unit, minimum)
    rows, hidden = [], 0
    for place, row in enumerate(shown):
        spec = by_unit[row.run_spec_id]
        name = names[row.run_spec_id]
        numbers: Summary | StatRow = row
        is_hidden = place in gone
        if scores and row.split == spec.main_split:
            number = (name, row.metric)
            numbers = scores.means.get(number, row)
            is_of_others = number not in scores.means and name in scores.incomplete
            is_hidden = is_hidden or number in scores.no_means or is_of_others
        hidden += is_hidden
        rows.append(
            {
                "share": keys.share,
                "run": name,
                "model": row.model_deployment,
                "scenario": row.scenario_name,
                "benchmark": row.display_name,
                "part": row.part,
                "access_level": spec.access_level.value,
                "metric": row.metric,
                "is_main": row.is_main,
                "lower_is_better": row.lower_is_better,
                "split": row.split,
                "ci_method": None if is_hidden else str(numbers.ci_method),
                "is_hidden": is_hidden,
                **{each: None if is_hidden else getattr(numbers, each) for each in NUMBERS},
            }
        )
    return pa.Table.from_pylist(rows, pa.schema(list(RESULTS.items()))), hidden


def _hidden(rows: Sequence[StatRow], specs: Mapping[str, RunSpec], minimum: int) -> frozenset[int]:
    """The places of the rows of gated and private data that few patients, or another row, hide.

    A sensitivity follows from a specificity and a balanced accuracy, or from a specificity, an
    accuracy and their count. So all stats of a whole run and split are hidden where one of them
    rests on too few patients; the means of instances alone give none of them. They are hidden too
    where they rest on few patients less than such a mean: an accuracy less an exact match is of
    those alone whom the accuracy leaves out.
    """
    guarded = [
        (place, row)
        for place, row in enumerate(rows)
        if specs[row.run_spec_id].access_level is not AccessLevel.PUBLIC
    ]
    few = {place for place, row in guarded if _is_of_few(row, specs[row.run_spec_id], minimum)}
    known = {unit: _of_instances(specs[unit]) for unit in {row.run_spec_id for _, row in guarded}}
    of_runs: dict[tuple[str, str], list[int]] = defaultdict(list)
    of_instances: dict[tuple[str, str], list[StatRow]] = defaultdict(list)
    for place, row in guarded:
        if row.metric in known[row.run_spec_id]:
            of_instances[row.run_spec_id, row.split].append(row)
        else:
            of_runs[row.run_spec_id, row.split].append(place)
    for key, places in of_runs.items():
        pairs = product((rows[place] for place in places), of_instances[key])
        if not few.isdisjoint(places) or any(_differ_by_few(*pair, minimum) for pair in pairs):
            few.update(places)
    return frozenset(few)


def _differ_by_few(one: StatRow, other: StatRow, minimum: int) -> bool:
    """Whether two stats may rest on the same patients but for a few.

    Of how many patients the other answers are is not known where answers are clustered.
    """
    difference = abs(one.count - other.count)
    is_clustered = other.num_clusters not in {None, other.count}
    return bool(other.count) and difference > 0 and (is_clustered or difference < minimum)


def _is_of_few(row: StatRow, spec: RunSpec, minimum: int) -> bool:
    """Whether a number rests on some patients, but fewer than the minimum."""
    answers = row.num_counted
    patients = row.num_clusters or answers // spec.adapter_spec.requests_per_instance
    return answers > 0 and patients < minimum


def scores_of_instances(
    reader: Reader, runs: Sequence[BoardRun], keys: ShareKeys, decimals: int, policy: Policy
) -> ScoreTable:
    """The scores of the main split by instance; those of gated and private data are rounded.

    Of gated and private data only what `left_out.shared_of` keeps; data with a public and another
    run counts as the other.
    """
    minimum = policy.small_cells.minimum
    roundings = {decimals} | {
        audience.decimals
        for audience in policy.audiences
        if audience.content is not ShareContent.AGGREGATES
    }
    names = run_names(runs)
    own = [run.run_spec for run in runs if run.cell]
    models = {names[spec.run_spec_id]: spec for spec in own}
    made: list[dict[str, object]] = []
    means: dict[Number, Summary] = {}
    no_means: set[Number] = set()
    incomplete: set[str] = set()
    left_out: dict[str, int] = {}
    num_alone = num_alone_public = 0
    for scenario in sorted({spec.scenario_name for spec in own}):
        specs = [spec for spec in own if spec.scenario_name == scenario]
        scored = _scored(reader, specs, names, keys)
        is_public = all(spec.access_level is AccessLevel.PUBLIC for spec in specs)
        kept: Mapping[str, Scored] = scored
        if not is_public:
            shared = shared_of(scored, roundings, minimum)
            kept = {item: each.rounded(decimals) for item, each in shared.kept.items()}
            if shared.left_out:
                left_out[scenario] = len(shared.left_out)
            if kept:
                no_means |= shared.hidden
                incomplete |= {names[s.run_spec_id] for s in specs if shared.left_out}
                means |= _means({names[spec.run_spec_id]: spec for spec in specs}, kept)
        rows = [
            {
                "item": item,
                "run": name,
                "model": models[name].model_deployment,
                "scenario": scenario,
                "metric": metric,
                "value": value,
            }
            for item, each in kept.items()
            for (name, metric), value in each.values
            if value is not None
        ]
        patients = {item: each.patient for item, each in kept.items()}
        singled = len(alone(map(_without_item, rows), patients))
        num_alone, num_alone_public = (
            (num_alone, num_alone_public + singled)
            if is_public
            else (num_alone + singled, num_alone_public)
        )
        made += rows
    made.sort(key=lambda row: (str(row["item"]), str(row["run"]), str(row["metric"])))
    return ScoreTable(
        table=pa.Table.from_pylist(made, pa.schema(list(SCORES.items()))),
        means=means,
        no_means=frozenset(no_means),
        incomplete=frozenset(incomplete),
        left_out=left_out,
        num_alone=num_alone,
        num_alone_public=num_alone_public,
    )


def _without_item(row: Mapping[str, object]) -> tuple[str, Hashable]:
    return str(row["item"]), (row["run"], row["metric"], row["value"])


def _scored(
    reader: Reader, specs: Sequence[RunSpec], names: Mapping[str, str], keys: ShareKeys
) -> dict[str, Scored]:
    """By the share's id every instance of the main split, with each score that has a direction."""
    values: dict[tuple[str, str], list[tuple[Number, float | None]]] = {}
    patients: dict[tuple[str, str], str] = {}
    for spec in specs:
        stats = sorted(name for name in _of_instances(spec) if direction_of(spec, name) is not None)
        scores = in_order(scores_of(reader, [spec.run_spec_id], stats, spec.main_split))
        instances = [(spec.data_version, each) for each in scores["instance_id"].to_pylist()]
        for instance, cluster in zip(instances, scores["cluster_id"].to_pylist(), strict=True):
            values.setdefault(instance, [])
            if cluster is not None:
                patients[instance] = cluster
        for stat in stats:
            number = (names[spec.run_spec_id], stat)
            for instance, value in zip(instances, value_of(scores, stat).tolist(), strict=True):
                values[instance].append((number, value if math.isfinite(value) else None))
    return {
        keys.id_of("item", *instance): Scored(
            patient=patients.get(instance, instance[1]),
            order=content_id(instance),
            values=tuple(held),
        )
        for instance, held in values.items()
    }


def _means(specs: Mapping[str, RunSpec], kept: Mapping[str, Scored]) -> dict[Number, Summary]:
    """By run and metric the summary over these instances, as the stage `summarize` makes it.

    Answers of one patient, or to one instance, are one cluster.
    """
    held: dict[Number, list[tuple[str, float | None]]] = {}
    for each in kept.values():
        for number, value in each.values:
            held.setdefault(number, []).append((each.patient, value))
    return {number: _summary(specs[number[0]], number[1], of) for number, of in held.items()}


def _summary(spec: RunSpec, metric: str, values: Sequence[tuple[str, float | None]]) -> Summary:
    known = [(patient, value) for patient, value in values if value is not None]
    numbers = np.array([value for _, value in known], np.float64)
    units = np.unique([patient for patient, _ in known], return_inverse=True)[1]
    return summarize(
        sorted(Counter(value for _, value in known).items()),
        len(values) - len(known),
        info(metric, spec.metrics),
        cluster_totals(units.astype(np.uint64), numbers) if known else None,
    )


def _of_instances(spec: RunSpec) -> frozenset[str]:
    """The stats of instances that a run's metrics give; none of metrics that are not here."""
    try:
        chosen = metrics_for(spec.metrics)
    except ConfigError:
        return frozenset()
    return frozenset(stat.name for metric, params in chosen for stat in metric.emitted(params))


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
