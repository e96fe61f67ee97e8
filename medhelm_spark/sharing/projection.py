"""What a share has of a release: named columns of aggregates, scores and public texts.

Nothing is edited in place: every value below is computed for the share. A column that is not named
here is in no share.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import pyarrow as pa

from medhelm_spark.board import BoardRun, stat_rows
from medhelm_spark.board.stat_rows import StatRow
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import Audience, Policy, ShareContent
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Summary
from medhelm_spark.lake.reader import Reader
from medhelm_spark.sharing.declared import RESULTS
from medhelm_spark.sharing.keys import ShareKeys, run_names
from medhelm_spark.sharing.scores import ScoreTable, scores_of_instances, stats_of_instances
from medhelm_spark.sharing.texts import public_texts


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
        scores: of the share; its means replace the release's.
    """
    by_unit = {run.run_spec.run_spec_id: run.run_spec for run in runs}
    names = run_names(runs)
    selected = [
        row for row in stat_rows(runs) if not row.perturbation and row.lower_is_better is not None
    ]
    gone = _hidden(selected, by_unit, minimum)
    rows, hidden = [], 0
    for index, row in enumerate(selected):
        spec = by_unit[row.run_spec_id]
        name = names[row.run_spec_id]
        numbers: Summary | StatRow = row
        is_hidden = index in gone
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
    """The indices of the rows of gated and private data to hide, for few patients or another row.

    A sensitivity follows from a specificity and a balanced accuracy, or from a specificity, an
    accuracy and their count. So all stats of a whole run and split are hidden where one of them
    rests on too few patients; the means of instances alone give none of them. They are hidden too
    where their patients are not those of such a mean, but for a few: the difference of an accuracy
    and an exact match is of those alone whom the accuracy leaves out.
    """
    guarded = [
        (index, row)
        for index, row in enumerate(rows)
        if specs[row.run_spec_id].access_level is not AccessLevel.PUBLIC
    ]
    few = {index for index, row in guarded if _is_of_few(row, specs[row.run_spec_id], minimum)}
    known = {
        unit: stats_of_instances(specs[unit]) for unit in {row.run_spec_id for _, row in guarded}
    }
    of_runs: dict[tuple[str, str], list[int]] = defaultdict(list)
    of_instances: dict[tuple[str, str], list[StatRow]] = defaultdict(list)
    for index, row in guarded:
        if row.metric in known[row.run_spec_id]:
            of_instances[row.run_spec_id, row.split].append(row)
        else:
            of_runs[row.run_spec_id, row.split].append(index)
    for key, indices in of_runs.items():
        pairs = product((rows[index] for index in indices), of_instances[key])
        requests = specs[key[0]].adapter_spec.requests_per_instance
        if not few.isdisjoint(indices) or any(
            _differ_by_few(*pair, requests, minimum) for pair in pairs
        ):
            few.update(indices)
    return frozenset(few)


def _differ_by_few(one: StatRow, other: StatRow, requests_per_instance: int, minimum: int) -> bool:
    """Whether two stats may rest on the same patients but for a few.

    Where answers are clustered, nobody can say of how many patients the further answers are.
    """
    difference = math.ceil(abs(one.count - other.count) / requests_per_instance)
    is_clustered = other.num_clusters not in {None, other.count}
    return bool(other.count) and difference > 0 and (is_clustered or difference < minimum)


def _is_of_few(row: StatRow, spec: RunSpec, minimum: int) -> bool:
    """Whether a number rests on some patients, but fewer than the minimum."""
    answers = row.num_counted
    patients = row.num_clusters or answers // spec.adapter_spec.requests_per_instance
    return answers > 0 and patients < minimum
