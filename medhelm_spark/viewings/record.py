"""Writes viewings: before gated or private text is shown, or it is not shown."""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING
from uuid import uuid4

from medhelm_spark.board.results import Answer
from medhelm_spark.board.runs import BoardRun
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
    held: dict[tuple[str, str], list[AccessLevel]] = {}
    for answer in answers:
        if hidden := [level for level in answer.levels if level is not AccessLevel.PUBLIC]:
            key = (answer.scenario_name, answer.model_deployment)
            held.setdefault(key, []).append(strictest(hidden))
    rows = [
        _viewing(ViewingPlace.ANSWERS, key, units.get(key, ()), release, levels)
        for key, levels in held.items()
    ]
    _store(workspace.location, rows, _by_workspace(workspace))


def record_opened(
    location: str,
    run: BoardRun,
    instances: Iterable[Collection[AccessLevel]],
    release: str | None,
) -> None:
    """Record that the dashboard shows the text of instances of a run.

    Args:
        location: the lake.
        run: the run.
        instances: the levels of each instance's text.
        release: the release that the dashboard shows; None of a suite.

    Raises:
        PolicyError: the lake is no folder that this process writes, and so nothing may be shown.
    """
    levels = [
        strictest(hidden)
        for each in instances
        if (hidden := [level for level in each if level is not AccessLevel.PUBLIC])
    ]
    spec = run.run_spec
    key = (spec.scenario_name, spec.model_deployment)
    place = ViewingPlace.DASHBOARD
    rows = [_viewing(place, key, [spec.run_spec_id], release, levels)] if levels else []
    _store(location, rows, _in_folder(location))


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
