"""Results of MedHELM's and HELM's own into a suite, and a folder's releases into the lake."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medhelm_spark import features
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.helm_results import (
    HELM_RESULTS,
    SUFFIX,
    HelmFiles,
    NotImported,
    Surveyed,
)
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import ScenarioVersion, Verified
from medhelm_spark.domain.stages import IMPORT_HELM
from medhelm_spark.governance.declassification import approved_levels, lowered_level
from medhelm_spark.governance.purges import refuse_purged
from medhelm_spark.lake.user import this_user
from medhelm_spark.medhelm_results import rows
from medhelm_spark.medhelm_results.folder import HelmFolder, find_results
from medhelm_spark.medhelm_results.import_stage import (
    HelmImport,
    HelmReading,
    Known,
    import_helm,
    imported_already,
    known_instances,
    stricter_levels,
    survey,
)
from medhelm_spark.medhelm_results.spec import HelmRun, helm_run, run_specs, why_not_rescored
from medhelm_spark.medhelm_results.stats import (
    Key,
    TheirStat,
    board_rows,
    counted_names,
    read_stats,
    stat_rows,
)
from medhelm_spark.medhelm_results.stream import BrokenFileError
from medhelm_spark.medhelm_results.survey import Survey
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.render.table import html_table
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.score.stage import score
from medhelm_spark.stages.summarize.stage import summarize
from medhelm_spark.workspace.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from medhelm_spark.board.results import Board


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmResults:
    """What came of a folder of MedHELM's or HELM's results.

    `read` counts the folder's runs: each is `imported`, was there `already`, or is `left_out` with
    the reason. `releases` are those of the folder that are releases of the lake now, status
    `external`. `rescored` names the runs whose stored text was scored here too.
    """

    suite: str
    read: int
    imported: tuple[str, ...]
    already: tuple[str, ...]
    left_out: tuple[NotImported, ...]
    releases: tuple[str, ...] = ()
    rescored: tuple[str, ...] = ()
    board: "Board | None" = field(default=None, repr=False)

    HEADER = ("name", "outcome", "reason")

    @property
    def broken(self) -> tuple[NotImported, ...]:
        """The runs left out that no other run replaces."""
        return tuple(each for each in self.left_out if not each.is_copy)

    @property
    def account(self) -> str:
        """Where every run went, in a line: `read 3 runs = 2 imported + 1 left out`."""
        parts = [f"{len(self.imported)} imported"]
        parts += [f"{len(self.already)} there already"] if self.already else []
        parts += [f"{len(self.left_out)} left out"] if self.left_out else []
        return f"read {counted(self.read, 'run')} = {' + '.join(parts)}"

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run of the folder."""
        for outcome, names in (("imported", self.imported), ("already", self.already)):
            for name in names:
                yield {"name": name, "outcome": outcome, "reason": ""}
        for each in self.left_out:
            yield {"name": each.name, "outcome": "left out", "reason": each.reason}

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()), columns=list(self.HEADER))

    def __str__(self) -> str:
        return f"{self.account}\n\n{self.board}" if self.board else self.account

    def _repr_html_(self) -> str:
        table = html_table(self.HEADER, [list(row.values()) for row in self.rows()], [self.account])
        return table + (self.board._repr_html_() if self.board else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A run whose small files are read: what it is here, its stats, and where its files are."""

    run: HelmRun
    files: HelmFiles
    stats: Mapping[Key, TheirStat]
    fingerprint: str

    @property
    def is_large(self) -> bool:
        """Whether it has files of single instances."""
        return self.run.folder.path.is_dir()


def import_results(
    workspace: Workspace,
    path: str | Path,
    suite: str,
    *,
    access_level: AccessLevel | None = None,
    rescore: bool = False,
) -> HelmResults:
    """Take a folder's results over into a suite, score and summarise them, pin its releases.

    Args:
        workspace: the lake and its configuration.
        path: the folder: an output folder of HELM's, or one suite or run of it.
        suite: the suite that the runs belong to.
        access_level: who may have the text (None: as the card of the scenario says, else private).
        rescore: whether stored answers are scored here too, as runs of their own.

    Raises:
        ConfigError: there is no run in the folder.
    """
    folder = find_results(Path(path).expanduser())
    ready, left_out = _ready(folder, workspace, access_level, rescore=rescore)
    refuse_purged(workspace, {each.files.scenario_name for each in ready})
    levels = {each.files.access_level for each in ready}
    check_plugins(workspace.registry.policy, levels)
    _print_raised(workspace, ready)
    workspace.expect(levels)
    ctx = workspace.context(suite)
    ctx.ledger.check()  # refuses a lake of a newer schema before anything is written
    ready = _at_stored_levels(ctx, ready, workspace.registry.policy, rescore=rescore)
    check_plugins(workspace.registry.policy, {each.files.access_level for each in ready})
    already = imported_already(ctx, {each.run.folder.name: each.fingerprint for each in ready})
    new = [each for each in ready if each.run.folder.name not in already]
    imports, broken = _imports(ctx, folder, new, access_level, rescore=rescore)
    specs = [spec for run_specs in already.values() for spec in run_specs]
    specs += [spec for each in imports for spec in each.specs]
    score(ctx, specs)
    summarize(ctx, specs)
    done = HelmResults(
        suite=suite,
        read=folder.read,
        imported=tuple(each.files.name for each in imports),
        already=tuple(sorted(already)),
        left_out=(*left_out, *broken),
        releases=_pin_releases(ctx, folder, specs, workspace.registry.policy),
        rescored=tuple(each.files.name for each in imports if len(each.specs) > 1),
    )
    for each in done.left_out:
        workspace.say(f"{IMPORT_HELM.name}: left out {each.name}: {each.reason}")
    workspace.say(f"{IMPORT_HELM.name}: {done.account}")
    return done


def _ready(
    folder: HelmFolder, workspace: Workspace, stated: AccessLevel | None, *, rescore: bool
) -> tuple[list[_Ready], list[NotImported]]:
    """The runs by their small files alone, and those that cannot be imported."""
    left_out = list(folder.left_out)
    ready = []
    for run_folder in folder.runs:
        try:
            run = helm_run(run_folder, folder, workspace.registry.cards, stated)
            stats = read_stats(run_folder)
        except BrokenFileError as error:
            left_out.append(
                NotImported(name=f"{run_folder.suite}/{run_folder.name}", reason=str(error))
            )
            continue
        ready.append(_ready_run(run, stats, rescore=rescore))
    return ready, left_out


def _ready_run(run: HelmRun, stats: Mapping[Key, TheirStat], *, rescore: bool) -> _Ready:
    revision = run.folder.revision
    files = HelmFiles(
        path=str(run.folder.path.absolute()),
        name=run.folder.name,
        scenario_name=run.scenario_name,
        model_deployment=run.deployment,
        access_level=run.access_level,
        revision=revision,
    )
    fingerprint = IMPORT_HELM.fingerprint(
        run.folder.name,
        revision,
        run.scenario_name,
        run.access_level,
        run.main_metric,
        run.main_split,
        rescore,
    )
    return _Ready(run=run, files=files, stats=stats, fingerprint=fingerprint)


def _at_stored_levels(
    ctx: Context, ready: Sequence[_Ready], policy: Policy, *, rescore: bool
) -> list[_Ready]:
    """The runs, each at the lake's level where the lake has its text at a stricter one.

    Where a recorded lowering of just that data is approved, a run has its stated level, if that
    level is not lower still.
    """
    approvals = policy.binding_approvals
    large = [each.files for each in ready if each.is_large]
    names = set(approved_levels(ctx, approvals))
    levels = stricter_levels(ctx, large, _READING.texts, names) if large else {}
    again = [run for run in large if run.scenario_name in names & levels.keys()]
    known = known_instances(ctx, {run.scenario_name for run in again}, _READING.contents)
    surveyed = survey(ctx, again, _READING.survey(known)) if again else {}
    at_levels = []
    for each in ready:
        own, name = each.run.access_level, each.files.scenario_name
        level = strictest([own, levels.get(name, own)])
        if read := surveyed.get(each.files.path):
            version = _version(name, level, read, each.files.revision)
            level = strictest([own, lowered_level(ctx, level, version, approvals)])
        if level is not own:
            run = replace(each.run, access_level=level)
            each = _ready_run(run, each.stats, rescore=rescore)
        at_levels.append(each)
    return at_levels


def _version(scenario: str, level: AccessLevel, read: Surveyed, revision: str) -> str:
    return IMPORT_HELM.fingerprint(scenario, level, read.instances or revision)


def _print_raised(workspace: Workspace, ready: Sequence[_Ready]) -> None:
    guarded = sorted({each.files.scenario_name for each in ready if each.run.is_guarded})
    if guarded:
        workspace.say(
            f"{IMPORT_HELM.name}: stored as private, because HELM read the data from a path: "
            f"{first_of(guarded)}; --access-level public says that anyone may have it"
        )


def _imports(
    ctx: Context,
    folder: HelmFolder,
    ready: Sequence[_Ready],
    stated: AccessLevel | None,
    *,
    rescore: bool,
) -> tuple[list[HelmImport], list[NotImported]]:
    """Read the large files and write their rows; returns what was written and what was broken."""
    if not ready:
        return [], []
    large = [each.files for each in ready if each.is_large]
    known: Known = {}
    surveyed: Mapping[str, Surveyed] = {}
    if large:
        names = {each.scenario_name for each in large}
        known = known_instances(ctx, names, _READING.contents)
        surveyed = survey(ctx, large, _READING.survey(known))
    imports, broken = [], []
    for each in ready:
        read = surveyed.get(each.files.path, Surveyed(path=each.files.path))
        problem = read.problem or (
            "" if read.stats or counted_names(each.stats) else "it has no value"
        )
        if problem:
            name = f"{each.run.folder.suite}/{each.run.folder.name}"
            broken.append(NotImported(name=name, reason=problem))
            continue
        imports.append(_import(folder, each, read, stated, rescore=rescore))
        if rescore and (why := why_not_rescored(each.run, read)):
            ctx.say(f"{IMPORT_HELM.name}: not scored here: {each.run.folder.name}: {why}")
    unread = sum(surveyed[each.files.path].unread for each in imports if each.surveyed.states)
    if unread:
        ctx.say(f"{IMPORT_HELM.name}: {counted(unread, 'verdict')} of an unknown form")
    import_helm(ctx, imports, known, _READING)
    return imports, broken


def _tables(known: Known) -> dict[str, Any]:
    return {
        "instances": rows.HelmInstances(known),
        "prompts": rows.FromStates(rows.prompts, known),
        "requests": rows.FromStates(rows.requests, known),
        "request_results": rows.FromStates(rows.results, known),
        "annotations": rows.FromStates(rows.annotations, known),
        "per_instance_stats": rows.StatsOfInstances(known),
    }


_READING = HelmReading(contents=rows.Contents(), texts=rows.Texts(), survey=Survey, tables=_tables)


def _import(
    folder: HelmFolder, each: _Ready, read: Surveyed, stated: AccessLevel | None, *, rescore: bool
) -> HelmImport:
    files = each.files
    version = _version(files.scenario_name, files.access_level, read, files.revision)
    names = sorted(read.stats or counted_names(each.stats))
    specs = run_specs(
        each.run,
        folder,
        read,
        revision=each.files.revision,
        data_version=version,
        stats=names,
        is_rescored=rescore,
    )
    files = replace(
        each.files,
        data_version=version,
        run_spec_ids=tuple(spec.run_spec_id for spec in specs),
        tables=_tables_of(read),
    )
    card = each.run.card
    return HelmImport(
        files=files,
        surveyed=read,
        specs=specs,
        scenario=_scenario(each, read, version, stated),
        fingerprint=each.fingerprint,
        stats=tuple(stat_rows(each.stats, specs[0], read.instances)),
        board_stats=() if read.stats else tuple(board_rows(each.stats, specs[0])),
        part_of=each.run.part_of,
        documents=json.dumps(each.run.folder.documents),
        is_disjoint=card.parts.disjoint if card and each.run.part_of else None,
    )


def _tables_of(read: Surveyed) -> tuple[str, ...]:
    """The tables that a run's large files have rows of."""
    answered = ("request_results",) if read.answers else ()
    judged = ("annotations",) if read.verdicts else ()
    valued = ("per_instance_stats",) if read.stats else ()
    return ("prompts", "requests", *answered, *judged, *valued)


def _scenario(
    each: _Ready, read: Surveyed, version: str, stated: AccessLevel | None
) -> ScenarioVersion:
    card = each.run.card
    return ScenarioVersion(
        scenario_name=each.files.scenario_name,
        data_version=version,
        card_hash=content_id(HELM_RESULTS),
        access_level=each.files.access_level,
        display_name=card.display_name if card else each.files.scenario_name,
        category=card.category if card else "",
        subcategory=card.subcategory if card else "",
        main_metric=each.run.main_metric,
        main_split=each.run.main_split,
        verified=Verified.NEVER,
        num_instances=sum(read.splits.values()),
        num_quarantined=0,
        source=HELM_RESULTS,
        level_stated_by=this_user() if stated else None,
    )


def _pin_releases(
    ctx: Context, folder: HelmFolder, specs: Sequence[RunSpec], policy: Policy
) -> tuple[str, ...]:
    """The folder's releases as releases of the lake, each by its own name.

    One whose name a release of this lake's own has is not written.
    """
    releases = features.part("releases", "external")
    if releases is None:
        if folder.releases:
            ctx.say(f"{IMPORT_HELM.name}: releases are not taken over: the feature is not here")
        return ()
    imported = {spec.name.removesuffix(SUFFIX) for spec in specs if spec.name.endswith(SUFFIX)}
    statuses = releases.own_releases(ctx)
    pinned = []
    for release in folder.releases:
        names = {name + SUFFIX for name in release.runs if name in imported}
        if release.name in statuses:
            ctx.say(
                f"{IMPORT_HELM.name}: release {release.name!r} is not taken over: this lake has "
                f"one of that name, status {statuses[release.name]}"
            )
        elif not names:
            ctx.say(f"{IMPORT_HELM.name}: release {release.name!r} has no run that was imported")
        else:
            releases.pin_external(ctx, release.name, names, policy)
            pinned.append(release.name)
            if absent := len(release.runs) - len(names):
                ctx.say(
                    f"{IMPORT_HELM.name}: release {release.name!r} lacks "
                    f"{counted(absent, 'run')} of its own, which "
                    f"{'was' if absent == 1 else 'were'} left out"
                )
    return tuple(pinned)
