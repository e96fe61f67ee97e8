"""`taxonomy.yaml`: MedHELM's categories and subcategories, in the order of its leaderboard."""

from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import UnknownNameError


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


def check_card(card: ScenarioCard, taxonomy: Taxonomy, where: str) -> None:
    """Refuses a category or subcategory that the taxonomy does not have; empty ones are fine."""
    by_name = {category.display_name: category for category in taxonomy.categories}
    if not card.category:
        return
    if card.category not in by_name:
        raise UnknownNameError("category", card.category, by_name, where=where)
    known = by_name[card.category].subcategories
    if card.subcategory and card.subcategory not in known:
        raise UnknownNameError("subcategory", card.subcategory, known, where=where)
