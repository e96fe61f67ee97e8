"""The run expander `data_augmentation`: HELM's values (facts sections 3 and 11) and clinical ones.

A value means one or more sets of perturbations; each set is a run of its own, and its name is
what HELM writes into the run name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from medhelm_spark import plugins
from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS, PerturbationSpec, RunEntry
from medhelm_spark.errors import ConfigError, UnknownNameError

KEY = "data_augmentation"
PLUGIN_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)

Perturbations = tuple[PerturbationSpec, ...]


def _one(name: str, **args: object) -> Perturbations:
    return (PerturbationSpec(name=name, args={key: str(value) for key, value in args.items()}),)


def _levels(
    value: str, part: str, name: str, **args: object
) -> dict[str, dict[str, Perturbations]]:
    """HELM's easy, medium, hard and deterministic form of a fairness perturbation."""
    levels = {"easy": 0.1, "medium": 0.3, "hard": 0.5, "deterministic": 1.0}
    return {
        f"{value}_{level}": {part.format(prob=prob): _one(name, prob=prob, **args)}
        for level, prob in levels.items()
    }


def _first_name(prob: float, preserve: bool) -> dict[str, Perturbations]:
    name = f"person_name_first_prob={prob}_source=white_target=black_preserve_gender={preserve}"
    return {name: _one("person_name", prob=prob, preserve_gender=str(preserve).lower())}


def _last_name(prob: float) -> dict[str, Perturbations]:
    groups = {"person_name_type": "last_name", "source": "white", "target": "hispanic"}
    name = f"person_name_last_prob={prob}_source=white_target=hispanic"
    return {name: _one("person_name", prob=prob, **groups)}


def _gender(mode: str) -> dict[str, dict[str, Perturbations]]:
    value = f"gender_{mode}"
    return _levels(value, f"{value}_prob={{prob}}_source=male_target=female", "gender", mode=mode)


CONTRACT = (*_one("contraction"), *_one("expansion"))
ROBUSTNESS = _one("mild_mix")
FAIRNESS = (
    *_one("dialect", prob=1.0),
    *_one("gender", mode="pronouns", prob=1.0),
    *_one("person_name", prob=1.0),
)
CLINICAL = (
    "option_order",
    "abbreviation",
    "abbreviation_expansion",
    "unit",
    "irrelevant_text",
    "drug_generic",
    "drug_brand",
    "negation",
)

AUGMENTATIONS: Mapping[str, Mapping[str, Perturbations]] = {
    "extra_space": {"extra_space2": _one("extra_space", num_spaces=2)},
    "space": {"space3": _one("space", max_spaces=3)},
    "lower": {"lower": _one("lowercase")},
    "contract": {"contract": CONTRACT},
    "filler": {"filler0.3": _one("filler_words", prob=0.3)},
    "misspelling_mild": {"misspelling0.05": _one("misspellings", prob=0.05)},
    "misspelling_medium": {"misspelling0.20": _one("misspellings", prob=0.2)},
    "misspelling_hard": {"misspelling0.5": _one("misspellings", prob=0.5)},
    "misspelling_sweep": {
        f"misspelling{prob}": _one("misspellings", prob=prob) for prob in (0, 0.05, 0.2, 0.5)
    },
    "typo_easy": {"typo0.1": _one("typos", prob=0.1)},
    "typo_medium": {"typo0.3": _one("typos", prob=0.3)},
    "typo_hard": {"typo0.5": _one("typos", prob=0.5)},
    "synonym": {"synonym0.5": _one("synonym", prob=0.5)},
    **_levels("dialect", "dialect_prob={prob}_source=SAE_target=AAVE", "dialect"),
    "dialect_easy": {"dialect_easy_prob=0.1_source=SAE_target=AAVE": _one("dialect", prob=0.1)},
    "person_name_first_hard_preserve_gender": _first_name(0.5, True),
    "person_name_first_hard_dont_preserve_gender": _first_name(0.5, False),
    "person_name_first_deterministic": _first_name(1.0, True),
    "person_name_last_hard": _last_name(0.5),
    "person_name_last_deterministic": _last_name(1.0),
    **_gender("terms"),
    **_gender("pronouns"),
    "robustness": {"robustness": ROBUSTNESS},
    "fairness": {"fairness": FAIRNESS},
    "canonical": {"canonical": (*ROBUSTNESS, *FAIRNESS)},
    "robustness_all": {
        "robustness_all": (
            *CONTRACT,
            *_one("filler_words", prob=0.1),
            *_one("lowercase"),
            *_one("misspellings", prob=0.1),
            *_one("space", max_spaces=3),
            *_one("synonym", prob=0.1),
            *_one("typos", prob=0.01),
        )
    },
    "medical": {"medical": tuple(spec for name in CLINICAL for spec in _one(name))},
    **{name: {name: _one(name)} for name in CLINICAL},
}

TRANSLATION = "it needs machine translation, which would send text elsewhere or load a model"
NOT_SHIPPED: Mapping[str, str] = {
    "contrast_sets": "its hand-written sets exist for three general data sets and no medical one",
    **dict.fromkeys(("chinese", "hindi", "spanish", "swahili"), TRANSLATION),
    "art": "it asks for styles of pictures",
}
"""HELM's other values: known, so that they are refused by name and not as a spelling mistake."""


def augmentations() -> Mapping[str, Mapping[str, Perturbations]]:
    """The shipped values, and every perturbation of a plug-in under its own name.

    Raises:
        ConfigError: A plug-in's name is taken, or cannot be part of a run name.
    """
    added = plugins.added("PERTURBATIONS")
    for name in added:
        if not PLUGIN_NAME.fullmatch(name):
            raise ConfigError(
                f"a plug-in's PERTURBATIONS has {name!r}; allowed: a letter, then letters, digits "
                "and _."
            )
        if name in {*AUGMENTATIONS, *NOT_SHIPPED, PROMPT_VARIANTS, REPEATS}:
            raise ConfigError(
                f"a plug-in's PERTURBATIONS has {name!r}, which is taken; give it a name of its "
                "own."
            )
    return {**AUGMENTATIONS, **{name: {name: _one(name)} for name in added}}


def perturbations_named(names: Iterable[str], where: str) -> Perturbations:
    """The perturbations of these values of `data_augmentation` together, each once.

    Raises:
        ConfigError: Neither this project nor a plug-in has a value, it means several runs, or
            two of them make copies of one name in two ways.
    """
    chosen: dict[str, PerturbationSpec] = {}
    for name in names:
        sets = list(_sets_of(name, where).values())
        if len(sets) > 1:
            raise ConfigError(
                f"{where}: {name!r} means {len(sets)} runs of different strength; name it in "
                f"a run entry ({KEY}={name})."
            )
        for spec in sets[0]:
            if chosen.setdefault(spec.name, spec) != spec:
                raise ConfigError(
                    f"{where}: {name!r} perturbs by {spec.name!r}, and another value does so "
                    "otherwise; give one of them."
                )
    return tuple(chosen.values())


def _sets_of(value: str, where: str) -> Mapping[str, Perturbations]:
    """The sets of perturbations that a value means; ConfigError where there is none."""
    if value in NOT_SHIPPED:
        raise ConfigError(f"{where}: {KEY}={value} is not supported: {NOT_SHIPPED[value]}.")
    known = augmentations()
    if value not in known:
        raise UnknownNameError(KEY, value, known, where=where)
    return known[value]


def augmented(entry: RunEntry, where: str) -> Iterator[tuple[RunEntry, Perturbations]]:
    """The entry once per set of perturbations that it asks for, with that set's name in place.

    Raises:
        ConfigError: Neither this project nor a plug-in has the value.
    """
    if KEY not in entry.args:
        yield entry, ()
        return
    for name, perturbations in _sets_of(str(entry.args[KEY]), where).items():
        yield replace(entry, args={**entry.args, KEY: name}), perturbations
