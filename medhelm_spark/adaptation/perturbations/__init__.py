"""The perturbations: `PERTURBATIONS`, by the name that is in the column `perturbation`.

Each is declared in the mapping `PERTURBATIONS` of a module of this folder. `docs/perturbations.md`
says what each changes and keeps, and which have HELM's names.
"""

from collections.abc import Mapping

from medhelm_spark.adaptation.perturbations.perturbation import (
    SEED,
    Change,
    Perturbation,
    build,
    perturbed,
)
from medhelm_spark.domain.plan import WordLists
from medhelm_spark.domain.run import PerturbationSpec
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.plugins import PluginRegistry

PERTURBATIONS: Mapping[str, Perturbation] = PluginRegistry("PERTURBATIONS", Perturbation, __name__)


def perturbation(name: str) -> Perturbation:
    """The perturbation of this name."""
    if name not in PERTURBATIONS:
        raise UnknownNameError("perturbation", name, PERTURBATIONS)
    return PERTURBATIONS[name]


def change_of(spec: PerturbationSpec, word_lists: WordLists) -> Change:
    """The change that a spec asks for; ConfigError for a wrong argument or word list."""
    return build(perturbation(spec.name), spec, word_lists)


__all__ = [
    "PERTURBATIONS",
    "SEED",
    "Change",
    "Perturbation",
    "change_of",
    "perturbation",
    "perturbed",
]
