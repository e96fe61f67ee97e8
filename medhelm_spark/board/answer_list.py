"""The answers of a run in the order of its data: value, status, and which filters list each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.board.cells import scale_of
from medhelm_spark.board.class_answers import errors_of, needed_stats_of
from medhelm_spark.board.queries import stat_column
from medhelm_spark.board.scores import with_values
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST, SCORE
from medhelm_spark.domain.stats import UNREADABLE_STAT, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics import Params, RunMetric, run_metric_behind

_SCORED = """
SELECT instance_id, perturbation, train_trial_index, trial_index, stats
FROM ({scores}) s
WHERE run_spec_id = {run_spec_id} AND split = {split} AND perturbation = ''
"""
_PLACES = """
SELECT instance_id, source_index FROM ({instances}) d
WHERE data_version = {data_version} AND perturbation = ''
"""

RIGHT = "right"
"""What the values of a page are where the main metric is of the whole run."""


class AnswerFilter(StrEnum):
    """Which answers of a run are listed, where not all are.

    WRONG: their main score is the worst of its scale; where the main metric is of the whole run, it
    says so of them. MISSED: a case of the positive class that was not answered as positive.
    FALSE_ALARM: a negative case that was answered as positive; a run without a declared positive
    class has neither. UNREAD: the run's extraction found no answer in them; a run that compares
    answers as they stand has none. FAILED: there is no answer.
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
    """All answers of a run on its main split; a million of them take some 150 MB. No text."""

    keys: pa.Table
    """`number` from 1 on, `instance_id`, `perturbation`, `train_trial_index`, `trial_index`."""
    rows: pa.Table
    """The same of the answers that have a value or a status, with `value` and `status`."""
    value_of: str
    """What the values are: see `InstancePage`."""
    listed: Mapping[AnswerFilter, pa.Array]
    """The numbers of the answers of which a filter is true; without those of which nothing says
    it."""


def answer_list(reader: Reader, spec: RunSpec) -> AnswerList:
    """The answers of a run; the scores are read part by part, and only what is needed is kept."""
    needed = {spec.main_metric, UNREADABLE_STAT, *needed_stats_of(spec)}
    if of_run := run_metric_of(spec):
        needed.update(of_run[0].reads(of_run[1]))
    sql = _SCORED.format(
        scores=output_of("per_instance_stats", SCORE),
        run_spec_id=literal(spec.run_spec_id),
        split=literal(spec.main_split),
    )
    named = pa.array(sorted(needed), pa.string())
    scored = _numbered(reader.query(sql, each=partial(_only, names=named)), _places(reader, spec))
    value_of, rows = _valued(spec, scored)
    listed = dict(_listed(spec, _worst(spec, value_of), scored, rows))
    keys = scored.drop_columns(["stats"])
    pa.default_memory_pool().release_unused()
    return AnswerList(keys=keys, rows=rows, value_of=value_of, listed=listed)


def _only(scores: pa.Table, names: pa.Array) -> pa.Table:
    """The rows with these stats alone."""
    stats = scores["stats"].combine_chunks()
    flat = stats.flatten()
    is_named = pc.is_in(flat.field("name"), value_set=names)
    counts = np.bincount(
        pc.list_parent_indices(stats).filter(is_named).to_numpy(), minlength=len(scores)
    )
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    kept = pa.ListArray.from_arrays(offsets, flat.filter(is_named), type=stats.type)
    place = scores.column_names.index("stats")
    return scores.set_column(place, scores.schema.field(place), kept)


def _places(reader: Reader, spec: RunSpec) -> pa.Table:
    """The place of each instance in the data."""
    instances = output_of("instances", INGEST, "data_version")
    data_version = literal(spec.data_version)
    return reader.query(_PLACES.format(instances=instances, data_version=data_version))


def _numbered(scored: pa.Table, places: pa.Table) -> pa.Table:
    """The rows in the order of the data, with their number; what the data lacks comes last."""
    known = places["instance_id"].combine_chunks()
    at = pc.index_in(scored["instance_id"].combine_chunks(), known)
    source = places["source_index"].combine_chunks().take(at)
    rows = scored.append_column("source_index", source)
    keys = ("source_index", "instance_id", "train_trial_index", "trial_index")
    order = pc.sort_indices(rows.select(keys), sort_keys=[(key, "ascending") for key in keys])
    rows = rows.drop_columns(["source_index"]).take(order)
    return rows.append_column("number", pa.array(range(1, rows.num_rows + 1), pa.int64()))


def _valued(spec: RunSpec, scored: pa.Table) -> tuple[str, pa.Table]:
    """What the values of answers are, and all answers with theirs, as `stat_column` gives them."""
    of_run = run_metric_of(spec)
    if of_run is None:
        return spec.main_metric, stat_column(scored, spec.main_metric)
    metric, params = of_run
    names = metric.reads(params)
    read = np.full((scored.num_rows, len(names)), np.nan)
    status = np.full(scored.num_rows, ScoreStatus.NOT_APPLICABLE.value, dtype=object)
    for column, name in enumerate(names):
        rows = stat_column(scored, name)
        at = rows["number"].to_numpy() - 1
        read[at, column] = rows["value"].to_numpy()
        status[at] = rows["status"].to_numpy()
    is_known = ~np.isnan(read).any(axis=1)
    values = np.full(scored.num_rows, np.nan)
    if metric.is_right:
        values[is_known] = metric.is_right(read[is_known])
    status[is_known] = (ScoreStatus.OK if metric.is_right else ScoreStatus.NOT_APPLICABLE).value
    rows = scored.drop_columns(["stats"])
    rows = rows.append_column("value", pa.array(values, pa.float64(), from_pandas=True))
    rows = rows.append_column("status", pa.array(status, pa.string()))
    return RIGHT if metric.is_right else spec.main_metric, rows


def run_metric_of(spec: RunSpec) -> tuple[RunMetric, Params] | None:
    """The main metric where it is of the whole run; None too for one that is not installed here."""
    try:
        return run_metric_behind(spec.main_metric, spec.metrics)
    except ConfigError:
        return None


def _worst(spec: RunSpec, value_of: str) -> float | None:
    """The value of a wrong answer; None where no value says that an answer is wrong."""
    if value_of == RIGHT:
        return 0.0
    scale = None if run_metric_of(spec) else scale_of(spec)
    return (scale.maximum if scale.lower_is_better else scale.minimum) if scale else None


def _listed(
    spec: RunSpec, worst: float | None, scored: pa.Table, rows: pa.Table
) -> Iterator[tuple[AnswerFilter, pa.Array]]:
    """The numbers of the answers of which a filter is true; `rows` have their values.

    A filter of which nothing says whether it is true is not there.
    """
    if worst is not None:
        yield AnswerFilter.WRONG, numbers_of(rows, pc.equal(rows["value"], worst))
    if errors := errors_of(spec, with_values(scored, needed_stats_of(spec))):
        for which, of_class in zip(_OF_CLASS, errors, strict=True):
            yield which, of_class["number"].combine_chunks()
    unread = stat_column(scored, UNREADABLE_STAT)
    yield AnswerFilter.UNREAD, numbers_of(unread, pc.equal(unread["value"], 1.0))
    failed = pc.is_in(rows["status"], value_set=pa.array(_FAILED))
    yield AnswerFilter.FAILED, numbers_of(rows, failed)


_OF_CLASS = (AnswerFilter.MISSED, AnswerFilter.FALSE_ALARM)
_FAILED = [ScoreStatus.NO_ANSWER.value, ScoreStatus.TOO_LONG.value]


def numbers_of(rows: pa.Table, mask: pa.ChunkedArray) -> pa.Array:
    """The numbers of the rows that the mask keeps."""
    return rows.filter(mask)["number"].combine_chunks()
