"""What runs need and whether it is at hand, as far as that can be told without asking anybody.

Nothing is downloaded, sent or written, and Spark is not started: what is behind a server or in a
catalog's table is not known here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from medhelm_spark.api.evaluate import TABULAR, Resolved, askable, check_engine
from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.counting import first_of
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.lake.location import Location
from medhelm_spark.scenarios import Presence, absent_files, advice, check_package, presence
from medhelm_spark.stages.ingest.stage import parse_hash

DATA, MODEL = "data", "model"

HOW: dict[Presence, str] = {
    Presence.DOWNLOAD: "will be fetched by the address of its card",
    Presence.HUB: "will be fetched from the Hugging Face hub where its cache lacks it",
    Presence.TABLE: "is a table; not checked",
}
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A scenario's data or a model that runs need.

    `is_missing` says whether a run would end for want of it. `told` is why; or, of what is not
    missing, what there is to say: that it will be fetched, or was not checked.
    """

    kind: str
    name: str
    is_missing: bool
    told: str

    def __str__(self) -> str:
        """`missing: data pubmed_qa: ...`, or without `missing` where it is not."""
        mark = "missing: " if self.is_missing else ""
        return f"{mark}{self.kind} {self.name}: {self.told}"


def needed_by(resolved: Resolved) -> tuple[Needed, ...]:
    """What runs need that is missing, will be fetched or was not checked; the rest is at hand."""
    return (*_data(resolved), *_models(resolved))


def _data(resolved: Resolved) -> Iterator[Needed]:
    cache = cache_folder() / "data"
    held = _held(resolved)
    for name in dict.fromkeys(run.card.name for run in resolved.runs):
        card = resolved.given.cards[name]
        is_own = name in resolved.own or card.shape == TABULAR
        if card.source.data_version or (not is_own and (name, parse_hash(card)) in held):
            continue
        place = presence(card, cache)
        if place in (Presence.ABSENT, Presence.PART):
            files = first_of(absent_files(card, cache), SHOWN)
            told = f"{files}: no such file; {advice(card.source)}."
            yield Needed(kind=DATA, name=name, is_missing=True, told=told)
        elif place is Presence.HUB and (why := _why_not_read(card)):
            yield Needed(kind=DATA, name=name, is_missing=True, told=why)
        elif place in HOW:
            yield Needed(kind=DATA, name=name, is_missing=False, told=f"{HOW[place]}.")


def _held(resolved: Resolved) -> set[tuple[str, str]]:
    """The scenarios whose data a lake of files holds, with the hash of the card that read it."""
    location = Location.of(resolved.workspace.location)
    if location.is_catalog or not location.may_exist:
        return set()
    rows = resolved.workspace.reader.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    return {(row.scenario_name, row.card_hash) for row in rows}


def _why_not_read(card: ScenarioCard) -> str:
    try:
        check_package(card.source)
    except MedhelmSparkError as error:
        return str(error)
    return ""


def _models(resolved: Resolved) -> Iterator[Needed]:
    platform = resolved.workspace.settings.platform
    for name, deployment in askable(resolved.runs).items():
        try:
            check_engine(deployment, platform)
            place = factory_of(deployment).place(deployment)
        except MedhelmSparkError as error:
            yield Needed(kind=MODEL, name=name, is_missing=True, told=str(error))
            continue
        if place:
            told = f"server {place} was not asked; medhelm-spark models --check {name} asks it."
            yield Needed(kind=MODEL, name=name, is_missing=False, told=told)
