"""One look at a release, from requests to the rows of its results."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.board.sources import as_of
from medhelm_spark.domain.stages import WATCH
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.reader import Reader
from medhelm_spark.stages.context import now
from medhelm_spark.watch.answers import changed_shares
from medhelm_spark.watch.ask import AskedLook, ask
from medhelm_spark.watch.baseline import (
    LookOptions,
    WatchedRelease,
    WatchedRun,
    watched_release,
)
from medhelm_spark.watch.fingerprints import engines_of, fingerprints_of
from medhelm_spark.watch.lines import DriftLine, decided, lines_of_run
from medhelm_spark.watch.tables import DriftVerdict, WatchedPart, WatchLook, WatchResult
from medhelm_spark.workspace.workspace import Workspace


def look_at(workspace: Workspace, release: str, options: LookOptions) -> list[WatchResult]:
    """Ask a release's runs again, compare, and store what was found.

    Raises:
        ConfigError, LakeError, UnknownNameError: as `watched_release`.
        PolicyError, OutageError: as `ask`.
    """
    watched = watched_release(workspace, release, options)
    asked = ask(workspace, watched, options.sample)
    rows = _rows(workspace, watched, asked, options)
    ctx = asked.ctx.within(WATCH)
    ctx.lake.append_rows("watch_results", rows, new_write_id())
    return rows


def _rows(
    workspace: Workspace, watched: WatchedRelease, asked: AskedLook, options: LookOptions
) -> list[WatchResult]:
    reader, row = workspace.reader, asked.row
    versions = {run.board_run.run_spec.data_version for run in watched.runs}
    frozen = as_of(reader, watched.name, [*row.looked, *sorted(versions)])
    changed = changed_shares(asked, watched.deployments)
    blanks = [_blank(run, row) for run in watched.runs]
    lines: list[DriftLine] = []
    for run, looked, blank in zip(watched.runs, row.looked, blanks, strict=True):
        lines += lines_of_run(
            frozen,
            run,
            looked,
            blank,
            changed=changed.get(run.board_run.run_spec.run_spec_id, {}),
            answers_margin=options.answers_margin,
            coverage_floor=workspace.coverage_floor,
            minimum=workspace.registry.policy.small_cells.minimum,
        )
    earlier = [
        each for each in results_of(reader, watched.name, row.manifest_hash) if each.look < row.look
    ]
    return [
        *decided(lines, earlier, row.look),
        *_fingerprints(reader, frozen, watched.runs, row, blanks),
    ]


def _blank(run: WatchedRun, row: WatchLook) -> WatchResult:
    """What all lines of a run have in common."""
    spec = run.board_run.run_spec
    return WatchResult(
        release=row.release,
        manifest_hash=row.manifest_hash,
        look=row.look,
        looked_at=now(),
        part=WatchedPart.SCORES,
        run_spec_id=spec.run_spec_id,
        scenario_name=spec.scenario_name,
        model_deployment=spec.model_deployment,
        name=spec.main_metric,
        group_column="",
        group_value="",
        access_level=spec.access_level,
        verdict=DriftVerdict.OPEN,
    )


def _fingerprints(
    reader: Reader,
    frozen: Reader,
    runs: Sequence[WatchedRun],
    row: WatchLook,
    blanks: Sequence[WatchResult],
) -> list[WatchResult]:
    before = engines_of(frozen, row.run_spec_ids)
    engines = before | engines_of(reader, row.looked)
    made = []
    for run, looked, blank in zip(runs, row.looked, blanks, strict=True):
        for each in fingerprints_of(reader, run, looked, engines):
            made.append(
                replace(
                    blank,
                    part=WatchedPart.FINGERPRINT,
                    name=each.name,
                    reason=each.reason,
                    verdict=DriftVerdict.MOVED if each.reason else DriftVerdict.SAME,
                )
            )
    return made


def results_of(reader: Reader, release: str, manifest_hash: str | None = None) -> list[WatchResult]:
    """The rows of all looks at a release, oldest first; of one manifest, or of all."""
    rows = reader.rows("SELECT * FROM {watch_results}", WatchResult)
    own = (row for row in rows if row.release == release)
    selected = [row for row in own if manifest_hash in (None, row.manifest_hash)]
    return sorted(selected, key=lambda row: (row.looked_at, row.look))
