"""A person's own data in place of a card's: files, a folder, an archive, or `table:NAME`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from medhelm_spark.config.benchmark_data import check_reading
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.columns import parse_pairs
from medhelm_spark.domain.data_uri import table_of
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.local_files import local_table
from medhelm_spark.medhelm.suites import SuiteSource
from medhelm_spark.scenarios import with_source

PLAIN_NAME = re.compile(r"[\w-]+(:[\w=,-]+)?")
"""What a scenario may be called, as no folder is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnData:
    """The data's location, and its names for the card's columns, by the card's.

    `access_level` says who may have it. Below a public card it is required: data of one's own
    may be anybody's. `sheet`, `separator` and `encoding` say how a file is read (None: what it
    shows; of a workbook the first sheet).
    """

    paths: str | Path | Sequence[str | Path]
    columns: Mapping[str, str] = field(default_factory=dict)
    access_level: AccessLevel | None = None
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None

    @property
    def locations(self) -> tuple[str, ...]:
        """The paths, several or one, as text."""
        paths = [self.paths] if isinstance(self.paths, str | Path) else self.paths
        return tuple(str(path) for path in paths)


Source = str | Path | Sequence[str | Path] | OwnData
"""One location, several, or locations with the names of their columns."""

Sources = Source | Mapping[str, OwnData]
"""A source for the one scenario that is evaluated, or one by scenario name."""


def own_data(source: Source, columns: Mapping[str, str] | None = None) -> OwnData | None:
    """A source with its names of columns; None without a source.

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

    >>> parse_columns("context=note_text,label='out, come'")
    {'context': 'note_text', 'label': 'out, come'}

    Raises:
        ConfigError: it is not written as NAME=COLUMN,NAME=COLUMN.
    """
    try:
        return dict(parse_pairs(text or ""))
    except ValueError:
        raise ConfigError(f"--columns is {text!r}; allowed: NAME=COLUMN,NAME=COLUMN.") from None


def by_scenario(
    source: Sources, columns: Mapping[str, str] | None, runs: Sequence[ResolvedRun]
) -> Mapping[str, OwnData]:
    """A person's own data by scenario name; one that names none is for what these runs evaluate.

    A location may begin with the scenario's name: `med_qa=mine.csv`.

    Raises:
        ConfigError: it names no scenario, and the runs evaluate several.
    """
    if isinstance(source, Mapping):
        if columns:
            raise ConfigError("columns is given beside OwnData, which has columns of its own.")
        return source
    own = own_data(source, columns)
    names = sorted({run.card.name for run in runs})
    if own is None:
        return {}
    paths_by_name: dict[str, list[str]] = {}
    for location in own.locations:
        name, path = _named(location, names)
        paths_by_name.setdefault(name, []).append(path)
    if "" in paths_by_name and (len(names) > 1 or len(paths_by_name) > 1):
        raise ConfigError(
            f"source (--source) is for one of {', '.join(names)}; write NAME=FILE, once for each "
            "scenario that has other data."
        )
    if own.columns and len(paths_by_name) > 1:
        raise ConfigError(
            "columns (--columns) names those of one source, and there are "
            f"{len(paths_by_name)}; sources of a suite file have columns each."
        )
    return {name or names[0]: replace(own, paths=paths) for name, paths in paths_by_name.items()}


def suite_sources(sources: Mapping[str, SuiteSource]) -> dict[str, OwnData]:
    """Own data by scenario name, as a suite file names it."""
    return {
        name: OwnData(**{key.name: getattr(source, key.name) for key in fields(source)})
        for name, source in sources.items()
    }


def _named(location: str, names: Sequence[str]) -> tuple[str, str]:
    """The scenario and the location of `NAME=LOCATION`; no scenario where a path alone is given.

    Raises:
        UnknownNameError: the text before `=` is neither a scenario of the runs nor a path.
    """
    for name in sorted(names, key=len, reverse=True):
        if location.startswith(f"{name}="):
            return name, location.removeprefix(f"{name}=")
    before, equals, _ = location.partition("=")
    if equals and PLAIN_NAME.fullmatch(before) and not Path(location).expanduser().exists():
        raise UnknownNameError("scenario", before, names, where="source (--source)")
    return "", location


def check_sources(sources: Mapping[str, OwnData], runs: Sequence[ResolvedRun]) -> None:
    """Refuse data for a scenario that is not evaluated.

    Raises:
        UnknownNameError: no run is of that scenario.
    """
    names = sorted({run.card.name for run in runs})
    for name in sources:
        if name not in names:
            raise UnknownNameError("scenario", name, names, where="sources")


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
    check_reading(own.separator, own.encoding, "source (--source)")
    source = replace(
        card.source,
        columns={**card.source.columns, **own.columns},
        sheet=own.sheet or card.source.sheet,
        separator=own.separator or card.source.separator,
        encoding=own.encoding or card.source.encoding,
    )
    card = replace(card, source=source)
    locations = own.locations
    table = table_of(locations[0]) if len(locations) == 1 else None
    if table is not None:
        table = local_table(table)
        source = replace(card.source, files=(), dataset=None, revision=None, table=table)
        source = replace(source, is_own=True)
        return replace(card, source=source)
    return with_source(card, locations)


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
