"""Word lists for the tests of perturbations: small ones of a test's own, and the shipped ones."""

from functools import cache

from medhelm_spark.adaptation.perturbations import change_of, perturbed
from medhelm_spark.config.word_lists import load_word_lists
from medhelm_spark.domain.plan import WordLists
from medhelm_spark.domain.run import PerturbationSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.medhelm.site import load_site

OWN: WordLists = {
    "contractions": {"do not": ("don't",), "he is": ("he's",), "he has": ("he's",)},
    "misspellings": {"fever": ("feaver",)},
    "filler_words": {"fillers": ("um,",)},
    "synonyms": {"often": ("frequently",)},
    "dialect": {"is not": ("ain't",), "going to": ("gonna",)},
    "gender_terms": {"man": ("woman",), "father": ("mother",)},
    "gender_pronouns": {"he": ("she",), "his": ("her",)},
    "sex_specific": {"male": ("prostate",)},
    "first_names": {
        "white_american_female": ("Emily",),
        "white_american_male": ("Brad", "Greg"),
        "black_american_female": ("Aisha",),
        "black_american_male": ("Jamal",),
    },
    "last_names": {"white": ("Olson", "Jensen"), "hispanic": ("Garcia",)},
    "abbreviations": {
        "hypertension": ("HTN",),
        "multiple sclerosis": ("MS",),
        "mitral stenosis": ("MS",),
    },
    "irrelevant_text": {"asides": ("The clinic was repainted.",)},
    "drug_names": {"ibuprofen": ("Advil",), "warfarin": ("Coumadin",)},
}


@cache
def shipped() -> WordLists:
    return load_word_lists(load_site().word_list_files)


def copy_of(instance: Instance, name: str, lists: WordLists = OWN, **args: str) -> Instance | None:
    """The perturbed copy of an instance, None where there is none."""
    return perturbed(instance, name, change_of(PerturbationSpec(name=name, args=args), lists))
