"""export-helm: a suite's runs as HELM's five files, a request at a time; writes no table."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from medhelm_spark.domain.helm_export import ExportedState, ExportedStats, Line
from medhelm_spark.domain.helm_results import is_stored
from medhelm_spark.domain.request import (
    EVALUATION_KEY,
    Annotation,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
)
from medhelm_spark.domain.run import PROMPT, RunSpec
from medhelm_spark.domain.scenario import Instance, ScenarioVersion
from medhelm_spark.domain.stages import (
    ANNOTATE,
    EXPORT_HELM,
    IMPORT_HELM,
    INGEST,
    PLAN,
    SCORE,
    SUMMARIZE,
)
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.rows import Frame, by_spark, map_rows, plain_errors
from medhelm_spark.lake.settings import temporarily
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.states import prompts_of, requests_of

ROWS_AT_ONCE = "spark.sql.parquet.columnarReaderBatchSize"

Write = Callable[[Iterable[Any]], Iterator[Line]]


def _struct(alias: str, row: type) -> str:
    names = ", ".join(f"'{field.name}', {alias}.{field.name}" for field in fields(row))
    return f"named_struct({names})"


_SAME = " AND ".join(f"a.{name} = q.{name}" for name in EVALUATION_KEY)
_KEY = ", ".join(EVALUATION_KEY)

# HELM has no other wordings of a prompt.
_STATES = f"""
SELECT {_struct("i", Instance)} AS instance, {_struct("q", PlannedRequest)} AS request,
       CASE WHEN p.prompt_id IS NOT NULL THEN {_struct("p", Prompt)} END AS prompt,
       CASE WHEN r.request_id IS NOT NULL THEN {_struct("r", RequestResult)} END AS result,
       a.annotations
FROM {{planned}} q
JOIN {{data}} i ON i.instance_id = q.instance_id AND i.perturbation = q.perturbation
LEFT JOIN {{texts}} p ON p.prompt_id = q.prompt_id
LEFT JOIN {{answers}} r ON r.request_id = q.request_id
LEFT JOIN (SELECT {_KEY}, collect_list({_struct("v", Annotation)}) AS annotations
           FROM {{verdicts}} v GROUP BY {_KEY}) a ON {_SAME}
WHERE NOT startswith(q.perturbation, '{PROMPT}')
ORDER BY i.source_index, q.instance_id, q.perturbation, q.train_trial_index, q.trial_index
"""
_VALUES = f"""
SELECT coalesce(i.source_id, '') AS source_id, {_struct("s", PerInstanceStats)} AS stats
FROM {{scores}} s
LEFT JOIN {{data}} i ON i.instance_id = s.instance_id AND i.perturbation = s.perturbation
WHERE NOT startswith(s.perturbation, '{PROMPT}')
ORDER BY i.source_index, s.instance_id, s.perturbation, s.train_trial_index, s.trial_index
"""
_STATS = "SELECT * FROM {{stats}} WHERE run_spec_id = {unit} AND write_id = {write}"
_SIZE = "SELECT * FROM {{scenarios}} WHERE data_version = {version}"


def exported_states(ctx: Context, spec: RunSpec, write: Write) -> Iterator[str]:
    """The requests of a run as `write` words them, in the order of the data, one at a time."""
    ctx = ctx.within(EXPORT_HELM)
    planned = requests_of(ctx, [spec.run_spec_id], PLAN, Purpose.EVALUATE)
    prompts = by_spark(prompts_of(ctx, planned, None))
    rows = ctx.lake.query(
        _STATES,
        planned=planned,
        data=_data(ctx, spec),
        texts=prompts.dropDuplicates(["prompt_id"]),
        answers=ctx.results([spec.model_deployment], planned),
        verdicts=ctx.current("annotations", ANNOTATE, [spec.run_spec_id]),
    )
    return _lines(ctx, map_rows(rows, write, ExportedState, Line))


def exported_values(ctx: Context, spec: RunSpec, write: Write) -> Iterator[str]:
    """The values of a run's instances as `write` words them: of an imported run those it had."""
    ctx = ctx.within(EXPORT_HELM)
    stage = IMPORT_HELM if is_stored(spec) else SCORE
    scores = ctx.current("per_instance_stats", stage, [spec.run_spec_id])
    rows = ctx.lake.query(_VALUES, scores=scores, data=_data(ctx, spec))
    return _lines(ctx, map_rows(rows, write, ExportedStats, Line))


def exported_stats(ctx: Context, spec: RunSpec) -> Sequence[Stat]:
    """The stats of a run in a fixed order: of an imported one those that its files had."""
    ctx = ctx.within(EXPORT_HELM)
    stage = IMPORT_HELM if is_stored(spec) else SUMMARIZE
    record = ctx.finished(stage, [spec.run_spec_id]).get(spec.run_spec_id)
    if record is None:
        return ()
    unit, write = literal(spec.run_spec_id), literal(record.write_id)
    stats = ctx.lake.rows(_STATS.format(unit=unit, write=write), Stat)
    return sorted(stats, key=_stat_key)


def _stat_key(stat: Stat) -> tuple[str, ...]:
    return stat.name, stat.split, stat.perturbation, stat.computed_on or ""


def scenario_of(ctx: Context, spec: RunSpec) -> ScenarioVersion | None:
    """What the lake has of a run's data."""
    sql = _SIZE.format(version=literal(spec.data_version))
    return next(iter(ctx.within(EXPORT_HELM).lake.rows(sql, ScenarioVersion)), None)


def has_requests(ctx: Context, spec: RunSpec) -> bool:
    """Whether the lake has more of a run than its stats."""
    return bool(ctx.finished(SCORE, [spec.run_spec_id]))


def _data(ctx: Context, spec: RunSpec) -> Frame:
    return ctx.current("instances", INGEST, [spec.data_version], "data_version")


def _lines(ctx: Context, lines: Frame) -> Iterator[str]:
    """The rows one partition after the other: no more of them is at the driver at once."""
    # Texts of whole records in hand: Spark's 4,096 rows of them at once would fill a heap.
    with temporarily(ctx.lake.spark, {ROWS_AT_ONCE: "64"}), plain_errors():
        for row in by_spark(lines).toLocalIterator():
            yield row.text
