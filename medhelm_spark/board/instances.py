"""The answers behind a number: the scored instances of a run, and all that is stored of one."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.answer_list import (
    STATUSES,
    AnswerFilter,
    AnswerList,
    Indices,
    answer_list,
)
from medhelm_spark.board.matching import matching_indices
from medhelm_spark.board.viewers import Viewer, refuse
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import (
    Annotation,
    EvaluationKey,
    PlannedRequest,
    Prompt,
    RequestResult,
)
from medhelm_spark.domain.run import PROMPT, RunSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stages import ANNOTATE, INGEST, PLAN, SCORE, Stage
from medhelm_spark.domain.stats import PerInstanceStats, ScoreStatus
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import WRITE_ID
from medhelm_spark.lake.views import current_results_where, current_runs, output_of

Keyed = TypeVar("Keyed", bound=EvaluationKey)
Row = TypeVar("Row")

_INSTANCES = output_of("instances", INGEST, "data_version")
_WHERE = "SELECT {columns} FROM ({source}) o WHERE {condition}"


class Order(StrEnum):
    """How the instances of a run are listed."""

    SOURCE = "source"
    LOWEST = "lowest"
    HIGHEST = "highest"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceKey:
    """The key of one answer within a run: the evaluation key without the run_spec_id."""

    instance_id: str
    perturbation: str = ""
    train_trial_index: int = 0
    trial_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceScore:
    """An answer of a run and its value on the page; `number` is its row in the data, from 1."""

    key: InstanceKey
    number: int
    value: float | None
    status: ScoreStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePage:
    """The answers from `offset` on, of `total` behind a number.

    `total` counts the listed ones and `num_answers` all of the run; `counts` has how many of all
    answers each `AnswerFilter` lists, without those that do not apply. `value_of`
    names what the values are: the main metric, or RIGHT (1 for a right answer, else 0) where that
    is of the whole run and compares answers. A metric of the whole run that does not gives answers
    no value.
    """

    total: int
    offset: int
    scores: tuple[InstanceScore, ...]
    value_of: str = ""
    counts: Mapping[AnswerFilter, int] = field(default_factory=dict)
    num_answers: int = 0
    searched: frozenset[AccessLevel] = frozenset()
    """The levels of the rows that a search read; empty without a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDetail:
    """All that is stored of one answer; what the lake lacks is None or empty."""

    instance: Instance | None
    prompt: Prompt | None
    request: PlannedRequest | None
    result: RequestResult | None
    stats: PerInstanceStats | None
    annotations: tuple[Annotation, ...]

    @property
    def answer(self) -> str | None:
        """The text of the first completion, without thinking; None where there is none."""
        if self.result is None or not self.result.completions:
            return None
        return without_thinking(self.result.completions[0]).text

    @property
    def levels(self) -> frozenset[AccessLevel]:
        """Who may see the texts of its rows."""
        rows = (self.instance, self.prompt, self.request, self.result, *self.annotations)
        return frozenset(row.access_level for row in rows if row)

    @property
    def gone(self) -> tuple[str, ...]:
        """The texts that the lake has lost, of an answer whose scores it has.

        A release keeps scores, but no texts.
        """
        if self.stats is None:
            return ()
        is_scored = any(score.status is ScoreStatus.OK for score in self.stats.stats)
        absent = {
            "prompt": self.prompt is None,
            "answer": self.result is None and is_scored,
            "references": self.instance is None,
        }
        return tuple(name for name, is_absent in absent.items() if is_absent)


def instances_of(
    reader: Reader,
    spec: RunSpec,
    *,
    limit: int | None,
    offset: int = 0,
    order: Order = Order.SOURCE,
    holding: InstanceKey | None = None,
    only: AnswerFilter | None = None,
    matching: str | None = None,
    among: Collection[str] | None = None,
    viewer: Viewer = Viewer.ANYONE,
    answers: AnswerList | None = None,
) -> InstancePage:
    """A page of the answers behind a run's number, without any text.

    They are those of the main split, all or `only` some; answers without a score come last in every
    order. Without a `limit` all are on one page. Where the run has the answer `holding`, it is
    the page with that answer, and `offset` is not used. `matching` keeps answers with this text, in
    any case, in the instance's id in the data, its input or references, or in the model's answer.
    `among` keeps those of these instance ids. `viewer` is who searches; without a search no text is
    read. `answers` are the run's, where they were read before.

    Raises:
        PolicyError: The viewer may not see text of the level of the run, or of a row that is
            searched: whether a text is found would reveal it.
    """
    all_answers = answers or answer_list(reader, spec)
    searched: frozenset[AccessLevel] = frozenset()
    indices = np.flatnonzero(all_answers.statuses >= 0)
    if only:
        indices = _both(indices, all_answers.listed.get(only, np.array([], np.int64)))
    if among is not None:
        ids = pa.array(list(among), pa.string())
        in_group = pc.is_in(all_answers.keys["instance_id"], value_set=ids)
        indices = _both(indices, np.flatnonzero(in_group.to_numpy()))
    if matching:
        found, searched = matching_indices(reader, spec, all_answers, matching, viewer)
        indices = _both(indices, found)
    if order is not Order.SOURCE:  # no value comes last, equal ones as in the data
        signed = all_answers.values[indices] * (1 if order is Order.LOWEST else -1)
        indices = indices[np.argsort(signed, kind="stable")]
    limit = limit or max(1, len(indices))
    if holding and len(index := np.flatnonzero(indices == _index_of(all_answers.keys, holding))):
        offset = int(index[0]) // limit * limit
    listed = indices[offset : offset + limit]
    return InstancePage(
        total=len(indices),
        offset=offset,
        scores=scores_at(
            all_answers.keys.take(listed),
            listed,
            all_answers.values[listed],
            all_answers.statuses[listed],
        ),
        value_of=all_answers.value_of,
        counts={which: len(of_filter) for which, of_filter in all_answers.listed.items()},
        num_answers=all_answers.keys.num_rows,
        searched=searched,
    )


def _both(indices: Indices, others: Indices) -> Indices:
    """The indices that are among the others too, in order."""
    is_other = np.zeros(max(indices.max(initial=-1), others.max(initial=-1)) + 1, bool)
    is_other[others] = True
    return indices[is_other[indices]]


def _index_of(keys: pa.Table, key: InstanceKey) -> int:
    same = pc.equal(keys["instance_id"], key.instance_id)
    for name in ("train_trial_index", "trial_index"):
        same = pc.and_(same, pc.equal(keys[name], getattr(key, name)))
    index: int = pc.index(same, True).as_py()
    return index


def scores_at(
    keys: pa.Table,
    indices: Indices,
    values: NDArray[np.float64],
    statuses: NDArray[np.int8],
) -> tuple[InstanceScore, ...]:
    """Answers as a page lists them; the arrays are in the order of `keys`."""
    return tuple(
        InstanceScore(
            key=InstanceKey(**key),
            number=int(index) + 1,
            value=None if np.isnan(value) else float(value),
            status=ScoreStatus(STATUSES[status]),
        )
        for key, index, value, status in zip(
            keys.to_pylist(), indices, values, statuses, strict=True
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnColumns:
    """What the data calls an instance, and the columns that its card keeps beside it."""

    source_id: str
    columns: Mapping[str, str]


def own_columns_of(
    reader: Reader, spec: RunSpec, ids: Collection[str], *, viewer: Viewer
) -> dict[str, OwnColumns]:
    """Ids and columns of the data itself, by instance id; they count as clinical text.

    Raises:
        PolicyError: The viewer may not see text of the level of the run, or of a row that was read.
    """
    refuse(viewer, [spec.access_level])
    data = {"data_version": [spec.data_version], "perturbation": [""]}
    rows = reader.query(
        _where(_INSTANCES, data, "instance_id, source_id, extra_data, access_level")
    )
    rows = rows.filter(pc.is_in(rows["instance_id"], value_set=pa.array(list(ids), pa.string())))
    refuse(viewer, rows["access_level"].unique().to_pylist())
    return {
        row["instance_id"]: OwnColumns(
            source_id=row["source_id"], columns=own_columns(dict(row["extra_data"] or ()))
        )
        for row in rows.to_pylist()
    }


def own_columns(extra_data: Mapping[str, str]) -> dict[str, str]:
    """The columns of the data among what is kept beside an instance; the others are prompts."""
    return {name: text for name, text in extra_data.items() if not name.startswith(PROMPT)}


def instance_detail(
    reader: Reader, spec: RunSpec, key: InstanceKey, *, viewer: Viewer
) -> InstanceDetail | None:
    """Request, answer, references, scores and verdicts of one answer; None if the run lacks it.

    Raises:
        PolicyError: The viewer may not see text of the level of the run, or of a row that was read.
    """
    return instance_details(reader, spec, [key], viewer=viewer).get(key)


def instance_details(
    reader: Reader, spec: RunSpec, keys: Sequence[InstanceKey], *, viewer: Viewer
) -> dict[InstanceKey, InstanceDetail]:
    """The same of several answers at once, in the order of `keys`; without those the run lacks."""
    refuse(viewer, [spec.access_level])
    details = _details_of(reader, spec, keys)
    refuse(viewer, (level for detail in details.values() for level in detail.levels))
    return details


def visible_details(
    reader: Reader, spec: RunSpec, keys: Sequence[InstanceKey], *, viewer: Viewer
) -> dict[InstanceKey, InstanceDetail]:
    """The same of those answers all of whose text the viewer may see."""
    if not viewer.may_see(spec.access_level):
        return {}
    details = _details_of(reader, spec, keys)
    return {
        key: detail for key, detail in details.items() if all(map(viewer.may_see, detail.levels))
    }


def _details_of(
    reader: Reader, spec: RunSpec, keys: Sequence[InstanceKey]
) -> dict[InstanceKey, InstanceDetail]:
    ids, writes = [key.instance_id for key in keys], _writes(reader, spec)
    run = {"run_spec_id": [spec.run_spec_id], "instance_id": ids}

    def of_run(table: str, stage: Stage, row_type: type[Row]) -> list[Row]:
        return _written(reader, table, writes.get((stage.name, spec.run_spec_id)), run, row_type)

    requests = _by_key(of_run("requests", PLAN, PlannedRequest))
    stats = _by_key(of_run("per_instance_stats", SCORE, PerInstanceStats))
    verdicts: defaultdict[InstanceKey, list[Annotation]] = defaultdict(list)
    for row in of_run("annotations", ANNOTATE, Annotation):
        verdicts[_key(row)].append(row)
    data = {"data_version": [spec.data_version], "instance_id": ids}
    ingested = writes.get((INGEST.name, spec.data_version))
    rows = _written(reader, "instances", ingested, data, Instance)
    instances = {(row.instance_id, row.perturbation): row for row in rows}
    planned = [requests[key] for key in keys if key in requests]
    prompts = _prompts(reader, [row.prompt_id for row in planned])
    results = _results(reader, spec, [row.request_id for row in planned])
    details: dict[InstanceKey, InstanceDetail] = {}
    for key in keys:
        request = requests.get(key)
        if request is None and key not in stats:
            continue
        details[key] = InstanceDetail(
            instance=instances.get((key.instance_id, key.perturbation)),
            prompt=prompts.get(request.prompt_id) if request else None,
            request=request,
            result=results.get(request.request_id) if request else None,
            stats=stats.get(key),
            annotations=tuple(sorted(verdicts[key], key=_verdict_order)),
        )
    return details


def _writes(reader: Reader, spec: RunSpec) -> dict[tuple[str, str], str]:
    """By stage and unit, the write with the rows of the run or of its data.

    They are looked up once for all tables, and rows by their write: to join each table with `runs`
    takes longer than to read ten rows of it.
    """
    units = [spec.run_spec_id, spec.data_version]
    records = current_runs(among("unit_id", units))
    rows = reader.query(f"SELECT stage, unit_id, write_id FROM ({records}) r").to_pylist()
    return {(row["stage"], row["unit_id"]): row["write_id"] for row in rows}


def _written(
    reader: Reader,
    table: str,
    write_id: str | None,
    where: Mapping[str, Sequence[str]],
    row_type: type[Row],
) -> list[Row]:
    """The rows of a write; none where there is no write."""
    if write_id is None:
        return []
    sql = _where(f"SELECT * FROM {{{table}}}", {WRITE_ID: [write_id], **where})
    return reader.rows(sql, row_type)


def _prompts(reader: Reader, prompt_ids: Sequence[str]) -> dict[str, Prompt]:
    sql = _where("SELECT * FROM {prompts}", {"prompt_id": prompt_ids})
    return {row.prompt_id: row for row in reader.rows(sql, Prompt)}


def _results(reader: Reader, spec: RunSpec, request_ids: Sequence[str]) -> dict[str, RequestResult]:
    of_model = among("model_deployment", [spec.model_deployment])
    sql = current_results_where(f"{of_model} AND request_id IN ({literals(request_ids)})")
    return {row.request_id: row for row in reader.rows(sql, RequestResult)}


def _key(row: EvaluationKey) -> InstanceKey:
    return InstanceKey(
        instance_id=row.instance_id,
        perturbation=row.perturbation,
        train_trial_index=row.train_trial_index,
        trial_index=row.trial_index,
    )


def _by_key(rows: Iterable[Keyed]) -> dict[InstanceKey, Keyed]:
    return {_key(row): row for row in rows}


def _verdict_order(verdict: Annotation) -> tuple[str, int, str]:
    item = -1 if verdict.rubric_item is None else verdict.rubric_item
    return verdict.annotator, item, verdict.judge


def _where(source: str, among: Mapping[str, Sequence[str]], columns: str = "*") -> str:
    """A query of the rows whose columns have one of these values."""
    conditions = (f"{name} IN ({literals(values)})" for name, values in among.items())
    return _WHERE.format(columns=columns, source=source, condition=" AND ".join(conditions))
