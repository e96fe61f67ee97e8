"""Twins: a question and its perturbed copy, which asks the same about another patient.

Of each perturbation that changes who the patient is (name, sex, dialect) `stats_by_group` has a
column with two groups: the originals that have a copy, and the copies.
"""

from dataclasses import dataclass

from medhelm_spark.adaptation.perturbations import PERTURBATIONS
from medhelm_spark.domain.groups import PERTURBATION_COLUMN
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import ComputedOn

ORIGINAL, PERTURBED = ComputedOn.ORIGINAL.value, ComputedOn.PERTURBED.value
"""The groups of such a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinValue:
    """How many originals, with their copies by one perturbation, have these values of a stat.

    `units` are their patients' hashes, as in GroupedValue; of originals without a copy `has_copy`
    is False.
    """

    name: str
    twin: str
    has_copy: bool
    original: float | None
    perturbed: float | None
    rows: int
    original_failures: int
    perturbed_failures: int
    original_unread: int
    perturbed_unread: int
    units: tuple[int, ...]


def twins_of(spec: RunSpec) -> tuple[str, ...]:
    """The perturbations of a RunSpec that change who the patient is.

    One of a plug-in that is not loaded counts as none: the RunSpec is summarised without it.
    """
    named = (each.name for each in spec.perturbations or ())
    return tuple(name for name in named if name in PERTURBATIONS and PERTURBATIONS[name].fairness)


def twin_column(name: str) -> str:
    """The column of a perturbation's twins.

    >>> twin_column("gender")
    'perturbation:gender'
    """
    return PERTURBATION_COLUMN + name


def is_twins(group_column: str) -> bool:
    """Whether a column's groups are originals and their copies."""
    return group_column.startswith(PERTURBATION_COLUMN)
