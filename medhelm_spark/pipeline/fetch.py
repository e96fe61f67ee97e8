"""Fetches data before a run: downloads and data sets of the hub, on this machine, without Spark."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TextIO

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.lake.progress import CLEAR_LINE, DRAW_SECONDS
from medhelm_spark.medhelm.run_entries import parse_flags
from medhelm_spark.medhelm.scenario_args import find_scenario, spread_data
from medhelm_spark.scenarios import Hub
from medhelm_spark.stages.ingest.sources import located, size_of
from medhelm_spark.workspace.workspace import Workspace

WHERE = "scenarios fetch"
MEGABYTE = 1e6


class Outcome(StrEnum):
    """The outcome of fetching a scenario's data to this machine."""

    FETCHED = "fetched"
    HERE = "already here"
    ABSENT = "cannot be had"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedScenario:
    """A scenario's data on this machine: its files and their bytes; `reason` if it is absent."""

    scenario_name: str
    outcome: Outcome
    files: int = 0
    size_in_bytes: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if self.outcome is Outcome.ABSENT:
            return f"{self.scenario_name}: {self.outcome}: {self.reason}"
        if not self.files:
            return f"{self.scenario_name}: {self.outcome}"
        size = f"{self.size_in_bytes / MEGABYTE:.1f} MB"
        return f"{self.scenario_name}: {self.outcome}, {counted(self.files, 'file')}, {size}"


@dataclass(slots=True)
class _Meter:
    """Counts the bytes of a scenario's downloads, and draws them on a terminal."""

    name: str
    terminal: TextIO | None
    received: int = 0
    drawn: float = field(default_factory=time.monotonic)

    def __call__(self, size: int) -> None:
        self.received += size
        if self.terminal and time.monotonic() - self.drawn >= DRAW_SECONDS:
            self.drawn = time.monotonic()
            self.draw(f"{self.received / MEGABYTE:.1f} MB")

    def draw(self, text: str) -> None:
        """Replace the line of the terminal."""
        if self.terminal:
            self.terminal.write(f"{CLEAR_LINE}{self.name}: {text}")
            self.terminal.flush()


def fetch_data(
    workspace: Workspace, names: Sequence[str], *, all_public: bool
) -> tuple[FetchedScenario, ...]:
    """Fetch the data of scenarios to this machine, and print the outcome of each.

    Raises:
        ConfigError: no scenario is named, or one is unknown; nothing was fetched.
    """
    cards = _cards(workspace.registry, names, all_public=all_public)
    hub = Hub()
    return tuple(_reported(workspace, card, hub) for card in cards)


def _cards(registry: Registry, names: Sequence[str], *, all_public: bool) -> list[ScenarioCard]:
    entries = list(parse_flags(names, flag=WHERE))
    if all_public:
        entries += [
            RunEntry(name=name, where=WHERE)
            for name, card in registry.cards.items()
            if card.access_level is AccessLevel.PUBLIC
        ]
    if not entries:
        raise ConfigError(f"{WHERE}: give names of scenarios, or --all-public.")
    cards = {card.name: card for entry in entries for card in _of_entry(entry, registry)}
    return [cards[name] for name in sorted(cards)]


def _of_entry(entry: RunEntry, registry: Registry) -> Iterator[ScenarioCard]:
    card = find_scenario(entry, registry.cards, [Path.cwd()], WHERE).card
    return spread_data(card, entry, WHERE)


def _reported(workspace: Workspace, card: ScenarioCard, hub: Hub) -> FetchedScenario:
    done = _fetched(card, hub, _Meter(card.name, sys.stderr if sys.stderr.isatty() else None))
    workspace.say(str(done))
    return done


def _fetched(card: ScenarioCard, hub: Hub, meter: _Meter) -> FetchedScenario:
    meter.draw("...")
    try:
        here = located(card, received=meter)
        copy = hub.fetch(here.source) if here.source.dataset else None
    except DataError as error:
        return FetchedScenario(
            scenario_name=card.name, outcome=Outcome.ABSENT, reason=str(error).removesuffix(".")
        )
    is_new = copy.is_new if copy else meter.received > 0
    return FetchedScenario(
        scenario_name=card.name,
        outcome=Outcome.FETCHED if is_new else Outcome.HERE,
        files=copy.files if copy else len(here.source.files),
        size_in_bytes=copy.size_in_bytes if copy else size_of(here),
    )
