"""The Porter stemmer in NLTK's variant, which the `rouge-score` package uses.

Porter 1980, with what NLTK's default mode adds: irregular words, `-ied` and `-ies`, a stricter
final y, `-alli`, `-fulli`, `-bli` and `-logi`. It is here because importing NLTK costs each worker
process seconds; a test compares both on the words of real clinical texts.
"""

from collections.abc import Callable
from functools import lru_cache

_VOWELS = frozenset("aeiou")
_IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": ("sky", "skies"),
        "die": ("dying",),
        "lie": ("lying",),
        "tie": ("tying",),
        "news": ("news",),
        "inning": ("innings", "inning"),
        "outing": ("outings", "outing"),
        "canning": ("cannings", "canning"),
        "howe": ("howe",),
        "proceed": ("proceed",),
        "exceed": ("exceed",),
        "succeed": ("succeed",),
    }.items()
    for form in forms
}

Condition = Callable[[str], bool]
Rule = tuple[str, str, Condition]


def _shape(word: str) -> str:
    """A c for every consonant and a v for every vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        is_vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    return _shape(stem).count("vc")


def _positive(stem: str) -> bool:
    return _measure(stem) > 0


def _over_one(stem: str) -> bool:
    return _measure(stem) > 1


def _has_vowel(stem: str) -> bool:
    return "v" in _shape(stem)


def _ends_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a vowel and a consonant alone."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _rules(condition: Condition, pairs: str) -> tuple[Rule, ...]:
    """`suffix>replacement` words; the first suffix that fits decides, whatever its condition."""
    split = (pair.partition(">") for pair in pairs.split())
    return tuple((suffix, replacement, condition) for suffix, _, replacement in split)


_PLURALS = _rules(lambda stem: True, "sses>ss ies>i ss>ss s>")
_DERIVED = (
    *_rules(
        _positive,
        "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
        "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
        "aliti>al iviti>ive biliti>ble fulli>ful",
    ),
    ("logi", "log", lambda stem: _positive(stem + "l")),
)
_ADJECTIVES = _rules(_positive, "icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_ENDINGS = (
    *_rules(_over_one, "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent>"),
    ("ion", "", lambda stem: _over_one(stem) and stem[-1] in "st"),
    *_rules(_over_one, "ou> ism> ate> iti> ous> ive> ize>"),
)


def _apply(word: str, rules: tuple[Rule, ...]) -> str:
    for suffix, replacement, condition in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return stem + replacement if condition(stem) else word
    return word


def _past(word: str) -> str:
    """-eed, -ied, -ed and -ing, and the repair of the stem after the last two."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == len("died") else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _positive(word[:-3]) else word
    stem = next((word.removesuffix(end) for end in ("ed", "ing") if word.endswith(end)), word)
    if stem == word or not _has_vowel(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double_consonant(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _final_y(word: str) -> str:
    is_turned = word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c"
    return word[:-1] + "i" if is_turned else word


def _derived(word: str) -> str:
    if word.endswith("alli") and _positive(word[:-4]):
        return _derived(word[:-2])
    return _apply(word, _DERIVED)


def _final_e(word: str) -> str:
    if word.endswith("e"):
        stem, m = word[:-1], _measure(word[:-1])
        word = stem if m > 1 or (m == 1 and not _ends_short(stem)) else word
    return word[:-1] if word.endswith("ll") and _over_one(word[:-1]) else word


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The stem of a lower-case word; cached, because texts share their words.

    >>> [stem(word) for word in ("administered", "biopsies", "hypertensive", "dying")]
    ['administ', 'biopsi', 'hypertens', 'die']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    is_short_plural = word.endswith("ies") and len(word) == len("dies")
    word = word[:-1] if is_short_plural else _apply(word, _PLURALS)
    word = _derived(_final_y(_past(word)))
    return _final_e(_apply(_apply(word, _ADJECTIVES), _ENDINGS))
