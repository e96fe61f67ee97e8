"""Draws: which instances of a data version are evaluated, as a condition on each row.

A draw of n takes the n smallest sample keys. Where it ends is found once; from then on an instance
is in or out by one comparison, whatever else it is joined with.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.adaptation.sampling import SAMPLE_KEY_SQL
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import AdapterSpec, RunSpec
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.run_specs import eval_splits

SEED = 0

# Whether a draw `d` holds an instance: a comparison per row, with no sorting and no join.
DRAWN = f"""
d.data_version = i.data_version AND array_contains(d.eval_splits, i.split)
AND (d.last_key IS NULL OR {SAMPLE_KEY_SQL} <= d.last_key)
"""

LAST_KEYS = f"""
SELECT draw_id, max(sample_key) AS last_key
FROM (SELECT draw_id, sample_size, sample_key,
             row_number() OVER (PARTITION BY draw_id ORDER BY sample_key) AS place
      FROM (SELECT d.draw_id, d.sample_size, {SAMPLE_KEY_SQL} AS sample_key
            FROM {{instances_now}} i JOIN {{draws}} d ON {DRAWN}
            WHERE i.perturbation = ''))
WHERE place <= sample_size GROUP BY draw_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Which instances of a data version are evaluated: the first `sample_size` by sample key.

    `last_key` is the sample key of the last one, None where all are drawn.
    """

    draw_id: str
    data_version: str
    seed: str
    sample_size: int | None
    eval_splits: tuple[str, ...]
    last_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastKey:
    """Where a draw ends."""

    draw_id: str
    last_key: str


def draws_of(ctx: Context, instances: DataFrame, specs: Iterable[RunSpec]) -> dict[str, Draw]:
    """The draw of each RunSpec, by run_spec_id; one job whatever their number."""
    drawn = {spec.run_spec_id: _draw(spec) for spec in specs}
    sampled = {draw.draw_id: draw for draw in drawn.values() if draw.sample_size is not None}
    if not sampled:
        return drawn
    frame = F.broadcast(ctx.lake.frame(sampled.values(), Draw))
    found = rows_of(ctx.lake.query(LAST_KEYS, draws=frame, instances_now=instances), LastKey)
    ends = {row.draw_id: row.last_key for row in found}
    return {unit: replace(draw, last_key=ends.get(draw.draw_id)) for unit, draw in drawn.items()}


def draw_id(adapter: AdapterSpec, data_version: str) -> str:
    """What a draw is: its data version, seed, size and splits."""
    return content_id(data_version, SEED, adapter.max_eval_instances, eval_splits(adapter))


def _draw(spec: RunSpec) -> Draw:
    adapter = spec.adapter_spec
    return Draw(
        draw_id=draw_id(adapter, spec.data_version),
        data_version=spec.data_version,
        seed=str(SEED),
        sample_size=adapter.max_eval_instances,
        eval_splits=eval_splits(adapter),
    )
