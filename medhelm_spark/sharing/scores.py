"""The scores of a share by instance, and what means follow from them."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from medhelm_spark.board import BoardRun
from medhelm_spark.board.scores import in_order, scores_of, value_of
from medhelm_spark.board.stat_rows import direction_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Policy, ShareContent
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Summary
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics import info, metrics_for
from medhelm_spark.sharing.declared import SCORES
from medhelm_spark.sharing.keys import ShareKeys, run_names
from medhelm_spark.sharing.left_out import Number, Scored, alone, shared_of
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.summary import summarize


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


def scores_of_instances(
    reader: Reader, runs: Sequence[BoardRun], keys: ShareKeys, decimals: int, policy: Policy
) -> ScoreTable:
    """The scores of the main split by instance; those of gated and private data are rounded.

    Of gated and private data only what `left_out.shared_of` retains; data of a public run and of
    another one has the level of the other.
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
        retained: Mapping[str, Scored] = scored
        if not is_public:
            shared = shared_of(scored, roundings, minimum)
            retained = {item: each.rounded(decimals) for item, each in shared.retained.items()}
            if shared.left_out:
                left_out[scenario] = len(shared.left_out)
            if retained:
                no_means |= shared.hidden
                incomplete |= {names[s.run_spec_id] for s in specs if shared.left_out}
                means |= _means({names[spec.run_spec_id]: spec for spec in specs}, retained)
        rows = [
            {
                "item": item,
                "run": name,
                "model": models[name].model_deployment,
                "scenario": scenario,
                "metric": metric,
                "value": value,
            }
            for item, each in retained.items()
            for (name, metric), value in each.values
            if value is not None
        ]
        patients = {item: each.patient for item, each in retained.items()}
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
        stats = sorted(
            name for name in stats_of_instances(spec) if direction_of(spec, name) is not None
        )
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
            values=tuple(pairs),
        )
        for instance, pairs in values.items()
    }


def _means(specs: Mapping[str, RunSpec], retained: Mapping[str, Scored]) -> dict[Number, Summary]:
    """By run and metric the summary over these instances, as the stage `summarize` makes it.

    Answers of one patient, or to one instance, are one cluster.
    """
    by_number: dict[Number, list[tuple[str, float | None]]] = {}
    for each in retained.values():
        for number, value in each.values:
            by_number.setdefault(number, []).append((each.patient, value))
    return {
        number: _summary(specs[number[0]], number[1], pairs) for number, pairs in by_number.items()
    }


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


def stats_of_instances(spec: RunSpec) -> frozenset[str]:
    """The stats of instances that a run's metrics give; none of metrics that are not here."""
    try:
        chosen = metrics_for(spec.metrics)
    except ConfigError:
        return frozenset()
    return frozenset(stat.name for metric, params in chosen for stat in metric.emitted(params))
