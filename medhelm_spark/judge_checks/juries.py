"""The jury that a check is about: its annotator, its runs, and its judges now."""

from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.criterion import scale_of
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.run import AnnotatorSpec, RunRecord, RunSpec
from medhelm_spark.domain.stages import ANNOTATE
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.views import current_runs
from medhelm_spark.pipeline.stored_juries import resolved_annotator
from medhelm_spark.stages.annotate.stage import jury_text
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedJury:
    """A jury with the runs of one scenario whose answers it judged."""

    suite: str
    scenario_name: str
    annotator: ResolvedAnnotator
    specs: tuple[RunSpec, ...]

    @property
    def part(self) -> str:
        """The jury as `Stat.comparability` names it."""
        return jury_text([self.annotator])

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges, in the jury's order."""
        return tuple(judge.name for judge in self.annotator.jury.judges)

    @property
    def scale(self) -> MetricInfo:
        """The scale of the mean of the rubric's criteria, high for good; of points 0 to 1."""
        rubric = self.annotator.rubric
        low, high = scale_of(rubric.criteria)
        if rubric.criteria and not rubric.is_typed:
            low = min(each.minimum for each in rubric.criteria)
            high = max(each.maximum for each in rubric.criteria)
        return MetricInfo(name="jury_score", display_name="Jury score", minimum=low, maximum=high)


def checked_jury(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    jury: str | None,
    entries: LoadedEntries | None = None,
    *,
    flag: str = "--jury",
) -> CheckedJury:
    """The jury of a scenario's runs, as the site's files have it now.

    Args:
        workspace: the site and the lake.
        runs: those of one scenario in one suite.
        jury: its name, or that of its annotator or rubric (None: the only one).
        entries: run entries of the scenario, where its rubric or jury is in its own files.
        flag: what names the jury on the command line, for messages.

    Raises:
        ConfigError: no jury judged, the rubric has no criteria, or the jury that judged is not the
            one of the files.
        UnknownNameError: no jury has the name.
    """
    suite, scenario = runs[0].planned.suite, runs[0].run_spec.scenario_name
    annotators = {spec: None for run in runs for spec in run.run_spec.annotators}
    if not annotators:
        raise ConfigError(f"scenario {scenario!r}: no run of suite {suite!r} has a jury.")
    chosen = [spec for spec in annotators if jury in (None, *_names(spec))]
    if not chosen:
        names = {name for spec in annotators for name in _names(spec)}
        raise UnknownNameError("jury", str(jury), names, where=flag)
    if len(chosen) > 1:
        listed = sorted(f"{spec.name} (jury {spec.jury}, rubric {spec.rubric})" for spec in chosen)
        raise ConfigError(
            f"scenario {scenario!r} has {len(chosen)} juries; name one by {flag}, by what no other "
            f"has: {', '.join(listed)}."
        )
    planned = [run.planned for run in runs]
    annotator = resolved_annotator(workspace, planned, chosen[0], entries)
    if not (annotator.rubric.is_per_item or annotator.rubric.criteria):
        raise ConfigError(
            f"rubric {annotator.rubric.name!r} has no criteria of its own; allowed: a rubric with "
            "criteria, or one that is asked item by item."
        )
    specs = _judged_by(workspace, runs, annotator)
    if not specs:
        raise ConfigError(
            f"scenario {scenario!r}: no stored verdict of suite {suite!r} is of jury "
            f"{annotator.jury.name!r} and rubric {annotator.rubric.name!r} as they are now; "
            "medhelm-spark run judges the stored answers anew."
        )
    return CheckedJury(suite=suite, scenario_name=scenario, annotator=annotator, specs=specs)


def _names(spec: AnnotatorSpec) -> tuple[str, ...]:
    return spec.name, spec.jury, spec.rubric


def _judged_by(
    workspace: Workspace, runs: Sequence[BoardRun], annotator: ResolvedAnnotator
) -> tuple[RunSpec, ...]:
    """The runs whose verdicts are of this jury, as the records of annotate say."""
    part = jury_text([annotator])
    units = {run.run_spec.run_spec_id: run.run_spec for run in runs}
    where = f"stage = '{ANNOTATE.name}' AND {among('unit_id', units)}"
    records: list[RunRecord] = workspace.reader.rows(current_runs(where), RunRecord)
    return tuple(
        units[record.unit_id]
        for record in sorted(records, key=lambda record: record.unit_id)
        if record.unit_id in units
        and part in (record.comparability or {}).get(JURY, "").split("; ")
    )
