"""The answers behind a number: the scored instances of a run, and all that is stored of one."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stages import ANNOTATE, INGEST, PLAN, SCORE
from medhelm_spark.domain.stats import PerInstanceStats, ScoreStatus
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.leaderboard.queries import stat_column
from medhelm_spark.leaderboard.viewers import Viewer, refuse

Row = TypeVar("Row")

_SCORED = """
SELECT s.instance_id, s.perturbation, s.train_trial_index, s.trial_index, s.stats, i.source_index
FROM ({scores}) s
LEFT JOIN (SELECT instance_id, perturbation, source_index
           FROM ({instances}) d WHERE data_version = {data_version}) i
  ON i.instance_id = s.instance_id AND i.perturbation = s.perturbation
WHERE s.run_spec_id = {run_spec_id} AND s.split = {split} AND s.perturbation = ''
"""
_SCORES = output_of("per_instance_stats", SCORE)
_INSTANCES = output_of("instances", INGEST, "data_version")
_WHERE = "SELECT * FROM ({source}) o WHERE {condition}"


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
    """An answer of a run and its main score; `number` is its place in the data, from 1."""

    key: InstanceKey
    number: int
    value: float | None
    status: ScoreStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePage:
    """The answers from `offset` on, of `total` behind a number."""

    total: int
    offset: int
    scores: tuple[InstanceScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDetail:
    """All that is stored of one answer; what the lake does not hold is None or empty."""

    instance: Instance | None
    prompt: Prompt | None
    request: PlannedRequest | None
    result: RequestResult | None
    stats: PerInstanceStats | None
    annotations: tuple[Annotation, ...]


def instances_of(
    reader: Reader,
    spec: RunSpec,
    *,
    limit: int,
    offset: int = 0,
    order: Order = Order.SOURCE,
    holding: InstanceKey | None = None,
) -> InstancePage:
    """A page of the answers behind a run's number, without any text.

    They are those of the main split; answers without a score come last in every order. Where the
    run has the answer `holding`, it is the page with that answer, and `offset` is not used.
    """
    sql = _SCORED.format(
        scores=_SCORES,
        instances=_INSTANCES,
        run_spec_id=literal(spec.run_spec_id),
        data_version=literal(spec.data_version),
        split=literal(spec.main_split),
    )
    rows = _numbered(stat_column(reader.query(sql), spec.main_metric))
    rows = rows.sort_by([*_SORTS[order], ("number", "ascending")])
    if holding and (index := _index(rows, holding)) is not None:
        offset = index - index % limit
    page = tuple(map(_score, rows.slice(offset, limit).to_pylist()))
    return InstancePage(total=rows.num_rows, offset=offset, scores=page)


def _index(rows: pa.Table, key: InstanceKey) -> int | None:
    same = pc.equal(rows["instance_id"], key.instance_id)
    for name in ("train_trial_index", "trial_index"):
        same = pc.and_(same, pc.equal(rows[name], getattr(key, name)))
    index: int = pc.index(same, True).as_py()
    return None if index < 0 else index


_SORTS: Mapping[Order, list[tuple[str, str]]] = {
    Order.SOURCE: [],
    Order.LOWEST: [("value", "ascending")],
    Order.HIGHEST: [("value", "descending")],
}


def _numbered(rows: pa.Table) -> pa.Table:
    keys = ("source_index", "instance_id", "train_trial_index", "trial_index")
    rows = rows.sort_by([(key, "ascending") for key in keys])
    return rows.append_column("number", pa.array(range(1, rows.num_rows + 1), pa.int64()))


def _score(row: Mapping[str, Any]) -> InstanceScore:
    names = ("instance_id", "perturbation", "train_trial_index", "trial_index")
    return InstanceScore(
        key=InstanceKey(**{name: row[name] for name in names}),
        number=row["number"],
        value=row["value"],
        status=ScoreStatus(row["status"]),
    )


def instance_detail(
    reader: Reader, spec: RunSpec, key: InstanceKey, *, viewer: Viewer
) -> InstanceDetail | None:
    """Request, answer, references, scores and verdicts of one answer; None if the run lacks it.

    Raises:
        PolicyError: The viewer may not see text of the level of the run, or of a row that was read.
    """
    refuse(viewer, [spec.access_level])
    columns = {"run_spec_id": spec.run_spec_id, **_columns(key)}
    request = _first(reader, _where(output_of("requests", PLAN), columns), PlannedRequest)
    stats = _first(reader, _where(_SCORES, columns), PerInstanceStats)
    if request is None and stats is None:
        return None
    verdicts = reader.rows(_where(output_of("annotations", ANNOTATE), columns), Annotation)
    instance = _first(reader, _where(_INSTANCES, _of_data(spec, key)), Instance)
    prompt, result = _prompt(reader, request), _result(reader, request)
    rows = [row for row in (instance, prompt, request, result, *verdicts) if row]
    refuse(viewer, [row.access_level for row in rows])
    return InstanceDetail(
        instance=instance,
        prompt=prompt,
        request=request,
        result=result,
        stats=stats,
        annotations=tuple(sorted(verdicts, key=_verdict_order)),
    )


def _verdict_order(verdict: Annotation) -> tuple[str, int, str]:
    item = -1 if verdict.rubric_item is None else verdict.rubric_item
    return verdict.annotator, item, verdict.judge


def _result(reader: Reader, request: PlannedRequest | None) -> RequestResult | None:
    if request is None:
        return None
    sql = _where(CURRENT_RESULTS, {"request_id": request.request_id})
    return _first(reader, sql, RequestResult)


def _prompt(reader: Reader, request: PlannedRequest | None) -> Prompt | None:
    if request is None:
        return None
    sql = _where("SELECT * FROM {prompts}", {"prompt_id": request.prompt_id})
    return _first(reader, sql, Prompt)


def _columns(key: InstanceKey) -> dict[str, str | int]:
    return {field.name: getattr(key, field.name) for field in fields(key)}


def _of_data(spec: RunSpec, key: InstanceKey) -> dict[str, str | int]:
    return {
        "data_version": spec.data_version,
        "instance_id": key.instance_id,
        "perturbation": key.perturbation,
    }


def _where(source: str, equal: Mapping[str, str | int]) -> str:
    """A query of the rows whose columns have these values."""
    conditions = (
        f"{name} = {value if isinstance(value, int) else literal(value)}"
        for name, value in equal.items()
    )
    return _WHERE.format(source=source, condition=" AND ".join(conditions))


def _first(reader: Reader, sql: str, row_type: type[Row]) -> Row | None:
    return next(iter(reader.rows(sql, row_type)), None)
