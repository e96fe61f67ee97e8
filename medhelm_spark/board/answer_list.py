"""The answers of a run in the order of its data: value, status, and which filters list each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.cells import scale_of
from medhelm_spark.board.class_answers import errors_of, needed_stats_of
from medhelm_spark.board.scores import TRIALS, column_of, value_of, with_values
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST, SCORE
from medhelm_spark.domain.stats import UNREADABLE_STAT, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics import Params, RunMetric, run_metric_behind

KEYS = ("instance_id", *TRIALS)
_SCORED = """
SELECT instance_id, train_trial_index, trial_index, stats
FROM ({scores}) s
WHERE {where}
"""
SOURCE_INDICES = """
SELECT instance_id, source_index FROM ({instances}) d
WHERE data_version = {data_version} AND perturbation = ''
"""
STATUSES = [status.value for status in ScoreStatus]
Indices = NDArray[np.int64]
_LAST = np.iinfo(np.int64).max

RIGHT = "right"
"""What the values of a page are where the main metric is of the whole run."""


class AnswerFilter(StrEnum):
    """Which answers of a run are listed, where not all are.

    WRONG: their main score is the worst of its scale, or a main metric of the whole run counts
    them as wrong. MISSED: a case of the positive class that was not answered as positive.
    FALSE_ALARM: a negative case that was answered as positive; a run without a declared positive
    class has neither. UNREAD: the run's extraction found no answer in them; a run that compares
    whole answers has none. FAILED: there is no answer.
    """

    WRONG = "wrong"
    MISSED = "missed"
    FALSE_ALARM = "false-alarm"
    UNREAD = "unread"
    FAILED = "failed"

    @property
    def label(self) -> str:
        """Its words after a number."""
        return self.value.replace("-", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerList:
    """All answers of a run on its main split; a million of them take some 60 MB. No text."""

    keys: pa.Table
    """`instance_id`, `train_trial_index`, `trial_index`, in the order of the data."""
    values: NDArray[np.float64]
    """The value of each answer, NaN of none."""
    statuses: NDArray[np.int8]
    """The index of each answer's status in STATUSES; -1 of an answer that has neither value nor
    status and is not listed."""
    value_of: str
    """What the values are: see `InstancePage`."""
    listed: Mapping[AnswerFilter, Indices]
    """By filter the indices of its answers; without filters that do not apply to the run."""


def answer_list(reader: Reader, spec: RunSpec) -> AnswerList:
    """The answers of a run; the scores are read part by part, and only needed columns stay."""
    sql = _SCORED.format(scores=output_of("per_instance_stats", SCORE), where=scored_where(spec))
    narrowed = partial(with_statuses, names=needed_stats(spec))
    scored = _in_order(reader.query(sql, each=narrowed), _source_indices(reader, spec))
    value_of, values, statuses = valued(spec, scored)
    listed = dict(_listed(spec, _worst(spec, value_of), scored, values, statuses))
    keys = scored.select(KEYS).combine_chunks()
    del scored
    pa.default_memory_pool().release_unused()
    return AnswerList(keys=keys, values=values, statuses=statuses, value_of=value_of, listed=listed)


def scored_where(spec: RunSpec) -> str:
    """The condition of the scores of a run on its main split, without perturbed copies."""
    run, split = literal(spec.run_spec_id), literal(spec.main_split)
    return f"run_spec_id = {run} AND split = {split} AND perturbation = ''"


def needed_stats(spec: RunSpec) -> list[str]:
    """The stats of an answer from which value, status and filters are read."""
    needed = {spec.main_metric, UNREADABLE_STAT, *needed_stats_of(spec)}
    if of_run := run_metric_of(spec):
        needed.update(of_run[0].reads(of_run[1]))
    return sorted(needed)


def with_statuses(scores: pa.Table, names: Iterable[str]) -> pa.Table:
    """What `with_values` makes of these stats, and beside each value the index of its status."""
    stats = scores["stats"].combine_chunks()
    flat, rows = stats.flatten(), pc.list_parent_indices(stats)
    status_codes = pc.index_in(flat.field("status"), pa.array(STATUSES))
    columns = {}
    for name in names:
        is_named = pc.equal(flat.field("name"), name)
        statuses = np.full(len(scores), -1, np.int8)
        statuses[rows.filter(is_named).to_numpy()] = status_codes.filter(is_named).to_numpy()
        columns[_status(name)] = pa.array(statuses)
    scores = with_values(scores, names)
    for name, column in columns.items():
        scores = scores.append_column(name, column)
    for index, name in enumerate(scores.column_names):
        if name in TRIALS:
            scores = scores.set_column(index, name, scores[name].cast(pa.int32()))
    return scores


def _status(name: str) -> str:
    return f"status {name}"


def _statuses(scored: pa.Table, name: str) -> NDArray[np.int8]:
    statuses: NDArray[np.int8] = scored[_status(name)].to_numpy()
    return statuses


def _source_indices(reader: Reader, spec: RunSpec) -> pa.Table:
    """The index of each instance in the data."""
    instances = output_of("instances", INGEST, "data_version")
    data_version = literal(spec.data_version)
    return reader.query(SOURCE_INDICES.format(instances=instances, data_version=data_version))


def _in_order(scored: pa.Table, source_indices: pa.Table) -> pa.Table:
    """The rows in the order of the data; what the data lacks comes last."""
    known = source_indices["instance_id"].combine_chunks()
    at = pc.index_in(scored["instance_id"].combine_chunks(), known)
    source = source_indices["source_index"].combine_chunks().take(at)
    order = np.argsort(pc.fill_null(source, _LAST).to_numpy(), kind="stable")
    sources = source.take(pa.array(order))
    if sources.null_count or pc.any(pc.equal(sources[1:], sources[:-1])).as_py():
        rows = scored.select(KEYS).append_column("source_index", source)
        names = ("source_index", *KEYS)
        order = pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in names])
    return scored.take(order)


def valued(spec: RunSpec, scored: pa.Table) -> tuple[str, NDArray[np.float64], NDArray[np.int8]]:
    """What the values of answers are, and value and status of each, as in `AnswerList`."""
    of_run = run_metric_of(spec)
    if of_run is None:
        name = spec.main_metric
        return name, value_of(scored, name), _statuses(scored, name)
    metric, params = of_run
    names = metric.reads(params)
    read = np.full((scored.num_rows, len(names)), np.nan)
    statuses = np.full(scored.num_rows, _NOT_APPLICABLE, np.int8)
    for column, name in enumerate(names):
        read[:, column] = value_of(scored, name)
        stat_statuses = _statuses(scored, name)
        statuses[stat_statuses >= 0] = stat_statuses[stat_statuses >= 0]
    is_known = ~np.isnan(read).any(axis=1)
    values = np.full(scored.num_rows, np.nan)
    if metric.is_right:
        values[is_known] = metric.is_right(read[is_known])
    statuses[is_known] = _OK if metric.is_right else _NOT_APPLICABLE
    return RIGHT if metric.is_right else spec.main_metric, values, statuses


def run_metric_of(spec: RunSpec) -> tuple[RunMetric, Params] | None:
    """The main metric where it is of the whole run; None too for one that is not installed here."""
    try:
        return run_metric_behind(spec.main_metric, spec.metrics)
    except ConfigError:
        return None


def _worst(spec: RunSpec, value_of: str) -> float | None:
    """The value of a wrong answer; None where no value marks an answer as wrong."""
    if value_of == RIGHT:
        return 0.0
    scale = None if run_metric_of(spec) else scale_of(spec)
    return (scale.maximum if scale.lower_is_better else scale.minimum) if scale else None


def _listed(
    spec: RunSpec,
    worst: float | None,
    scored: pa.Table,
    values: NDArray[np.float64],
    statuses: NDArray[np.int8],
) -> Iterator[tuple[AnswerFilter, Indices]]:
    """The indices of the answers that each filter lists, without filters that do not apply."""
    if worst is not None:
        yield AnswerFilter.WRONG, np.flatnonzero(values == worst)
    needed = [column_of(name) for name in needed_stats_of(spec)]
    indices = pa.array(range(scored.num_rows), pa.int64())
    if errors := errors_of(spec, scored.select(needed).append_column("index", indices)):
        for which, of_class in zip(_OF_CLASS, errors, strict=True):
            yield which, of_class["index"].to_numpy()
    yield AnswerFilter.UNREAD, np.flatnonzero(value_of(scored, UNREADABLE_STAT) == 1.0)
    yield AnswerFilter.FAILED, np.flatnonzero(np.isin(statuses, _FAILED))


_OF_CLASS = (AnswerFilter.MISSED, AnswerFilter.FALSE_ALARM)
_OK, _NOT_APPLICABLE = (
    STATUSES.index(status.value) for status in (ScoreStatus.OK, ScoreStatus.NOT_APPLICABLE)
)
_FAILED = [STATUSES.index(status.value) for status in (ScoreStatus.NO_ANSWER, ScoreStatus.TOO_LONG)]
