"""A person's own data in place of a card's: files, a folder, an archive, or `table:NAME`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_place import table_of
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError
from medhelm_spark.scenarios import with_source


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnData:
    """The data's place, and its names for the card's columns, by the card's.

    `access_level` says who may hold it. Below a public card it has to be said: data of one's own
    may be anybody's.
    """

    paths: str | Path | Sequence[str | Path]
    columns: Mapping[str, str] = field(default_factory=dict)
    access_level: AccessLevel | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The paths, several or one, as text."""
        given = [self.paths] if isinstance(self.paths, str | Path) else self.paths
        return tuple(str(path) for path in given)


Source = str | Path | Sequence[str | Path] | OwnData
"""One place, several, or places with the names of their columns."""

Sources = Source | Mapping[str, OwnData]
"""A source for the one scenario that is evaluated, or one by scenario name."""


def own_data(source: Source, columns: Mapping[str, str] | None = None) -> OwnData | None:
    """What a source and names of columns say together; None without a source.

    Raises:
        ConfigError: names of columns are given alone.
    """
    if isinstance(source, OwnData):
        if columns:
            raise ConfigError("columns is given beside OwnData, which has columns of its own.")
        return source
    paths = [source] if isinstance(source, str | Path) else list(source)
    paths = [str(path) for path in paths]
    if not paths and columns:
        raise ConfigError(
            "columns (--columns) names those of source (--source), which is not given."
        )
    return OwnData(paths=paths, columns=columns or {}) if paths else None


def parse_columns(text: str | None) -> dict[str, str]:
    """`--columns` as a mapping.

    >>> parse_columns("context=note_text,label='out come'")
    {'context': 'note_text', 'label': 'out come'}

    Raises:
        ConfigError: it is not written as NAME=COLUMN,NAME=COLUMN.
    """
    pairs = [part.partition("=") for part in text.split(",")] if text else []
    for name, _, column in pairs:
        if not name.strip() or not column.strip("'\" "):
            raise ConfigError(f"--columns is {text!r}; allowed: NAME=COLUMN,NAME=COLUMN.")
    return {name.strip(): column.strip().strip("'\"") for name, _, column in pairs}


def by_scenario(
    source: Sources, columns: Mapping[str, str] | None, runs: Sequence[ResolvedRun]
) -> Mapping[str, OwnData]:
    """A person's own data by scenario name; one that names none is for what these runs evaluate.

    Raises:
        ConfigError: it names no scenario, and the runs evaluate several.
    """
    if isinstance(source, Mapping):
        if columns:
            raise ConfigError("columns is given beside OwnData, which has columns of its own.")
        return source
    own = own_data(source, columns)
    names = sorted({run.card.name for run in runs})
    if own and len(names) > 1:
        raise ConfigError(
            f"source (--source) takes one scenario's data; these are {', '.join(names)}."
        )
    return {names[0]: own} if own else {}


def replaced(card: ScenarioCard, own: OwnData | None) -> ScenarioCard:
    """The card with a person's own data.

    Raises:
        ConfigError: the card's data was imported, so that it has no other.
    """
    if own is None:
        return card
    if card.source.data_version:
        raise ConfigError(
            f"source (--source): scenario {card.name!r} was imported and is evaluated on what was "
            "imported; import it again with other data."
        )
    card = replace(
        card, source=replace(card.source, columns={**card.source.columns, **own.columns})
    )
    places = own.places
    table = table_of(places[0]) if len(places) == 1 else None
    if table is not None:
        source = replace(card.source, files=(), dataset=None, revision=None, table=table)
        source = replace(source, is_own=True)
        return replace(card, source=source)
    return with_source(card, places)


def check_order(run: ResolvedRun, own: OwnData | None) -> None:
    """Refuse to take instances in the order of a source that has none.

    Raises:
        ConfigError: The data is a table, and the sampling's order is not hash.
    """
    order, source = run.card.sampling.order, replaced(run.card, own).source
    if source.table and order is not SamplingOrder.HASH:
        raise ConfigError(
            f"{run.name}: sampling takes the order {order}, and the rows of table {source.table!r} "
            "have none; allowed: hash."
        )
