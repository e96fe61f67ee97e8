"""The board as HELM's schema file arranges it, and what the file names that is not here."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from medhelm_spark.board import (
    BoardRun,
    BoardSource,
    board_of,
    choose,
    load_runs,
    paired,
    reader_of,
    skipped_in,
)
from medhelm_spark.board.sources import releases
from medhelm_spark.board.view import AS_DECLARED, View, as_declared, read_by
from medhelm_spark.domain.helm_results import SUFFIX, is_stored, stored_stats
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.early_imports import import_early
from medhelm_spark.medhelm.schema_file import MAIN_NAME, MAIN_SPLIT, Schema, load_schema
from medhelm_spark.metrics import known_stats
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.workspace.names import check_known
from medhelm_spark.workspace.workspace import Workspace


def schema_of(schema: Schema | str | Path | None) -> Schema | None:
    """A schema, read where a file was named."""
    return load_schema(Path(schema)) if isinstance(schema, str | Path) else schema


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """The runs of `source` that a board shows; `hidden` names the others, each with the reason.

    `metric` is the stat that they are read by in place of their main metrics, empty for these, and
    `without` are the names of the runs that do not have it.
    """

    source: BoardSource
    runs: tuple[BoardRun, ...]
    hidden: Mapping[str, str] = field(default_factory=dict)
    metric: str = ""
    without: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes below a board that lacks runs: a sentence for each reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.hidden.items():
            by_reason.setdefault(reason, []).append(name)
        return (
            *self._notes_of_metric,
            *(
                f"Not shown by the schema file ({reason}): {first_of(names)}."
                for reason, names in by_reason.items()
            ),
        )

    @property
    def _notes_of_metric(self) -> Iterator[str]:
        if self.metric:
            yield (
                f"Read by {self.metric}, whatever the main metric is: primary endpoints and "
                "margins are those of main metrics, and count here for no other."
            )
        if self.without:
            yield f"Not shown, without {self.metric}: {first_of(self.without)}."


def load_board(workspace: Workspace, view: BoardView) -> Leaderboard:
    """The board of the runs of a suite or release, with paired differences and what it lacks."""
    reader = workspace.reader
    left_out = skipped_in(reader, view.source)
    frozen = reader_of(reader, view.source)
    board = board_of(frozen, view.runs, left_out, coverage_floor=workspace.coverage_floor)
    pairs = paired(frozen, view.runs, board.rows)
    return replace(board, pairs=pairs, notes=(*board.notes, *view.notes))


def shown_runs(
    workspace: Workspace,
    suite: str | None = None,
    release: str | None = None,
    schema: Schema | None = None,
    metric: str | None = None,
) -> BoardView:
    """The runs of a suite or release; with a schema those that it shows, as it says.

    With a metric they are read by that stat, and those that do not have it are not shown.

    Raises:
        UnknownNameError: no run has the metric.
    """
    import_early("scipy.special")  # for the tests of pairs, while the tables are read
    source = choose(workspace.reader, suite, release)
    view = partial(view_of, schema) if schema else as_declared
    runs = load_runs(workspace.reader, source, read_by(metric, view) if metric else view)
    without: tuple[str, ...] = ()
    if metric:
        check_known("metric", metric, {name for run in runs for name in run.originals})
        without = tuple(run.run_spec.name for run in runs if run.stats and not run.cell)
        runs = tuple(run for run in runs if run.cell or not run.stats)
    if schema is None:
        return BoardView(source=source, runs=runs, metric=metric or "", without=without)
    if release and (note := _other_schema(workspace, release, schema)):
        workspace.say(f"schema: {note}")
    hidden = {run.run_spec.name: why for run in runs if (why := _why_hidden(schema, run))}
    visible = tuple(run for run in runs if run.run_spec.name not in hidden)
    for remark in remarks(schema, runs, workspace.registry.cards, len(visible)):
        workspace.say(f"schema: {remark}")
    return BoardView(
        source=source, runs=visible, hidden=hidden, metric=metric or "", without=without
    )


def _other_schema(workspace: Workspace, release: str, schema: Schema) -> str:
    """A note on a release that was made for another schema file; else empty."""
    frozen_by = releases()
    made_for = frozen_by.schema_hash(workspace.reader, release) if frozen_by else ""
    if made_for in ("", content_id(schema)):
        return ""
    return f"release {release!r} was made with another schema file than this one"


def view_of(schema: Schema, spec: RunSpec) -> View:
    """How a schema file shows a run.

    Of an imported run the metric that it names is the one of the imported results.
    """
    group = schema.group_of(_groups(spec))
    if group is None:
        return AS_DECLARED
    main_name, split = group.environment.get(MAIN_NAME), group.environment.get(MAIN_SPLIT)
    suffix = SUFFIX if main_name and is_stored(spec) else ""
    main = main_name + suffix if main_name else spec.main_metric
    return View(
        main_metric=main,
        main_split=split if split in set(Split) else None,
        display_name=group.display_name,
        category=schema.category_of(group),
        lower_is_better=schema.direction_of(main.removesuffix(SUFFIX)),
    )


def _why_hidden(schema: Schema, run: BoardRun) -> str:
    """Why a run is not shown; empty where it is, or where it only waits to be summarised."""
    spec = run.run_spec
    if why := schema.why_hidden(_groups(spec)):
        return why
    if run.cell is None and run.is_summarized:
        return f"it has no {spec.main_metric} on {spec.main_split}"
    return ""


def _groups(spec: RunSpec) -> tuple[str, ...]:
    """The groups of a run; its scenario's name always counts as one."""
    return (*spec.groups, spec.scenario_name)


def remarks(
    schema: Schema,
    runs: Collection[BoardRun],
    cards: Mapping[str, ScenarioCard],
    num_shown: int,
) -> Iterator[str]:
    """Notes on the file for a reader of the board, one sentence each."""
    yield f"{num_shown} of {counted(len(runs), 'run')} shown"
    known = {name for card in cards.values() for name in (card.name, *card.groups)}
    known |= {name for run in runs for name in _groups(run.run_spec)}
    absent = [group.name for group in schema.run_groups if not group.subgroups]
    absent = [name for name in absent if name not in known]
    if absent:
        yield f"{counted(len(absent), 'run group')} without a scenario here: {first_of(absent, 5)}"
    computed = {stat.name for stat in known_stats()}
    computed |= {card.main_metric for card in cards.values()}
    computed |= {run.run_spec.main_metric for run in runs}
    computed |= {stat for run in runs for stat in stored_stats(run.run_spec)}
    unknown = [metric.name for metric in schema.metrics if metric.name not in computed]
    if unknown:
        yield f"{counted(len(unknown), 'metric')} not computed here: {first_of(unknown, 5)}"
