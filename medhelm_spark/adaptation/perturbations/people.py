"""Who speaks and who is spoken of: dialect, gender and names, HELM's fairness perturbations.

As in HELM, references are rewritten with the text. The right answer is preserved, or rewritten the
same way; invariance may be asked. Where sex itself matters (pregnancy, prostate) gender is left
alone, which HELM does not do: there the swap would make a case that cannot be.
"""

from collections.abc import Iterable
from random import Random

from medhelm_spark.adaptation.perturbations.perturbation import (
    Args,
    Change,
    number,
    on_text,
    pick,
    texts_of,
    unless,
)
from medhelm_spark.adaptation.perturbations.surface import replacing
from medhelm_spark.adaptation.perturbations.words import Words, holds_any, ready, replace_words
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
    return on_text(replacing(ready(lists["dialect"]), number(args, "prob")), references=True)


def gender(args: Args, lists: WordLists) -> Change:
    """Male words by female ones (`mode`: terms or pronouns), each with probability `prob`.

    The right answer is preserved: references are rewritten alike, and an instance that holds a word
    of the list `sex_specific` is left alone.
    """
    name = _one_of(args, "mode", GENDER_LISTS)
    swap = on_text(replacing(ready(lists[name]), number(args, "prob")), references=True)
    sex_specific = ready({word: () for group in lists["sex_specific"].values() for word in group})
    return unless(lambda instance: holds_any(texts_of(instance), sex_specific), swap)


def person_name(args: Args, lists: WordLists) -> Change:
    """Names of the group `source` by names of the group `target`, each name with `prob`.

    A name becomes the same other name wherever it stands in the instance, and no two become one.
    Names are known by their capital. `preserve_gender` keeps the gender of first names. The right
    answer is preserved: references are rewritten alike.
    """
    prob, names = number(args, "prob"), lists[_one_of(args, "person_name_type", NAME_LISTS)]
    words = ready(_others(args, names), exact=True)
    return renaming(words, prob)


def renaming(words: Words, prob: float) -> Change:
    """Each listed name by one of its others, the same wherever it stands in the instance.

    No two names become one: a name stays for which every other is taken or stands there already.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        held, decided = texts_of(instance), dict[str, str | None]()

        def decide(name: str) -> str | None:
            taken = [one for one in decided.values() if one]
            left = [one for one in words.others[name] if not _stands_in(one, (*held, *taken))]
            return pick(rng, tuple(left)) if left and rng.random() < prob else None

        def choose(name: str) -> str | None:
            if name not in decided:
                decided[name] = decide(name)
            return decided[name]

        def rewrite(text: str) -> str:
            return replace_words(text, words, choose)

        return on_text(lambda _: rewrite, references=True)(instance, rng)

    return change


def _stands_in(name: str, texts: Iterable[str]) -> bool:
    return any(name in text for text in texts)


def _others(args: Args, names: WordList) -> dict[str, tuple[str, ...]]:
    """Every name of the source group with the names that may stand for it."""
    if args["person_name_type"] == "last_name":
        return dict.fromkeys(_group(names, args["source"]), _group(names, args["target"]))
    kept = {sex: _group(names, f"{args['target']}_{sex}") for sex in GENDERS}
    every = tuple(name for sex in GENDERS for name in kept[sex])
    preserve = args["preserve_gender"] == "true"
    return {
        name: kept[sex] if preserve else every
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
