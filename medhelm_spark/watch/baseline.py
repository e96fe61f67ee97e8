"""What a watch asks again: the runs of a release, each with its margin, model and juries."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from medhelm_spark.board import BoardRun, choose
from medhelm_spark.board.schema import shown_runs
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError
from medhelm_spark.pipeline.stored_juries import resolved_annotator
from medhelm_spark.releases.source import release_of
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.names import check_known
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class LookOptions:
    """The options of a look."""

    sample: int | None = None
    margin: float | None = None
    answers_margin: float | None = None
    models: Collection[str] = ()
    scenarios: Collection[str] = ()
    metric: str | None = None
    entries: LoadedEntries | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRun:
    """A run of the release that is asked again."""

    board_run: BoardRun
    deployment: Deployment
    annotators: tuple[ResolvedAnnotator, ...]
    margin: float
    """In the units of its main metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRelease:
    """A release and its runs that are asked again."""

    name: str
    manifest_hash: str
    runs: tuple[WatchedRun, ...]

    @property
    def deployments(self) -> dict[str, Deployment]:
        """The models, by name."""
        return {run.deployment.name: run.deployment for run in self.runs}

    @property
    def judges(self) -> dict[str, Deployment]:
        """The judges, by name."""
        return {
            each.name: each
            for run in self.runs
            for annotator in run.annotators
            for each in annotator.deployments
        }


def watched_release(workspace: Workspace, release: str, options: LookOptions) -> WatchedRelease:
    """The runs of a release that can be asked again; those of imported answers cannot.

    Raises:
        LakeError: the lake does not have it.
        IntegrityError: a value behind its board was changed.
        ConfigError: it was withdrawn, nothing of it can be asked, a margin is missing or wider
            than the scale, or a deployment or jury is configured no longer.
        UnknownNameError: no run is of a model or scenario, or has the metric.
    """
    _check_margin("answers_margin (--answers-margin)", options.answers_margin, "a share", 1.0)
    choose(workspace.reader, release=release)
    stored = release_of(workspace.reader, release)
    if stored.state.status is ReleaseStatus.WITHDRAWN:
        raise ConfigError(f"release {release!r} is withdrawn; watch another one.")
    runs = _chosen(shown_runs(workspace, release=release, metric=options.metric).runs, options)
    askable = [run for run in runs if run.planned.engine != IMPORTED]
    if not askable:
        raise ConfigError(
            f"release {release!r}: the answers of its runs were made elsewhere, and no model can "
            "be asked for them again."
        )
    if len(askable) < len(runs):
        workspace.say(f"watch: {len(runs) - len(askable)} runs of imported answers are left out")
    return WatchedRelease(
        name=release,
        manifest_hash=stored.manifest_hash,
        runs=tuple(_watched(workspace, run, options) for run in askable),
    )


def _chosen(runs: Sequence[BoardRun], options: LookOptions) -> list[BoardRun]:
    """The runs of the models and scenarios that were named; of all where none was."""
    models = {run.run_spec.model_deployment for run in runs} | {run.run_spec.model for run in runs}
    for model in options.models:
        check_known("model", model, models)
    for scenario in options.scenarios:
        check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
    return [
        run
        for run in runs
        if (not options.scenarios or run.run_spec.scenario_name in options.scenarios)
        and (
            not options.models
            or {run.run_spec.model, run.run_spec.model_deployment} & set(options.models)
        )
    ]


def _watched(workspace: Workspace, run: BoardRun, options: LookOptions) -> WatchedRun:
    spec = run.run_spec
    deployment = workspace.registry.deployment(spec.model_deployment)
    if deployment is None:
        raise ConfigError(
            f"{spec.name}: deployment {spec.model_deployment!r} is configured no longer; name the "
            "others by --model."
        )
    return WatchedRun(
        board_run=run,
        deployment=deployment,
        annotators=tuple(
            resolved_annotator(workspace, [run.planned], annotator, options.entries)
            for annotator in spec.annotators
        ),
        margin=_margin(run, options.margin),
    )


def _margin(run: BoardRun, requested: float | None) -> float:
    margin = run.planned.margin if requested is None else requested
    if margin is None:
        raise ConfigError(
            f"{run.run_spec.name}: the release has no margin for {run.run_spec.main_metric!r}; "
            "give --margin, a difference too small to matter in the metric's units."
        )
    scale = scale_width(run.info)
    where = "margin (--margin)" if requested is not None else f"{run.run_spec.name}: margin"
    _check_margin(where, margin, f"a difference of {run.run_spec.main_metric!r}", scale)
    return margin


def scale_width(info: MetricInfo | None) -> float | None:
    """How long a metric's scale is; None where an end is open, or single values may leave it."""
    if info is None or info.minimum is None or info.maximum is None or info.clips_mean:
        return None
    return info.maximum - info.minimum


def _check_margin(where: str, margin: float | None, what: str, width: float | None) -> None:
    if margin is None:
        return
    if not 0 < margin < (math.inf if width is None else width):
        below = "" if width is None else f" and below {width:g}"
        raise ConfigError(f"{where} is {margin:g}; allowed: {what} above 0{below}.")
