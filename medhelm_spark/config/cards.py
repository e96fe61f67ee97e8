"""Scenario cards: read from YAML and checked; their categories; scenarios that have no card."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medhelm_spark.config import extraction, sampling
from medhelm_spark.config.critical import check_critical
from medhelm_spark.config.extraction import check_extraction
from medhelm_spark.config.groups import check_groups
from medhelm_spark.config.layers import Load
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A category of clinical work; `name` is HELM's group name."""

    name: str
    display_name: str
    subcategories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """All categories."""

    categories: tuple[Category, ...]


def load_taxonomy(path: Path) -> Taxonomy:
    """Reads the taxonomy."""
    return load_yaml(path, Taxonomy)


def card_reader(taxonomy: Taxonomy) -> Load[ScenarioCard]:
    """Reads a card file and checks it; one reader refuses two cards of one name in one folder.

    Raises:
        ConfigError: from the reader, if the file is wrong.
    """
    seen: dict[tuple[Path, str], Path] = {}

    def read(path: Path) -> Iterable[ScenarioCard]:
        card = load_yaml(path, ScenarioCard, expand_short_forms)
        check_category(card.category, card.subcategory, taxonomy, str(path))
        _check_source(card, path)
        check_extraction(card.answer_extraction, card.metrics, str(path))
        check_sampling(card.sampling, str(path))
        check_groups(card.subgroups, card.bands, str(path), key="subgroups")
        check_critical(card.critical, str(path))
        _check_parts(card, path)
        first = seen.setdefault((path.parent, card.name), path)
        if first != path:
            raise ConfigError(f"{path}: scenario {card.name!r} is already defined in {first}.")
        return [card]

    return read


def _check_source(card: ScenarioCard, path: Path) -> None:
    """Refuse keys that only the program sets: a card cannot point at rows of the lake."""
    plain = DataSource()
    for key in ("data_version", "is_own"):
        if getattr(card.source, key) != getattr(plain, key):
            raise ConfigError(
                f"{path}: source.{key} is no key of a card; allowed: files, dataset or table."
            )
    for number, file in enumerate(card.source.files):
        if file.label:
            raise ConfigError(
                f"{path}: source.files[{number}].label is no key of a card; allowed: path, split, "
                "sha256, url, member and archive."
            )


def _check_parts(card: ScenarioCard, path: Path) -> None:
    """Refuse parts by an argument that chooses no data: its runs would be means of the same."""
    allowed = [arg for arg in card.args if arg in card.choices]
    for arg in card.parts.args:
        if arg not in allowed:
            raise UnknownNameError("argument", arg, allowed, where=f"{path}: parts.args")


def expand_short_forms(data: Any) -> Any:
    """A parsed document with `answer_extraction: choice` and `sampling: medhelm` as mappings."""
    return sampling.expand_short_forms(extraction.expand_short_forms(data))


def check_category(category: str, subcategory: str, taxonomy: Taxonomy, where: str) -> None:
    """Refuses a category or subcategory that the taxonomy does not have; empty ones are fine."""
    if subcategory and not category:
        raise ConfigError(f"{where}: subcategory is given without category.")
    by_name = {known.display_name: known for known in taxonomy.categories}
    if not category:
        return
    if category not in by_name:
        raise UnknownNameError("category", category, by_name, where=where)
    known = by_name[category].subcategories
    if subcategory and subcategory not in known:
        raise UnknownNameError("subcategory", subcategory, known, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedScenario:
    """What a scenario is, in the words of a card, and why it is refused (a clause, no sentence)."""

    name: str
    display_name: str
    description: str
    access_level: AccessLevel
    size: int
    category: str
    subcategory: str
    what: str
    who: str
    when: str
    reason: str


UNSUPPORTED_SCENARIOS = (
    UnsupportedScenario(
        name="health_admin_bench",
        display_name="HealthAdminBench",
        description="A language model works in simulated hospital portals through a web browser: "
        "prior authorisations, appeals against denials, orders of equipment. Checks of the "
        "portal's state and a judge give points for each step that was reached.",
        access_level=AccessLevel.PUBLIC,
        size=135,
        category="Administration and Workflow",
        subcategory="Overseeing Financial Activities",
        what="prior authorisation, appeals/denials, equipment orders in simulated portals",
        who="Hospital Administrator",
        when="Any",
        reason="it drives a web browser, which is not an evaluation of text; run it with its own "
        "harness",
    ),
)
