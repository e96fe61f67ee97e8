"""Writes viewings before gated or private text is shown; without a viewing it is not shown."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from medhelm_spark.board.results import Answer
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.viewers import Viewer
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.moments import now
from medhelm_spark.errors import LakeError, PolicyError
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.rows import arrow_of
from medhelm_spark.lake.tables import WRITE_ID
from medhelm_spark.lake.user import this_user
from medhelm_spark.viewings.tables import Viewing, ViewingPlace

if TYPE_CHECKING:  # the dashboard, which has none, need not import it
    from medhelm_spark.workspace.workspace import Workspace

Write = Callable[[list[Viewing]], object]


def record_answers(
    workspace: "Workspace", answers: Iterable[Answer], runs: Iterable[BoardRun], release: str | None
) -> None:
    """Record that these answers are shown to the user of this process.

    Raises:
        PolicyError: the lake cannot be written, and so nothing may be shown.
    """
    units: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        key = (run.run_spec.scenario_name, run.run_spec.model_deployment)
        units.setdefault(key, []).append(run.run_spec.run_spec_id)
    levels_by_key: dict[tuple[str, str], list[AccessLevel]] = {}
    for answer in answers:
        if hidden := [level for level in answer.levels if level is not AccessLevel.PUBLIC]:
            key = (answer.scenario_name, answer.model_deployment)
            levels_by_key.setdefault(key, []).append(strictest(hidden))
    rows = [
        _viewing(ViewingPlace.ANSWERS, key, units.get(key, ()), release, levels)
        for key, levels in levels_by_key.items()
    ]
    _store(workspace.location, rows, _by_workspace(workspace))


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Where the dashboard shows something, and to whom.

    Args:
        location: the lake.
        viewer: who looks.
        suite: the suite that is shown; None of a release.
        release: the release that is shown; None of a suite.
    """

    location: str
    viewer: Viewer
    suite: str | None = None
    release: str | None = None

    def of_instances(self, run: BoardRun, instances: Iterable[Collection[AccessLevel]]) -> None:
        """Record that the text of instances of a run is shown.

        Args:
            run: the run.
            instances: the levels of each instance's text.

        Raises:
            PolicyError: the lake is no folder that this process writes: nothing may be shown.
        """
        levels = [
            strictest(hidden)
            for each in instances
            if (hidden := [level for level in each if level is not AccessLevel.PUBLIC])
        ]
        if levels:
            self._store(self._of_run(ViewingPlace.DASHBOARD, run, levels))

    def of_search(self, run: BoardRun, levels: Collection[AccessLevel], num_rows: int) -> None:
        """Record that answers of a run were searched for a text.

        Args:
            run: the run.
            levels: those of the rows that were searched.
            num_rows: how many answers were searched.

        Raises:
            PolicyError: as of instances.
        """
        if set(levels) - {AccessLevel.PUBLIC}:
            row = self._of_run(ViewingPlace.SEARCH, run, list(levels))
            self._store(replace(row, num_rows=num_rows))

    def of_rating(
        self, rater: str, scenario: str, units: Iterable[str], levels: list[AccessLevel]
    ) -> None:
        """Record that a rating page shows the answers to an instance.

        Args:
            rater: the rater's pseudonym.
            scenario: the benchmark.
            units: the runs of the answers.
            levels: the level of each answer.

        Raises:
            PolicyError: as of instances.
        """
        if set(levels) == {AccessLevel.PUBLIC}:
            return
        row = _viewing(ViewingPlace.RATING, (scenario, ""), sorted(set(units)), None, levels)
        row = replace(row, viewed_by=rater, identified_by="link")
        self._store(self._named(row))

    def of_download(self, file_name: str, runs: Iterable[BoardRun]) -> None:
        """Record that a file with numbers of runs is downloaded, one of public runs too.

        Args:
            file_name: as the page offers it.
            runs: whose numbers it contains.

        Raises:
            PolicyError: as of instances, where a run is not public.
        """
        specs = [run.run_spec for run in runs]
        levels = [spec.access_level for spec in specs] or [AccessLevel.PUBLIC]
        units = [spec.run_spec_id for spec in specs]
        row = _viewing(ViewingPlace.DOWNLOAD, ("", ""), units, self.release, levels)
        row = replace(self._named(row), file_name=file_name, num_rows=len(specs))
        try:
            self._store(row)
        except PolicyError:
            if row.access_level is not AccessLevel.PUBLIC:
                raise

    def _of_run(self, place: ViewingPlace, run: BoardRun, levels: list[AccessLevel]) -> Viewing:
        spec = run.run_spec
        key = (spec.scenario_name, spec.model_deployment)
        return self._named(_viewing(place, key, [spec.run_spec_id], self.release, levels))

    def _named(self, row: Viewing) -> Viewing:
        row = replace(row, suite=self.suite)
        if not self.viewer.name:
            return row
        return replace(
            row, viewed_by=self.viewer.name, identified_by=self.viewer.identified_by or None
        )

    def _store(self, row: Viewing) -> None:
        _store(self.location, [row], _in_folder(self.location))


def _viewing(
    place: ViewingPlace,
    key: tuple[str, str],
    units: Iterable[str],
    release: str | None,
    levels: list[AccessLevel],
) -> Viewing:
    return Viewing(
        viewed_at=now(),
        viewed_by=this_user(),
        place=place,
        access_level=strictest(levels),
        scenario_name=key[0],
        model_deployment=key[1],
        run_spec_ids=tuple(units),
        release=release or "",
        num_rows=len(levels),
    )


def _in_folder(location: str) -> Write:
    def write(rows: list[Viewing]) -> None:
        if not Location.of(location).is_folder:
            raise LakeError("the dashboard writes to folders alone")
        table = arrow_of(rows, Viewing)
        marks = [uuid4().hex] * len(rows)
        FileTables(location).append("viewings", table.append_column(WRITE_ID, [marks]))

    return write


def _by_workspace(workspace: "Workspace") -> Write:
    if Location.of(workspace.location).is_folder:
        return _in_folder(workspace.location)
    return lambda rows: workspace.context("").lake.append_rows("viewings", rows, uuid4().hex)


def _store(location: str, rows: list[Viewing], write: Write) -> None:
    if not rows:
        return
    try:
        write(rows)
    except Exception as error:  # delta-rs, Arrow and the disk have kinds of their own
        raise PolicyError(
            f"{rows[0].access_level} text of {location} is not shown, for its viewing cannot be "
            f"recorded ({type(error).__name__}); allowed: a lake that {this_user()!r} may write."
        ) from None
