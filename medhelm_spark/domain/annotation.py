"""Rubric and Criterion: what a judge is asked to score."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One named scale of a rubric; `keys` are the fields a verdict must give for it."""

    name: str
    keys: tuple[str, ...] = ("score", "explanation")
    minimum: float = 1.0
    maximum: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A judge prompt with its criteria. `template` uses {QUESTION}, {RESPONSE}, {GOLD_RESPONSE}.

    `version` is the content id of template and criteria.
    """

    name: str
    template: str
    criteria: tuple[Criterion, ...]
    version: str
    max_tokens: int = 4096
