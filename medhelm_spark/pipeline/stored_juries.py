"""The jury of stored runs: its rubric and judges from the site's current files."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.run import AnnotatorSpec, SuiteRun
from medhelm_spark.errors import ConfigError
from medhelm_spark.pipeline.suite_models import runs_of
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace


def resolved_annotator(
    workspace: Workspace,
    rows: Sequence[SuiteRun],
    spec: AnnotatorSpec,
    entries: LoadedEntries | None,
) -> ResolvedAnnotator:
    """The annotator with its rubric and judges: from the run entries, else from the site's files.

    Args:
        workspace: the site.
        rows: runs that the annotator judged.
        spec: the annotator.
        entries: run entries, where rubric or jury are in a benchmark's own files.

    Raises:
        ConfigError: rubric or jury is in no file of the site, or no entry is of a run.
    """
    if entries is not None:
        own = [
            annotator
            for entry in entries.entries  # one by one: two juries' runs may have one name
            for run in runs_of(rows, replace(entries, entries=(entry,)), workspace).values()
            for annotator in run.annotators
            if annotator.spec.name == spec.name
        ]
        if own:
            return next((annotator for annotator in own if annotator.spec == spec), own[0])
        judged = sorted(row.name for row in rows if spec in row.run_spec.annotators)
        raise ConfigError(
            f"-r (--run-entries): no entry is of a run that annotator {spec.name!r} judged; it "
            f"judged {' and '.join(judged)}: an entry needs the same arguments."
        )
    registry = workspace.registry
    rubric, jury = registry.rubrics.get(spec.rubric), registry.juries.get(spec.jury)
    if rubric is None or jury is None:
        lacking = f"rubric {spec.rubric!r}" if rubric is None else f"jury {spec.jury!r}"
        raise ConfigError(
            f"{lacking} is in no file of the site: a benchmark's own files have it; name the run "
            "entries by -r (--run-entries), as for `run`."
        )
    return ResolvedAnnotator(
        spec=spec,
        rubric=rubric,
        jury=jury,
        deployments=tuple(
            registry.resolve_model(judge.model, judge.model_deployment) for judge in jury.judges
        ),
    )
