"""Draws: which instances of a data version are evaluated, as a condition on each row.

A draw of n takes the n smallest sample keys. Its last key is computed once; then one comparison
decides whether an instance is drawn, in every join. A draw with a filter or another order is
listed: Spark computes the ids of its instances and joins them to their rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from medhelm_spark.adaptation.sampling import (
    MEETS_FILTER_SQL,
    ORDER_KEY_SQL,
    SAMPLE_KEY_SQL,
    medhelm_indices,
)
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import AdapterSpec, RunSpec
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Condition, Sampling, SamplingOrder
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.rows import Frame, rows_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import eval_splits

MAX_BROADCAST = 500_000

_EVALUATED = "d.data_version = i.data_version AND array_contains(d.eval_splits, i.split)"

# Whether a draw `d` contains an instance: one comparison per row, without a sort or join.
DRAWN = f"""
{_EVALUATED}
AND CASE WHEN d.is_listed THEN coalesce(array_contains(i.drawn_by, d.draw_id), false)
         ELSE d.last_key IS NULL OR {SAMPLE_KEY_SQL} <= d.last_key END
"""

LAST_KEYS = f"""
SELECT draw_id, max(sample_key) AS last_key
FROM (SELECT draw_id, max_eval_instances, sample_key,
             row_number() OVER (PARTITION BY draw_id ORDER BY sample_key) AS place
      FROM (SELECT d.draw_id, d.max_eval_instances, {SAMPLE_KEY_SQL} AS sample_key
            FROM {{instances_now}} i JOIN {{draws}} d ON {_EVALUATED}
            WHERE i.perturbation = ''))
WHERE place <= max_eval_instances GROUP BY draw_id
"""

SIZES = """
SELECT draw_id, count(*) AS size FROM {eligible} GROUP BY draw_id
"""

CHOSEN = """
SELECT o.data_version, o.instance_id, collect_set(o.draw_id) AS drawn_by
FROM (SELECT *, row_number() OVER (PARTITION BY draw_id ORDER BY order_key) AS place
      FROM {eligible}) o
LEFT JOIN {places} p ON p.draw_id = o.draw_id AND p.place = o.place
WHERE p.is_taken OR o.place <= o.max_eval_instances
GROUP BY o.data_version, o.instance_id
"""

UNLISTED = "SELECT *, CAST(NULL AS ARRAY<STRING>) AS drawn_by FROM {instances_now}"

LISTED = """
SELECT @hint i.*, c.drawn_by FROM {instances_now} i
LEFT JOIN {chosen} c ON c.data_version = i.data_version AND c.instance_id = i.instance_id
"""


def _eligible_sql(has_filter: bool) -> str:
    """The keys of every instance that a draw may take; texts are read for a filter only."""
    meets = f" AND {MEETS_FILTER_SQL}" if has_filter else ""
    return f"""
SELECT d.draw_id, d.max_eval_instances, i.data_version, i.instance_id, {ORDER_KEY_SQL} AS order_key
FROM {{instances_now}} i JOIN {{draws}} d ON {_EVALUATED}{meets}
WHERE i.perturbation = ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which instances of a data version are evaluated: the first `max_eval_instances` in order.

    `last_key` is the sample key of the last one, None if all are drawn. If `is_listed`, the column
    `drawn_by` of the instances has the ids of the draws that contain them.
    """

    draw_id: str
    data_version: str
    seed: str
    max_eval_instances: int | None
    eval_splits: tuple[str, ...]
    sampling_order: SamplingOrder = SamplingOrder.HASH
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    is_listed: bool = False
    last_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastKey:
    """The last sample key of a draw."""

    draw_id: str
    last_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many instances a draw may take from."""

    draw_id: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position, counted from 1 in the source's order, that a draw takes."""

    draw_id: str
    place: int
    is_taken: bool = True


def draws_of(
    ctx: Context, instances: Frame, specs: Iterable[RunSpec]
) -> tuple[dict[str, Sample], Frame]:
    """The draw of each RunSpec by run_spec_id, and the instances with the column `drawn_by`.

    The number of jobs does not grow with the number of RunSpecs.
    """
    drawn = {spec.run_spec_id: _draw(spec) for spec in specs}
    sampled = {
        draw.draw_id: draw
        for draw in drawn.values()
        if draw.max_eval_instances is not None and not draw.is_listed
    }
    if sampled:
        frame = ctx.lake.frame(sampled.values(), Sample)
        last_keys = rows_of(
            ctx.lake.query(LAST_KEYS, draws=frame, instances_now=instances), LastKey
        )
        ends = {row.draw_id: row.last_key for row in last_keys}
        drawn = {
            unit: replace(draw, last_key=ends.get(draw.draw_id)) for unit, draw in drawn.items()
        }
    listed = {draw.draw_id: draw for draw in drawn.values() if draw.is_listed}
    return drawn, _marked(ctx, instances, list(listed.values()))


def _marked(ctx: Context, instances: Frame, listed: Sequence[Sample]) -> Frame:
    """The instances with the ids of the listed draws that contain them, as `drawn_by`."""
    if not listed:
        return ctx.lake.query(UNLISTED, instances_now=instances)
    sizes = _sizes(ctx, instances, listed)
    draws, positions = [], []
    for draw in listed:
        size = sizes.get(draw.draw_id, 0)
        limit = size if draw.max_eval_instances is None else min(draw.max_eval_instances, size)
        named = _positions(draw, size, limit)
        draws.append(replace(draw, max_eval_instances=0 if named else limit))
        positions += named
    chosen = ctx.lake.query(
        CHOSEN,
        eligible=_eligible(ctx, instances, draws),
        places=ctx.lake.frame(positions, Position),
    )
    many = len(positions) + sum(draw.max_eval_instances or 0 for draw in draws)
    hint = "/*+ BROADCAST(c) */ " if many <= MAX_BROADCAST else ""
    return ctx.lake.query(LISTED.replace("@hint ", hint), instances_now=instances, chosen=chosen)


def _eligible(ctx: Context, instances: Frame, draws: Sequence[Sample]) -> Frame:
    frame = ctx.lake.frame(draws, Sample)
    sql = _eligible_sql(any(draw.conditions for draw in draws))
    return ctx.lake.query(sql, instances_now=instances, draws=frame)


def _sizes(ctx: Context, instances: Frame, listed: Sequence[Sample]) -> dict[str, int]:
    sizes = rows_of(ctx.lake.query(SIZES, eligible=_eligible(ctx, instances, listed)), Size)
    return {row.draw_id: row.size for row in sizes}


def _positions(draw: Sample, size: int, limit: int) -> list[Position]:
    """The positions of a part in MedHELM's order; other orders need only the last one."""
    if draw.sampling_order is not SamplingOrder.MEDHELM or limit == size:
        return []
    taken = medhelm_indices(int(draw.seed), size, limit)
    return [Position(draw_id=draw.draw_id, place=index + 1) for index in taken]


def refuse_empty(ctx: Context, specs: Iterable[RunSpec]) -> None:
    """Refuse a filter that no instance meets.

    Raises:
        ConfigError: names the run and the filter's columns.
    """
    filtered = [spec for spec in specs if spec.sampling and spec.sampling.filter]
    if not filtered:
        return
    versions = sorted({spec.data_version for spec in filtered})
    instances = ctx.current("instances", INGEST, versions, "data_version")
    draws = {draw.draw_id: draw for draw in map(_draw, filtered)}
    sizes = _sizes(ctx, instances, list(draws.values()))
    for spec in filtered:
        if _draw(spec).draw_id not in sizes:
            columns = ", ".join(spec.sampling.filter if spec.sampling else ())
            raise ConfigError(
                f"{spec.name}: no instance of scenario {spec.scenario_name!r} in "
                f"{' or '.join(eval_splits(spec.adapter_spec))} meets the sampling filter "
                f"(columns: {columns})."
            )


def draw_id(adapter: AdapterSpec, data_version: str, sampling: Sampling = EVERY_INSTANCE) -> str:
    """A hash of a draw: data version, seed, size, splits, and the order and filter if any."""
    own = () if _is_plain(sampling) else (sampling.order, sampling.filter)
    return content_id(
        data_version, sampling.seed, adapter.max_eval_instances, eval_splits(adapter), *own
    )


def _is_plain(sampling: Sampling) -> bool:
    return sampling.order is SamplingOrder.HASH and not sampling.filter


def _draw(spec: RunSpec) -> Sample:
    adapter, sampling = spec.adapter_spec, spec.sampling or EVERY_INSTANCE
    return Sample(
        draw_id=draw_id(adapter, spec.data_version, sampling),
        data_version=spec.data_version,
        seed=str(sampling.seed),
        max_eval_instances=adapter.max_eval_instances,
        eval_splits=eval_splits(adapter),
        sampling_order=sampling.order,
        conditions=sampling.filter,
        is_listed=not _is_plain(sampling),
    )
