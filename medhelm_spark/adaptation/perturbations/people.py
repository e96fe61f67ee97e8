"""Who speaks and who is spoken of: dialect, gender and names, HELM's fairness perturbations.

As in HELM, references are rewritten with the text. The right answer is preserved, or rewritten the
same way; invariance may be computed. Unlike HELM, an instance in which sex matters (pregnancy,
prostate) is not changed by `gender`: the copy would be an impossible case.
"""

from collections.abc import Iterable
from random import Random

from medhelm_spark.adaptation.perturbations.perturbation import (
    Args,
    Change,
    Perturbation,
    number,
    on_text,
    pick,
    texts_of,
    unless,
)
from medhelm_spark.adaptation.perturbations.surface import replacing
from medhelm_spark.adaptation.perturbations.words import Words, holds_any, indexed, replace_words
from medhelm_spark.domain.plan import WordList, WordLists
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError

GENDER_LISTS = {"terms": "gender_terms", "pronouns": "gender_pronouns"}
NAME_LISTS = {"first_name": "first_names", "last_name": "last_names"}
GENDERS = ("female", "male")


def dialect(args: Args, lists: WordLists) -> Change:
    """Standard American English words by African American English ones, each with `prob`.

    The right answer is preserved: references are rewritten alike.
    """
    return on_text(replacing(indexed(lists["dialect"]), number(args, "prob")), references=True)


def gender(args: Args, lists: WordLists) -> Change:
    """Male words by female ones (`mode`: terms or pronouns), each with probability `prob`.

    The right answer is preserved: references are rewritten alike, and an instance that contains a
    word of the list `sex_specific` is not changed.
    """
    name = _one_of(args, "mode", GENDER_LISTS)
    swap = on_text(replacing(indexed(lists[name]), number(args, "prob")), references=True)
    sex_specific = indexed({word: () for group in lists["sex_specific"].values() for word in group})
    return unless(lambda instance: holds_any(texts_of(instance), sex_specific), swap)


def person_name(args: Args, lists: WordLists) -> Change:
    """Names of the group `source` by names of the group `target`, each name with `prob`.

    A name becomes the same other name everywhere in the instance, and no two become one. Names
    match with their capital only. `preserve_gender` keeps the gender of first names. The right
    answer is preserved: references are rewritten alike.
    """
    prob, names = number(args, "prob"), lists[_one_of(args, "person_name_type", NAME_LISTS)]
    words = indexed(_others(args, names), exact=True)
    return renaming(words, prob)


def renaming(words: Words, prob: float) -> Change:
    """Each listed name by one of its replacements, the same everywhere in the instance.

    No two names become one: a name stays where each replacement is used or in the text already.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        texts, decided = texts_of(instance), dict[str, str | None]()

        def decide(name: str) -> str | None:
            used = [new for new in decided.values() if new]
            free = [new for new in words.others[name] if not _occurs_in(new, (*texts, *used))]
            return pick(rng, tuple(free)) if free and rng.random() < prob else None

        def choose(name: str) -> str | None:
            if name not in decided:
                decided[name] = decide(name)
            return decided[name]

        def rewrite(text: str) -> str:
            return replace_words(text, words, choose)

        return on_text(lambda _: rewrite, references=True)(instance, rng)

    return change


def _occurs_in(name: str, texts: Iterable[str]) -> bool:
    return any(name in text for text in texts)


def _others(args: Args, names: WordList) -> dict[str, tuple[str, ...]]:
    """Every name of the source group with the names that may replace it."""
    if args["person_name_type"] == "last_name":
        return dict.fromkeys(_group(names, args["source"]), _group(names, args["target"]))
    targets = {sex: _group(names, f"{args['target']}_{sex}") for sex in GENDERS}
    any_gender = tuple(name for sex in GENDERS for name in targets[sex])
    preserve = args["preserve_gender"] == "true"
    return {
        name: targets[sex] if preserve else any_gender
        for sex in GENDERS
        for name in _group(names, f"{args['source']}_{sex}")
    }


def _group(names: WordList, group: str) -> tuple[str, ...]:
    if not names.get(group):
        raise ConfigError(
            f"a word list of names has no group {group!r}; its groups are {', '.join(names)}."
        )
    return names[group]


def _one_of(args: Args, key: str, allowed: dict[str, str]) -> str:
    if args[key] not in allowed:
        raise ConfigError(
            f"a perturbation's {key} is {args[key]!r}; allowed: {' or '.join(allowed)}."
        )
    return allowed[args[key]]


PERTURBATIONS = {
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
}
