"""Cards and prices behind a board, for pages, which read no configuration themselves."""

from collections.abc import Mapping
from pathlib import Path

from medhelm_spark.config.registry import cards_of, prices_of
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.scenario import ScenarioCard


def cards_behind(site: Path | None) -> Mapping[str, ScenarioCard]:
    """The cards by scenario name, those that ship and those of the site's folder.

    Raises:
        ConfigError: If a card is wrong.
    """
    return cards_of(site)


def prices_behind(site: Path | None) -> Mapping[str, Prices]:
    """What deployments cost, by name, those that ship and those of the site's folder.

    Raises:
        ConfigError: If a file of deployments is broken.
    """
    return prices_of(site)
