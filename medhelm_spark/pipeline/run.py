"""Runs the stages in their order."""

from dataclasses import dataclass, replace

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import ANNOTATE, INFER, SCORE, SUMMARIZE, UPTO, Stage
from medhelm_spark.errors import LakeError, is_interrupt
from medhelm_spark.governance.stated_levels import with_levels
from medhelm_spark.lake.maintenance import merge_small_files
from medhelm_spark.pipeline.prepare import Prepared
from medhelm_spark.pipeline.rescore import Rescored, enter_rescored, others_of, rescored
from medhelm_spark.pipeline.suite_models import StaleModel, on_other_data, others_left, runs_of
from medhelm_spark.stages.annotate.follow_ups import follow_ups
from medhelm_spark.stages.annotate.stage import annotate
from medhelm_spark.stages.comparability import outdated
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.stages.score.stage import score
from medhelm_spark.stages.summarize.stage import summarize


def evaluate(
    prepared: Prepared, *, upto: Stage, retry_failed: bool
) -> tuple[int, tuple[StaleModel, ...]]:
    """Run the stages after `prepare`, each only for what is missing.

    Returns how many requests were sent, and the suite's other models that keep an earlier
    definition.
    """
    stages = UPTO[: UPTO.index(upto) + 1]
    work = _Work(prepared, retry_failed=retry_failed, is_judged=ANNOTATE in stages)
    try:
        for stage in stages:
            work.do(stage)
    finally:
        if prepared.engine:
            prepared.engine.end()
    others = work.finish()
    merge_files(prepared.ctx)
    return work.calls, others


def merge_files(ctx: Context) -> None:
    """Merge the small files of many runs; a failure changes no result and is only printed."""
    try:
        merged = merge_small_files(ctx.lake)
    except LakeError:
        raise
    except Exception as error:  # delta-rs and Spark have errors of their own
        if is_interrupt(error):
            raise
        ctx.say(f"lake: small files were not merged ({type(error).__name__})")
        return
    if merged:
        files = counted(sum(merged.values()), "small file")
        ctx.say(f"lake: merged {files} of {counted(len(merged), 'table')}")


class _Work:
    """The stages of one evaluation, and the state that they pass on."""

    def __init__(self, prepared: Prepared, *, retry_failed: bool, is_judged: bool) -> None:
        self._prepared, self._retry = prepared, retry_failed
        self._ctx, self._specs = prepared.ctx, prepared.specs
        self._rescoring: _Rescoring | None = None
        self._follow_ups = follow_ups(self._specs, prepared.judging) if is_judged else None
        self.calls = 0

    def do(self, stage: Stage) -> None:
        """Run one stage; `prepare` has ingested and planned."""
        steps = {INFER: self._infer, ANNOTATE: self._annotate, SCORE: self._score}
        steps[SUMMARIZE] = self._summarize
        if step := steps.get(stage):
            step()

    def _infer(self) -> None:
        models = replace(self._prepared.models, retry_failed=self._retry)
        units = [spec.run_spec_id for spec in self._specs]
        self.calls += infer(self._ctx, units, models, self._follow_ups)

    def _annotate(self) -> None:
        judging = replace(self._prepared.judging, retry_failed=self._retry)
        self.calls += annotate(self._ctx, self._specs, judging, self._follow_ups)

    def _score(self) -> None:
        self._rescoring = rescoring = _rescoring(self._prepared)
        specs = [*self._specs, *rescoring.moved.specs]
        score(self._ctx, [*specs, *outdated(self._ctx, rescoring.unchanged)])

    def _summarize(self) -> None:
        rescoring = self._rescoring or _rescoring(self._prepared)
        summarize(self._ctx, [*self._specs, *rescoring.moved.specs, *rescoring.unchanged])

    def finish(self) -> tuple[StaleModel, ...]:
        """Add runs scored by a changed definition; returns the models that keep theirs."""
        if self._rescoring is None:
            return ()
        enter_rescored(self._ctx, self._rescoring.moved)
        return self._rescoring.stale


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rescoring:
    """The other runs of a suite, beside those of an evaluation."""

    moved: Rescored
    """The runs that are scored by the current definition, from stored answers."""
    unchanged: list[RunSpec]
    """The runs that stay as they are."""
    stale: tuple[StaleModel, ...]
    """The models that keep an earlier definition."""


def _rescoring(prepared: Prepared) -> _Rescoring:
    ctx, workspace = prepared.ctx, prepared.workspace
    current = current_runs(ctx)
    rows = others_of(ctx, current, prepared.specs)
    others = runs_of(rows, prepared.entries, workspace)
    runs = {run.name: run for run in with_levels(list(others.values()), prepared.levels)}
    moved, left = rescored(ctx, rows, runs, prepared.versions, workspace.registry.policy)
    names = {run.name for run in moved.runs}
    return _Rescoring(
        moved=moved,
        unchanged=[row.run_spec for row in current if row.name not in names],
        stale=others_left(left, on_other_data(current, prepared.specs, prepared.versions)),
    )
