"""summarize: per_instance_stats -> stats, every mean with its counts and its interval."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import MetricSpec, RunSpec
from medhelm_spark.domain.stats import MetricInfo, Stat
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.metrics import info
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.run_level import run_stats, versions
from medhelm_spark.stages.run_specs import current_runs
from medhelm_spark.stages.score import STAGE as SCORE
from medhelm_spark.statistics.summary import clipped
from medhelm_spark.statistics.summary import summarize as summary_of

STAGE = "summarize"
VERSION = "1"
SEED = 0

# Equal values are counted, so what reaches Python per stat is bounded by its distinct values.
HISTOGRAMS = """
SELECT run_spec_id, name, split, perturbation,
       sum(CASE WHEN value IS NULL THEN rows ELSE 0 END) AS num_unscored,
       sort_array(collect_list(CASE WHEN value IS NOT NULL
                                    THEN named_struct('value', value, 'rows', rows) END))
       AS histogram
FROM (SELECT run_spec_id, split, perturbation, stat.name, stat.value, count(*) AS rows
      FROM (SELECT run_spec_id, split, perturbation, explode(stats) AS stat FROM {scored})
      GROUP BY run_spec_id, split, perturbation, stat.name, stat.value)
GROUP BY run_spec_id, name, split, perturbation
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRows:
    """How many rows have a value."""

    value: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """All values of one stat of one RunSpec on one split, in order, each with its rows."""

    run_spec_id: str
    name: str
    split: str
    perturbation: str
    num_unscored: int
    histogram: tuple[ValueRows, ...]


@dataclass(frozen=True, slots=True)
class Summarizer:
    """The function of this stage; each RunSpec's metrics say which stats are proportions."""

    metrics: Mapping[str, tuple[MetricSpec, ...]]

    def __call__(self, histograms: Iterable[Histogram]) -> Iterator[Stat]:
        for row in histograms:
            scale = info(row.name, self.metrics[row.run_spec_id])
            if scale.has_mean:
                yield _stat(row, scale)


def _stat(row: Histogram, scale: MetricInfo) -> Stat:
    pairs = [(entry.value, entry.rows) for entry in row.histogram]
    proportion = (scale.minimum, scale.maximum) == (0.0, 1.0) and not scale.clips_mean
    made = summary_of(pairs, row.num_unscored, SEED, may_be_binary=proportion)
    if scale.clips_mean:
        made = clipped(made, scale.minimum, scale.maximum)
    return Stat(
        run_spec_id=row.run_spec_id,
        name=row.name,
        split=row.split,
        perturbation=row.perturbation,
        **{field.name: getattr(made, field.name) for field in fields(made)},
    )


def summarize(ctx: Context, specs: Sequence[RunSpec]) -> int:
    """Summarise the RunSpecs that were scored anew or have a changed metric; returns how many."""
    started_at, write_id = now(), new_write_id()
    units = [spec.run_spec_id for spec in specs]
    scored, done = ctx.finished(SCORE, units), ctx.finished(STAGE, units)
    unique = {spec.run_spec_id: spec for spec in specs}
    prints = {
        key: content_id(STAGE, VERSION, scored[key].write_id, versions(unique[key].metrics))
        for key in scored
    }
    todo = {
        key: value
        for key, value in prints.items()
        if key not in done or done[key].fingerprint != value
    }
    if todo:
        _write(ctx, [unique[key] for key in todo], write_id)
        ctx.record(STAGE, todo, write_id, started_at)
    ctx.say(f"{STAGE}: {len(todo)} of {len(set(units))} run specs summarised anew")
    return len(todo)


def _write(ctx: Context, specs: Sequence[RunSpec], write_id: str) -> None:
    scores = ctx.current("per_instance_stats", SCORE, [spec.run_spec_id for spec in specs])
    histograms = ctx.lake.query(HISTOGRAMS, scored=scores)
    summarizer = Summarizer({spec.run_spec_id: spec.metrics for spec in specs})
    made = map_rows(histograms, summarizer, Histogram, Stat)
    of_runs = run_stats(ctx, scores, specs, SEED)
    if of_runs is not None:
        made = made.union(of_runs)
    ctx.lake.append("stats", made.coalesce(1), write_id)


def completed(ctx: Context) -> set[str]:
    """The names of the suite's current runs that have been summarised."""
    current = current_runs(ctx)
    done = ctx.finished(STAGE, [row.run_spec_id for row in current])
    return {row.name for row in current if row.run_spec_id in done}
