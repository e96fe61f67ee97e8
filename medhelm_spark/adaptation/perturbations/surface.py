"""How a text is typed: case, spaces, contractions, misspellings, typing errors, filler words.

None of these changes the question: the right answer stays right, digits and references are not
changed (a reference must not become a misspelt one), and invariance may be computed for all of
them. Probabilities are per word, space or letter. The rules are HELM's (facts section 11); the word
lists are this project's own and shorter, so that scores are similar and not equal.
"""

import re
from collections.abc import Callable
from random import Random

from medhelm_spark.adaptation.perturbations.perturbation import (
    Args,
    Begin,
    Build,
    Perturbation,
    Rewrite,
    number,
    on_text,
    pick,
)
from medhelm_spark.adaptation.perturbations.words import Words, indexed, inverted, replace_words
from medhelm_spark.domain.plan import WordLists

KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
TOUCHING = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
SPACE = re.compile(r"(?<=\S) (?=\S)")
LETTER = re.compile(r"[A-Za-z]")

Prepare = Callable[[Args, WordLists], Begin]


def _neighbours() -> dict[str, tuple[str, ...]]:
    positions = {key: (row, at) for row, keys in enumerate(KEYBOARD) for at, key in enumerate(keys)}
    return {
        key: tuple(
            other
            for other, (other_row, other_at) in positions.items()
            if (other_row - row, other_at - at) in TOUCHING
        )
        for key, (row, at) in positions.items()
    }


NEIGHBOURS = _neighbours()
"""The keys that touch a letter's key on a QWERTY keyboard."""


def text(prepare: Prepare, *, references: bool = False) -> Build:
    """The `build` of a perturbation that rewrites texts by a rule."""
    return lambda args, lists: on_text(prepare(args, lists), references=references)


def lowercase(args: Args, lists: WordLists) -> Begin:
    """All letters in lower case. The right answer is preserved."""
    return lambda rng: str.lower


def extra_space(args: Args, lists: WordLists) -> Begin:
    """Every single space becomes `num_spaces`. The right answer is preserved."""
    wide = " " * int(number(args, "num_spaces", least=2, most=20))
    return lambda rng: lambda text: SPACE.sub(wide, text)


def space(args: Args, lists: WordLists) -> Begin:
    """Every single space becomes 1 to `max_spaces`. The right answer is preserved."""
    most = int(number(args, "max_spaces", least=1, most=20))

    def begin(rng: Random) -> Rewrite:
        return lambda text: SPACE.sub(lambda _: " " * (1 + int(rng.random() * most)), text)

    return begin


def filler_words(args: Args, lists: WordLists) -> Begin:
    """A filler word in a space, with probability `prob`. The right answer is preserved."""
    prob = number(args, "prob")
    fillers = tuple(word for group in lists["filler_words"].values() for word in group)

    def begin(rng: Random) -> Rewrite:
        def filled(_: re.Match[str]) -> str:
            return f" {pick(rng, fillers)} " if rng.random() < prob else " "

        return lambda text: SPACE.sub(filled, text)

    return begin


def typos(args: Args, lists: WordLists) -> Begin:
    """A letter becomes its neighbour on the keyboard, each with probability `prob`.

    Digits are never touched: a dose stays the dose. The right answer is preserved.
    """
    prob = number(args, "prob")

    def begin(rng: Random) -> Rewrite:
        def slip(match: re.Match[str]) -> str:
            letter = match[0]
            if rng.random() >= prob:
                return letter
            typed = pick(rng, NEIGHBOURS[letter.lower()])
            return typed.upper() if letter.isupper() else typed

        return lambda text: LETTER.sub(slip, text)

    return begin


def listed(name: str) -> Prepare:
    """Words of a list by another form of the list, each with probability `prob`.

    The right answer is preserved: a list gives words that mean the same.
    """
    return lambda args, lists: replacing(indexed(lists[name]), number(args, "prob"))


def expansion(args: Args, lists: WordLists) -> Begin:
    """Contractions written out where only one form is meant. The right answer is preserved."""
    return replacing(indexed(inverted(lists["contractions"])), 1.0)


def replacing(words: Words, prob: float) -> Begin:
    """Each listed word, with probability `prob`, by one of its replacements."""

    def begin(rng: Random) -> Rewrite:
        def choose(word: str) -> str | None:
            return pick(rng, words.others[word]) if rng.random() < prob else None

        return lambda text: replace_words(text, words, choose)

    return begin


def mild_mix(args: Args, lists: WordLists) -> Begin:
    """HELM's canonical robustness: lower case, contractions, misspellings (0.1), 1 to 3 spaces.

    The right answer is preserved.
    """
    steps = (
        lowercase({}, lists),
        listed("contractions")({"prob": "1"}, lists),
        listed("misspellings")({"prob": "0.1"}, lists),
        space({"max_spaces": "3"}, lists),
    )

    def begin(rng: Random) -> Rewrite:
        rewrites = [step(rng) for step in steps]

        def rewrite(text: str) -> str:
            for step in rewrites:
                text = step(text)
            return text

        return rewrite

    return begin


def _listed(name: str, prob: str) -> Perturbation:
    return Perturbation(
        build=text(listed(name)), lists=(name,), args={"prob": prob}, robustness=True
    )


PERTURBATIONS = {
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
}
