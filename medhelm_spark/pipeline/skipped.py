"""Finds data that is not available, before Spark starts; the error of a run without any data."""

from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.skipped import SkippedRun
from medhelm_spark.errors import AbsentDataError
from medhelm_spark.lake.location import Location
from medhelm_spark.scenarios import refuse_absent
from medhelm_spark.stages.ingest.ingested import stored_names
from medhelm_spark.workspace.workspace import Workspace

SHOWN = 3


def absent_files(workspace: Workspace, cards: Iterable[ScenarioCard]) -> dict[str, str]:
    """By scenario name why a file is not available, for cards without data in the lake.

    Empty if only Spark can read the lake.
    """
    absent: dict[str, str] = {}
    looked_for = {card.name: card for card in cards}
    for name, card in looked_for.items():
        try:
            refuse_absent(card.source)
        except AbsentDataError as error:
            absent[name] = str(error)
    if not absent:
        return {}
    stored = stored_here(workspace, [looked_for[name] for name in absent])
    return (
        {} if stored is None else {name: why for name, why in absent.items() if name not in stored}
    )


def stored_here(workspace: Workspace, cards: Iterable[ScenarioCard]) -> set[str] | None:
    """The names of the cards that have data in the lake; None if only Spark can read the lake."""
    location = Location.of(workspace.location)
    if workspace.settings.platform is not Platform.LOCAL or not location.is_folder:
        return None
    return stored_names(workspace.reader, cards) if location.may_exist else set()


def absent_runs(runs: Iterable[ResolvedRun], reasons: Mapping[str, str]) -> list[SkippedRun]:
    """The runs of scenarios that have a reason, by scenario name, to be left out."""
    return [
        SkippedRun(
            name=run.name,
            scenario_name=run.card.name,
            reason=reasons[run.card.name],
            is_listed=run.is_listed,
        )
        for run in runs
        if run.card.name in reasons
    ]


def refuse_all(reasons: Sequence[str]) -> None:
    """Refuse a command if no scenario has its data.

    Raises:
        AbsentDataError: the reason of each, or the first ones of many.
    """
    reasons = list(dict.fromkeys(reasons))
    if len(reasons) == 1:
        raise AbsentDataError(reasons[0])
    sentences = "; ".join(reason.removesuffix(".") for reason in reasons[:SHOWN])
    more = f"; and {len(reasons) - SHOWN} more" if len(reasons) > SHOWN else ""
    raise AbsentDataError(
        f"none of {counted(len(reasons), 'scenario')} has its data: {sentences}{more}."
    )
