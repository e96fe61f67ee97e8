"""Who may have the data of runs: by the card, a person's statement and the lake's records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.user import this_user
from medhelm_spark.policy.levels import stated_level
from medhelm_spark.scenarios import with_known_hashes
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.user_data.own_data import OwnData, replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedData:
    """Cards by scenario name with their data and its level.

    `published` are the names of those whose bytes a shipped card pins. `stated_by` is who stated
    the level of each, where a person did.
    """

    cards: Mapping[str, ScenarioCard]
    published: frozenset[str] = frozenset()
    stated_by: Mapping[str, str] = field(default_factory=dict)


def with_user_data(
    cards: Mapping[str, ScenarioCard],
    sources: Mapping[str, OwnData],
    access_level: AccessLevel | None,
    registry: Registry,
) -> ProvidedData:
    """The cards with a person's own data where they have it, at the level that it has.

    Reads files of a person's own only to compare them with the hashes that a card pins.

    Raises:
        PolicyError: a level has to be stated, or the one that is stated is too low.
        ConfigError: imported data is to have another level.
    """
    leveled: dict[str, ScenarioCard] = {}
    stated_by: dict[str, str] = {}
    for name, card in cards.items():
        own = sources.get(name)
        levels = [level for level in (access_level, own.access_level if own else None) if level]
        stated = strictest(levels) if levels else None
        if stated and card.source.data_version and stated is not card.access_level:
            raise ConfigError(
                f"access_level (--access-level): scenario {name!r} was imported as "
                f"{card.access_level}; import it again as {stated}."
            )
        pinning = registry.cards.get(_base(name), card)
        card = with_known_hashes(replaced(card, own), pinning)
        level = stated_level(
            card.access_level,
            stated,
            name=name,
            is_own=card.source.is_own,
            policy=registry.policy,
        )
        leveled[name] = replace(card, access_level=level)
        if stated:
            stated_by[name] = this_user()
    published = {name for name, card in leveled.items() if _is_published(card, registry)}
    return ProvidedData(cards=leveled, published=frozenset(published), stated_by=stated_by)


def _base(name: str) -> str:
    """The card's own name of a scenario that is named with its arguments."""
    return name.partition(":")[0]


def _is_published(card: ScenarioCard, registry: Registry) -> bool:
    """Whether all that is read is what the shipped card of this name pins."""
    shipped, source = registry.shipped.get(_base(card.name)), card.source
    if shipped is None or source.is_own or source.table or source.data_version:
        return False
    if source.lookups or source.texts or (source.history and source.history.has_events):
        return False
    if source.is_unpinned:
        return False
    if source.dataset:
        pinned = (shipped.source.dataset, shipped.source.revision)
        return bool(source.revision) and (source.dataset, source.revision) == pinned
    hashes = _hashes(shipped.source)
    return bool(source.files) and all(file.sha256 in hashes for file in source.files)


def _hashes(source: DataSource) -> set[str | None]:
    return {file.sha256 for file in source.files if file.sha256}


def with_levels(
    runs: Sequence[ResolvedRun], levels: Mapping[str, AccessLevel]
) -> tuple[ResolvedRun, ...]:
    """The runs at the levels of their data, by scenario name."""
    return tuple(
        replace(run, card=replace(run.card, access_level=levels[run.card.name]))
        if run.card.name in levels
        else run
        for run in runs
    )


def levels_of(data: Mapping[str, Ingested]) -> dict[str, AccessLevel]:
    """The level of each scenario's data."""
    return {name: ingested.access_level for name, ingested in data.items()}
