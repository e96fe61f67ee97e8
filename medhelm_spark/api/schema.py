"""The board as HELM's schema file wants it, and what the file asks for that is not here."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.counting import counted, first_of
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.helm.schema_file import MAIN_NAME, MAIN_SPLIT, Schema, load_schema
from medhelm_spark.leaderboard import (
    BoardRun,
    board_of,
    choose,
    left_out_of,
    load_runs,
    paired,
    release_of,
)
from medhelm_spark.metrics import known_stats
from medhelm_spark.statistics.board import Leaderboard


def schema_of(given: Schema | str | Path | None) -> Schema | None:
    """A schema, read where a file was named."""
    return load_schema(Path(given)) if isinstance(given, str | Path) else given


def load_board(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    suite: str | None = None,
    release: str | None = None,
) -> Leaderboard:
    """The board of these runs of a suite or release, with paired differences and what it lacks."""
    reader = workspace.reader
    left_out = left_out_of(reader, choose(reader, suite, release))
    board = board_of(runs, left_out, coverage_floor=workspace.coverage_floor)
    return replace(board, pairs=paired(workspace.as_of(release).reader, runs, board.rows))


def shown_runs(
    workspace: Workspace,
    suite: str | None = None,
    release: str | None = None,
    schema: Schema | None = None,
) -> Sequence[BoardRun]:
    """The runs of a suite or release; with a schema, those in its run groups only."""
    runs = load_runs(workspace.reader, choose(workspace.reader, suite, release))
    if schema is None:
        return runs
    if release and (said := _other_schema(workspace, release, schema)):
        workspace.say(f"schema: {said}")
    for remark in remarks(schema, runs, workspace.registry.cards):
        workspace.say(f"schema: {remark}")
    return [run for run in runs if _is_shown(schema, run)]


def _other_schema(workspace: Workspace, release: str, schema: Schema) -> str:
    """That a release was made for another schema file; empty where it was not."""
    manifest = release_of(workspace.reader, release).manifest
    if manifest is None or manifest.schema_hash in ("", content_id(schema)):
        return ""
    return f"release {release!r} was made with another schema file than this one"


def _is_shown(schema: Schema, run: BoardRun) -> bool:
    return schema.shows(_groups(run.run_spec))


def _groups(spec: RunSpec) -> tuple[str, ...]:
    """The groups of a run; its scenario's name always counts as one."""
    return (*spec.groups, spec.scenario_name)


def remarks(
    schema: Schema, runs: Collection[BoardRun], cards: Mapping[str, ScenarioCard]
) -> Iterator[str]:
    """What a reader of the board should know of the file, one sentence each."""
    shown = [run for run in runs if _is_shown(schema, run)]
    yield f"{len(shown)} of {counted(len(runs), 'run')} shown"
    hidden = {run.run_spec.scenario_name for run in runs if not _is_shown(schema, run)}
    if hidden:
        yield f"not shown by this file: {first_of(sorted(hidden), 5)}"
    known = {name for card in cards.values() for name in (card.name, *card.groups)}
    known |= {name for run in runs for name in _groups(run.run_spec)}
    absent = [group.name for group in schema.run_groups if not group.subgroups]
    absent = [name for name in absent if name not in known]
    if absent:
        yield f"{counted(len(absent), 'run group')} without a scenario here: {first_of(absent, 5)}"
    computed = {stat.name for stat in known_stats()}
    computed |= {card.main_metric for card in cards.values()}
    computed |= {run.run_spec.main_metric for run in runs}
    unknown = [metric.name for metric in schema.metrics if metric.name not in computed]
    if unknown:
        yield f"{counted(len(unknown), 'metric')} not computed here: {first_of(unknown, 5)}"
    yield from sorted(set(_other_metrics(schema, shown)))


def _other_metrics(schema: Schema, shown: Iterable[BoardRun]) -> Iterator[str]:
    """Where the file would show a benchmark by another metric or split than its card does."""
    for run in shown:
        spec = run.run_spec
        here = (spec.main_metric, spec.main_split)
        for group in schema.groups_of(_groups(spec)):
            asked = (
                group.environment.get(MAIN_NAME, here[0]),
                group.environment.get(MAIN_SPLIT, here[1]),
            )
            if asked != here:
                yield (
                    f"{spec.scenario_name} is shown by {' on '.join(here)}, "
                    f"the file asks for {' on '.join(asked)}"
                )
