"""Rubric and RubricItem: what a judge is asked to score."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.ids import canonical_json

RUBRIC_ITEMS = "rubric_items"
"""The key of `extra_data` with an instance's own rubric."""

JURY, PER_ITEM = "jury", "rubric"
"""The kinds of rubrics: with criteria of its own, or asked once per rubric item of an instance."""

NOTES, TARGET_SPECIALTY = "notes", "target_specialty"
"""The keys of `extra_data` with the notes a text was made from, and for whose specialty."""

TAGS = "tags"
"""The key of `extra_data` with the subjects of an instance, `theme:hedging` for example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A judge prompt with its criteria.

    `template` uses {CONVERSATION}, {QUESTION} or {NOTES}, {RESPONSE}, {GOLD_RESPONSE},
    {TARGET_SPECIALTY}. `kind` names an entry
    of `annotators.kinds.ANNOTATORS`; one that is `rubric` has no criteria of its own, and its
    template uses {CRITERION}: a judge is asked once per rubric item of the instance whether the
    answer meets it. `version` is the content id of template, criteria and kind.
    """

    name: str
    template: str
    criteria: tuple[Criterion, ...]
    version: str
    max_tokens: int = 4096
    kind: str = JURY

    @property
    def is_per_item(self) -> bool:
        return self.kind == PER_ITEM

    @property
    def is_typed(self) -> bool:
        """Whether a criterion states more of a verdict's score than a scale."""
        return any(criterion.is_typed for criterion in self.criteria)

    @property
    def has_classes(self) -> bool:
        """Whether a criterion has classes in place of a scale."""
        return any(criterion.classes for criterion in self.criteria)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricItem:
    """One criterion of an instance's own rubric; an answer that meets it earns its points.

    Points may be negative. `tags` group items, `axis:accuracy` for example.
    """

    criterion: str
    points: float
    tags: tuple[str, ...] = ()


def items_text(items: Iterable[RubricItem]) -> str:
    """Rubric items as they are in `extra_data`, from where `rubric_items` reads them."""
    return canonical_json(list(items))


def rubric_items(extra_data: Mapping[str, str]) -> tuple[RubricItem, ...]:
    """An instance's own rubric, in the order of the data; empty where it has none."""
    return tuple(
        RubricItem(criterion=item["criterion"], points=item["points"], tags=tuple(item["tags"]))
        for item in json.loads(extra_data.get(RUBRIC_ITEMS, "[]"))
    )
