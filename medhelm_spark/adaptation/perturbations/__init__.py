"""The perturbations: `PERTURBATIONS`, by the name that is in the column `perturbation`.

The first thirteen have HELM's names; `docs/perturbations.md` says what each changes and keeps.
"""

from collections.abc import Mapping

from medhelm_spark.adaptation.perturbations.medical import (
    abbreviation,
    abbreviation_expansion,
    drug_brand,
    drug_generic,
    irrelevant_text,
    negation,
    option_order,
    unit,
)
from medhelm_spark.adaptation.perturbations.people import dialect, gender, person_name
from medhelm_spark.adaptation.perturbations.perturbation import (
    SEED,
    Change,
    Perturbation,
    build,
    perturbed,
)
from medhelm_spark.adaptation.perturbations.surface import (
    expansion,
    extra_space,
    filler_words,
    listed,
    lowercase,
    mild_mix,
    space,
    text,
    typos,
)
from medhelm_spark.domain.plan import WordLists
from medhelm_spark.domain.run import PerturbationSpec
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.plugins import PluginRegistry


def _listed(name: str, prob: str) -> Perturbation:
    return Perturbation(
        build=text(listed(name)), lists=(name,), args={"prob": prob}, robustness=True
    )


_OWN: Mapping[str, Perturbation] = {
    "mild_mix": Perturbation(
        build=text(mild_mix), lists=("contractions", "misspellings"), robustness=True
    ),
    "lowercase": Perturbation(build=text(lowercase), robustness=True),
    "extra_space": Perturbation(build=text(extra_space), args={"num_spaces": "2"}, robustness=True),
    "space": Perturbation(build=text(space), args={"max_spaces": "3"}, robustness=True),
    "contraction": _listed("contractions", "1"),
    "expansion": Perturbation(build=text(expansion), lists=("contractions",), robustness=True),
    "filler_words": Perturbation(
        build=text(filler_words), lists=("filler_words",), args={"prob": "0.3"}, robustness=True
    ),
    "misspellings": _listed("misspellings", "0.2"),
    "typos": Perturbation(build=text(typos), args={"prob": "0.1"}, robustness=True),
    "synonym": _listed("synonyms", "0.5"),
    "dialect": Perturbation(build=dialect, lists=("dialect",), args={"prob": "1"}, fairness=True),
    "gender": Perturbation(
        build=gender,
        lists=("gender_terms", "gender_pronouns", "sex_specific"),
        args={"mode": "pronouns", "prob": "1"},
        fairness=True,
    ),
    "person_name": Perturbation(
        build=person_name,
        lists=("first_names", "last_names"),
        args={
            "person_name_type": "first_name",
            "source": "white_american",
            "target": "black_american",
            "preserve_gender": "true",
            "prob": "1",
        },
        fairness=True,
    ),
    "option_order": Perturbation(
        build=option_order, robustness=True, needs_options=True, moves_options=True
    ),
    "abbreviation": Perturbation(
        build=abbreviation, lists=("abbreviations",), args={"prob": "1"}, robustness=True
    ),
    "abbreviation_expansion": Perturbation(
        build=abbreviation_expansion, lists=("abbreviations",), robustness=True
    ),
    "unit": Perturbation(build=unit, args={"prob": "1"}, robustness=True),
    "irrelevant_text": Perturbation(
        build=irrelevant_text, lists=("irrelevant_text",), robustness=True
    ),
    "drug_generic": Perturbation(build=drug_generic, lists=("drug_names",), robustness=True),
    "drug_brand": Perturbation(build=drug_brand, lists=("drug_names",), robustness=True),
    "negation": Perturbation(build=negation, keeps_meaning=False, needs_options=True),
}
PERTURBATIONS: Mapping[str, Perturbation] = PluginRegistry("PERTURBATIONS", Perturbation, _OWN)


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
